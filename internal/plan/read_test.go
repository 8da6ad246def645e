package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func good(t *testing.T, file, src string) *Plan {
	t.Helper()
	p, faults := Read(file, []byte(src), Options{Capabilities: catalogue})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSeed loads every example of the source documents unchanged, and back from its canonical form.
func TestSeed(t *testing.T) {
	want := map[string]struct {
		name  string
		tasks []string
		codes []string
	}{
		"build-search.json":   {"plan-build-search", []string{"intake-01", "research-01"}, nil},
		"debug-500.yaml":      {"debug-500", []string{"repro-matrix", "check-db", "check-race", "check-timeout", "decision-gate"}, []string{WarnPerson}},
		"dsl-plan.plan":       {"dsl", []string{"build", "scope", "agree", "widen", "ship"}, nil},
		"dsl-task.plan":       {"build", []string{"build"}, []string{WarnDangling, WarnDangling, WarnDangling, WarnDangling}},
		"feature-x.yaml":      {"feature-x", []string{"research-sources", "design-options", "gate-approval", "implement-A", "validate"}, []string{WarnPerson, WarnPerson, WarnPerson}},
		"http3-research.yaml": {"http3-research", []string{"rfc-collect-1", "rfc-summarize-1", "gaps-identify-1", "gaps-deep-dive", "validation-gate-1"}, []string{WarnOpen, WarnWildcard}},
		"task.yaml":           {"rfc-collect-1", []string{"rfc-collect-1"}, []string{WarnOpen, WarnProse, WarnProse, WarnDangling, WarnDangling}},
	}
	for file, w := range want {
		src, err := os.ReadFile(filepath.Join("testdata/seed", file))
		if err != nil {
			t.Fatal(err)
		}
		p, faults := Read(file, src, Options{})
		if err := faults.Err(); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var ids, codes []string
		for _, task := range p.Tasks {
			ids = append(ids, task.ID)
		}
		for _, f := range faults.Warnings() {
			codes = append(codes, f.Code)
		}
		if p.Name != w.name || !slices.Equal(ids, w.tasks) || !slices.Equal(codes, w.codes) {
			t.Errorf("%s: got %s %v\n%s", file, p.Name, ids, faults)
		}
		roundTrip(t, file, p)
	}
}

func roundTrip(t *testing.T, what string, p *Plan) {
	t.Helper()
	b, err := p.Encode()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	q, err := Decode(b)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(p, q) {
		t.Errorf("%s: %s comes back changed", what, b)
	}
}

// TestSpellings reads the same plan in the spellings of all source systems.
func TestSpellings(t *testing.T) {
	ours := good(t, "p.yaml", `
plan: p
created: 2026-01-01
policy: {workers: 2}
env: {A: "1"}
tasks:
  - {id: a, uses: noop}
  - id: b
    needs: [a]
    run: make
    uses: shell
    with: {x: 1}
    pre: [network.online]
    env: {B: "2"}
    expect: [exit == 0]
    failure: [{name: odd, detect: exit == 2, recover: c}]
    retry: {times: 3}
    budget: {time: 30m, cost: 5 USD}
    next: {success: [c], failure: [a]}
    approve: {role: lead}
    rollback: {run: undo}
  - {id: c}
`)
	for i, src := range []string{`
plan_id: p
created_at: 2026-01-01
policies: {concurrency: 2}
environment: {A: 1}
nodes:
  - {id: a, using: noop}
  - id: b
    depends_on: a
    command: make
    capability: shell
    inputs: {x: 1}
    preconditions: network.online
    environment: [B=2]
    success_criteria: exit == 0
    failure_modes: [{name: odd, detect: exit == 2, recover: c}]
    retries: 3
    budget: {timeMin: 30, costUSD: 5}
    next: [{on: success, to: c}, {on: failure, to: [a]}]
    approve: lead
    rollback: undo
  - {id: c}
`, `
id: p
createdAt: 2026-01-01
policy: {workers: 2}
env: {A: "1"}
steps:
  - {id: a, uses: noop}
  - id: b
    waitingForId: [a]
    commands: [make]
    uses: shell
    input: {x: 1}
    pre: [network.online]
    env: {B: 2}
    acceptance_criteria: [exit == 0]
    failure: [{name: odd, when: exit == 2, recovery: c}]
    retry: {max: 3}
    budget: {time: 30m, cost: USD 5}
    on_success: c
    on_failure: [a]
    approve: [lead]
    rollback: [undo]
  - {id: c}
`} {
		if other := good(t, "p.yaml", src); !reflect.DeepEqual(ours, other) {
			a, _ := ours.Encode()
			b, _ := other.Encode()
			t.Errorf("spelling %d differs:\n%s\n%s", i, a, b)
		}
	}
	for _, dep := range []string{"dependsOn", "dependencies"} {
		p := good(t, "p.yaml", "plan: p\ntasks: [{id: a}, {id: b, "+dep+": [a]}]")
		if !slices.Equal(p.Tasks[1].Needs, []string{"a"}) {
			t.Errorf("%s is not needs: %v", dep, p.Tasks[1].Needs)
		}
	}
}

func TestShorthands(t *testing.T) {
	p := good(t, "p.yaml", `
plan: plan-short
goal: fly
memory: [a.b]
hypotheses: [H1, "H2: a race", "the pool is exhausted"]
inputs: {q: x}
x-mine: {deep: [1, 2.5, null]}
gates: [{id: g, checks: it is fine, approve: true}]
tasks:
  - title: no id
  - {id: two, outputs: [notes, out/table.csv, out/table.md], artifacts: [log], with: {q: "${inputs.q}"}}
  - {id: three, outputs: {a: stdout, b: list, c: x/y.json, d: {type: json}, e: }, x-note: hi}
  - {id: dig-*, needs: [three], with: {item: "${item}"}}
  - {id: g, kind: gate}
  - {id: sub, subplan: [look, think, {id: act, needs: [plan-short-02]}]}
`)
	if got := p.Tasks[0].ID; got != "plan-short-01" {
		t.Errorf("the task without an id is called %s", got)
	}
	if p.Goal.Objective != "fly" || p.Memory.Keys[0] != "a.b" || string(p.Extra["x-mine"]) != `{"deep":[1,2.5,null]}` {
		t.Errorf("goal %+v, memory %+v, extra %s", p.Goal, p.Memory, p.Extra)
	}
	if h := p.Hypotheses; h[0].ID != "H1" || h[0].Says != "" || h[1].Says != "a race" || h[2].ID != "h3" {
		t.Errorf("hypotheses %+v", h)
	}
	if o := p.Tasks[1].Outputs; len(o) != 3 || o[0].Name != "notes" || o[1].Name != "table" || o[1].Type != "file" || o[2].Name != "table-md" || o[2].Path != "out/table.md" {
		t.Errorf("outputs %+v", o)
	}
	if o := p.Tasks[2].Outputs; o[0].From != "stdout" || o[1].Type != "list" || o[2].Path != "x/y.json" || o[3].Type != "json" || o[4].Name != "e" {
		t.Errorf("outputs %+v", o)
	}
	if d := p.Tasks[3]; d.ID != "dig" || d.Each != "${three.b}" {
		t.Errorf("the wildcard became %s over %s", d.ID, d.Each)
	}
	if g := p.Tasks[4]; len(g.Checks) != 1 || !g.Checks[0].Judge || g.Approve == nil {
		t.Errorf("the gate has %+v", g)
	}
	if s := p.Tasks[5].Subplan.Tasks; s[0].Title != "look" || s[0].Kind != Manual || s[1].Needs[0] != s[0].ID || s[2].ID != "act" {
		t.Errorf("the subplan has %+v", s)
	}
	roundTrip(t, "shorthands", p)
}

func TestSubplanFile(t *testing.T) {
	files := map[string]string{
		"dir/inner.yaml":  "tasks: [{id: x, subplan: deeper.json}]",
		"dir/deeper.json": `[{"id": "y"}]`, "dir/one.plan": "task only \"One\"\n",
	}
	read := func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	src := "plan: p\ntasks: [{id: a, subplan: inner.yaml}, {id: b, subplan: {file: one.plan}}, {id: c, needs: [a], with: {v: \"${a/x/y.out}\"}}]"
	p, faults := Read("dir/p.yaml", []byte(src), Options{ReadFile: read})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if y := p.Tasks[0].Subplan.Tasks[0].Subplan; y.File != "deeper.json" || y.Tasks[0].ID != "y" || p.Tasks[1].Subplan.Tasks[0].ID != "only" {
		t.Errorf("got %+v", p.Tasks)
	}
	roundTrip(t, "files", p)

	p, faults = Read("dir/p.yaml", []byte(src), Options{})
	if faults.Err() != nil || len(faults.Warnings()) != 2 || p.Tasks[0].Subplan.File != "inner.yaml" {
		t.Errorf("without a reader: %v", faults)
	}
	roundTrip(t, "unread files", p)

	files["dir/loop.yaml"] = "tasks: [{id: x, subplan: loop2.yaml}]"
	files["dir/loop2.yaml"] = "tasks: [{id: x, subplan: loop.yaml}]"
	_, faults = Read("dir/p.yaml", []byte("plan: p\ntasks: [{id: a, subplan: loop.yaml}]"), Options{ReadFile: read})
	if errs := faults.Errors(); len(errs) != 1 || errs[0].Code != CodeCycle {
		t.Errorf("a circle of files: %v", faults)
	}
	for i := range 12 {
		files[fmt.Sprintf("dir/f%d.yaml", i)] = fmt.Sprintf("tasks: [{id: x, subplan: f%d.yaml}]", i+1)
	}
	_, faults = Read("dir/p.yaml", []byte("plan: p\ntasks: [{id: a, subplan: f0.yaml}]"), Options{ReadFile: read})
	if errs := faults.Errors(); len(errs) != 1 || errs[0].Code != CodeTooBig {
		t.Errorf("files too deep: %v", faults)
	}
}

func TestReferencesThatHold(t *testing.T) {
	good(t, "p.yaml", `
plan: p
tasks:
  - {id: a, next: {success: b, failure: mend}}
  - {id: b, with: {x: "${a.y}"}}
  - {id: c, needs: [b], with: {x: "${a.y}"}, when: outputs_of.a.n > 1}
  - {id: mend, with: {x: "${a.y}"}}
  - {id: after, needs: [mend], with: {x: "${a.y}"}}
  - {id: r, uses: shell, run: "for item in 1 2; do echo ${HOME} $${a.y} ${item}; done", rollback: {run: "undo ${r.id}", with: {z: "${r.q}"}}}
  - id: group
    needs: [c]
    each: "${c.list}"
    subplan:
      - {id: inner, with: {x: "${a.y}", i: "${item.name}", n: "${index}", s: "${secret:KEY}"}}
      - {id: next, needs: [inner, c], with: {x: "${inner.y}"}}
  - {id: end, needs: [group], with: {x: "${group/inner.y}"}}
`)
}

func TestFaults(t *testing.T) {
	p, faults := Read("p.yaml", []byte("plan: p\ntasks: [{id: a, kind: x, run: think}, {id: b, kind: y}]"), Options{})
	err := faults.Err()
	if p == nil || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "(and 1 more)") || fault.HintOf(err) == "" {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
	if len(faults.Errors()) != 2 || len(faults.Warnings()) != 1 {
		t.Errorf("got %v", faults)
	}
	if err := (Faults{{Severity: Warning}}).Err(); err != nil {
		t.Errorf("a warning is no error: %v", err)
	}
	var b strings.Builder
	b.WriteString("plan: p\ntasks:\n")
	for range maxFaults + 5 {
		b.WriteString(" - {kind: x}\n")
	}
	_, faults = Read("p.yaml", []byte(b.String()), Options{})
	if last := faults[len(faults)-1]; len(faults) != maxFaults+1 || last.Code != CodeMore || !strings.HasPrefix(last.Msg, "5 more") {
		t.Errorf("%d faults, the last %v", len(faults), faults[len(faults)-1])
	}
}

func TestHopelessFiles(t *testing.T) {
	wide := "{\"plan\": \"p\", \"tasks\": [" + strings.Repeat("{},", maxTasks) + "{}]}"
	for name, c := range map[string]struct{ file, src, code string }{
		"50 MB":          {"p.yaml", strings.Repeat("a", 50<<20), CodeTooBig},
		"many values":    {"p.json", "[" + strings.Repeat("1,", 5<<20) + "1]", CodeTooBig},
		"many in YAML":   {"p.yaml", "[" + strings.Repeat("1, ", 5<<20) + "1]", CodeTooBig},
		"many lines":     {"p.plan", strings.Repeat("\n", 5<<20), CodeTooBig},
		"many tasks":     {"p.json", wide, CodeTooBig},
		"invalid UTF-8":  {"p.yaml", "plan: p\ntitle: \xff\n", "E_UTF8"},
		"invalid, JSON":  {"p.json", "{\"plan\": \"\xc3\x28\"}", "E_UTF8"},
		"deep YAML":      {"p.yaml", strings.Repeat("[", 5000), "E_SYNTAX"},
		"deep alias":     {"p.yaml", deepAlias(), "E_ALIAS"},
		"merges":         {"p.yaml", manyMerges(), "E_ALIAS"},
		"nothing at all": {"p.json", "", "E_SYNTAX"},
	} {
		_, faults := Read(c.file, []byte(c.src), Options{})
		if len(faults) == 0 || faults[0].Code != c.code || faults.Err() == nil {
			t.Errorf("%s: got %v", name, faults)
		}
	}
	if _, faults := Read("p.yaml", []byte("plan: p\ntitle: \xff\n"), Options{}); faults[0].Line != 2 || faults[0].Col != 8 {
		t.Errorf("the bad byte is at %v", faults[0])
	}
}

func deepAlias() string {
	var b strings.Builder
	b.WriteString("x-0: &a0 [1]\n")
	for i := range 200 {
		fmt.Fprintf(&b, "x-%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	return b.String()
}

func manyMerges() string {
	var b strings.Builder
	b.WriteString("x-base: &base\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	b.WriteString("x-all:\n")
	for range 2000 {
		b.WriteString("  - <<: *base\n")
	}
	return b.String()
}

func TestMergeKeys(t *testing.T) {
	p := good(t, "p.yaml", `
x-slow: &slow {timeout: 1h, retry: 3}
x-safe: &safe {timeout: 2h, writes: false}
plan: p
tasks:
  - {id: a, <<: *slow, timeout: 5m}
  - {id: b, <<: [*slow, *safe]}
`)
	a, b := p.Tasks[0], p.Tasks[1]
	if a.Timeout.String() != "5m" || a.Retry.Times != 3 || b.Timeout.String() != "1h" || b.Writes == nil || *b.Writes {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, spec := range []string{"", "{", "[]", `{"plan": "p", "tasks": [{"id": "a", "nope": 1}]}`, `{"plan": "p", "tasks": {}}`} {
		if _, err := Decode([]byte(spec)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, p := range []*Plan{{Name: "p", Inputs: []byte("{")}, {Name: "p", Inputs: []byte(`{"n":1e999}`)}} {
		if b, err := p.Encode(); err == nil {
			t.Errorf("got %s", b)
		}
	}
}

func TestRank(t *testing.T) {
	five := 5
	research, deploy := Task{Kind: Research}, Task{Kind: Deploy}
	if research.Rank() <= deploy.Rank() || (&Task{Kind: Research, Priority: &five}).Rank() != 5 || (&Task{}).Rank() != 0 {
		t.Error("research comes before deployment, and what the author says before both")
	}
	if (&Plan{}).Workers() != DefaultWorkers || (&Plan{Policy: &Policy{Workers: 9}}).Workers() != 9 {
		t.Error("workers")
	}
}
