package policy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

func read(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, faults := plan.Read("p.yaml", []byte(text), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func project(t *testing.T, text string) policy.Source {
	t.Helper()
	p, faults := plan.ReadPolicy("cairn.yaml", []byte(text), "")
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return policy.Source{Name: "cairn.yaml", Trusted: true, Policy: p}
}

func lookup(id string) (capability.Contract, bool) {
	c := capability.Contract{ID: id, Repeat: capability.Repeatable, Needs: capability.Needs{Write: true}}
	if id == "bomb" {
		c.Criticality = "dangerous"
	}
	return c, id != ""
}

// told is what people would be told of a plan: task, what it waits for.
func told(t *testing.T, p *plan.Plan, more ...policy.Source) string {
	t.Helper()
	set, err := policy.New(append([]policy.Source{{Name: "the plan", Policy: p.Policy}}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := set.Foresee(context.Background(), p, lookup)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range all {
		if f.Denied != "" {
			out = append(out, f.Task+" never: "+f.Denied)
			continue
		}
		out = append(out, f.Task+" "+(&gate.Hold{Demands: f.Demands}).Lacks())
	}
	return strings.Join(out, "\n")
}

func TestBuiltInRules(t *testing.T) {
	for text, want := range map[string]string{
		"{id: a, uses: shell, run: make}":                                                   "",
		"{id: a, uses: shell, run: git push origin main}":                                   "a somebody (default: ",
		"{id: a, uses: shell, run: terraform apply}":                                        "a somebody (default: ",
		"{id: a, uses: bomb}":                                                               "a somebody (default: it is dangerous)",
		"{id: a, uses: shell, run: make, criticality: critical}":                            "a somebody (default: it is critical)",
		"{id: a, uses: sql.exec, with: {sql: DROP TABLE t}}":                                "a somebody (default: ",
		"{id: a, uses: http.request, with: {method: POST, url: 'https://x.example'}}":       "",
		"{id: a, kind: gate}, {id: b, needs: [a], uses: shell, run: git push}":              "", // there is one already
		"{id: a, kind: gate, checks: ['1 == 1']}, {id: b, needs: [a], uses: bomb}":          "b somebody (default: it is dangerous)",
		"{id: a, approve: lead, subplan: {tasks: [{id: b, uses: bomb}]}}":                   "a lead",
		"{id: g, kind: gate}, {id: a, needs: [g], subplan: {tasks: [{id: b, uses: bomb}]}}": "",
		"{id: a, subplan: {tasks: [{id: b, uses: bomb}]}}":                                  "a/b somebody (default: it is dangerous)",
	} {
		got := told(t, read(t, "plan: p\ntasks: ["+text+"]"))
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
	push := read(t, "{plan: p, tasks: [{id: a, uses: shell, run: git push}], policy: {gates: none}}")
	if told(t, push) == "" {
		t.Error("a plan excused itself")
	}
	if got := told(t, push, project(t, "gates: none")); got != "" {
		t.Error("the project may:", got)
	}
}

func TestRulesAddUp(t *testing.T) {
	p := read(t, `{plan: p, policy: {approve: {deploy: [lead, owner]}, requireGateForProd: true}, tasks: [
  {id: a, kind: deploy, uses: shell, run: make},
  {id: b, uses: shell, run: make, labels: [prod]},
  {id: c, uses: shell, run: make, approve: {role: dev, quorum: 2}},
  {id: d, uses: http.request, with: {url: "https://pay.example/x"}, budget: {cost: 7 USD}},
  {id: e, uses: file.write, with: {path: etc/passwd}}]}`)
	rules := project(t, `rules:
  - {name: dear, when: task.cost > 5.0, gate: owner}
  - {name: paths, when: 'task.paths.exists(p, p.startsWith("etc"))', deny: not there}
  - {name: quiet, when: 'task.kind == "deploy" && now.getHours() > 20', gate: {role: night}}`)
	want := `a lead or owner (approve.deploy of the plan); and somebody (requireGateForProd of the plan); and night (rule quiet of cairn.yaml)
b somebody (requireGateForProd of the plan)
c 2 of dev
d owner (rule dear of cairn.yaml)
e never: rule paths of cairn.yaml: not there`
	if got := told(t, p, rules); got != want {
		t.Errorf("got\n%s", got)
	}
	set, err := policy.New(policy.Source{Name: "the plan", Policy: p.Policy}, rules)
	if err != nil {
		t.Fatal(err)
	}
	for hour, want := range map[int]int{12: 2, 22: 3} {
		c := policy.Case{Task: &p.Tasks[0], ID: "a", Now: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
		if r, err := set.Judge(context.Background(), c); err != nil || len(r.Demands) != want {
			t.Errorf("at %d: %v, %v", hour, r, err)
		}
	}
	roles := set.Roles(p)
	if roles["dev"] != "task c" || roles["night"] != "rule quiet of cairn.yaml" || roles["lead"] != "" {
		t.Error(roles)
	}
}

func TestGuardedIsWhatMayBeHeld(t *testing.T) {
	p := read(t, `{plan: p, tasks: [
  {id: plain, uses: shell, run: make},
  {id: push, uses: shell, run: git push},
  {id: open, needs: [plain], uses: shell, run: "${plain.stdout}"},
  {id: arg, needs: [plain], uses: shell, run: "echo ${plain.stdout}"},
  {id: dash, needs: [plain], uses: shell, run: "make && sh -c ${plain.stdout}"},
  {id: sql, needs: [plain], uses: sql.exec, with: {sql: "${plain.stdout}"}},
  {id: person},
  {id: each, each: "[1]", subplan: {tasks: [{id: in, uses: bomb}]}}]}`)
	set, err := policy.New(policy.Source{Name: "the plan"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Guarded(context.Background(), p, lookup)
	if err != nil || strings.Join(got, " ") != "push open dash sql each/in" {
		t.Error(got, err)
	}
	for path, want := range map[string]bool{"push": false, "each/in": false} {
		if policy.Gated(p)[path] != want {
			t.Error(path)
		}
	}
	q := read(t, `{plan: q, tasks: [{id: g, kind: gate, next: {success: a}}, {id: a, subplan: {tasks: [{id: b, uses: bomb}]}}, {id: c, approve: true, subplan: {tasks: [{id: d}]}}]}`)
	for path, want := range map[string]bool{"a/b": true, "a": true, "c": false, "c/d": true, "none/x": false} {
		if policy.Gated(q)[path] != want {
			t.Error(path)
		}
	}
}

func TestContradictions(t *testing.T) {
	for _, r := range []plan.Rule{
		{Name: "both", Deny: "x", Gate: &plan.Approval{}},
		{Name: "none"},
		{Name: "cel", When: "outputs.x == 1", Deny: "x"},
	} {
		if _, err := policy.New(policy.Source{Name: "the plan", Policy: &plan.Policy{Rules: []plan.Rule{r}}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	set, err := policy.New(policy.Source{Name: "the plan", Policy: &plan.Policy{Rules: []plan.Rule{{Name: "odd", When: "task.none == 1", Deny: "x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Judge(context.Background(), policy.Case{Task: &plan.Task{ID: "a", Uses: "shell", With: json.RawMessage(`[]`)}, ID: "a"})
	if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "rule odd of the plan cannot be judged for task a") {
		t.Error(err)
	}
}
