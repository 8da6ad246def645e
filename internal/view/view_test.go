package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

func TestPlanJSON(t *testing.T) {
	for name, m := range map[string]*sim{"accepted": accepted(t), "finished": finished(t)} {
		raw, err := PlanJSON(m.st)
		if err != nil {
			t.Fatal(err)
		}
		if canon, err := digest.Canonicalize(raw); err != nil || !bytes.Equal(canon, raw) {
			t.Errorf("it is not canonical: %v", err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, "plan-"+name+".json", b.String()+"\n")
	}
}

// What the author claims about progress is not believed, and what was written is all still there.
func TestPlanJSONKeepsThePlan(t *testing.T) {
	m := submit(t, &plan.Plan{Name: "claims", State: "completed", Extra: map[string]json.RawMessage{"x-team": json.RawMessage(`{"n":1}`)},
		Tasks: []plan.Task{{ID: "a", Status: "completed", Uses: "shell", Env: map[string]string{"K": "V"}}}}).start()
	raw, err := PlanJSON(m.st)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Plan, State, Hash string
		Team              json.RawMessage `json:"x-team"`
		Tasks             []struct {
			ID, State, Status string
			Attempt           int
			Env               map[string]string
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	a := got.Tasks[0]
	if got.State != "running" || a.State != "running" || a.Status != "running" || a.Attempt != 1 || a.Env["K"] != "V" || string(got.Team) != `{"n":1}` ||
		got.Hash != m.st.Hash().String() {
		t.Errorf("%s", raw)
	}
}

func TestPlanJSONShowsBlockedAndDue(t *testing.T) {
	m := sample(t, "plan: p\ntasks:\n  - {id: a, uses: shell}\n  - {id: b, uses: shell, needs: [a]}\n  - {id: c, uses: shell, retry: {times: 2}}\n")
	m.outcome["a"] = []*lifecycle.Ended{bad("broken", "", "")}
	m.outcome["c"] = m.outcome["a"]
	raw, err := PlanJSON(m.start().run(2).st)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"blockedBy":"a"`, `"state":"blocked"`, `"wait":"timer"`, `"due":"2026-01-02T14:05:03.`, `"error":"broken"`,
		`"counts":{"blocked":1,"failed":1,"total":3,"waiting":1}`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
}

func TestPlanText(t *testing.T) {
	m := accepted(t)
	var b strings.Builder
	if err := PlanText(&b, m.st, TreeOptions{Width: 80, Times: TimesOf(m.records), Now: m.now}); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-accepted", b.String())
}

func TestTaskText(t *testing.T) {
	a, f := accepted(t), finished(t)
	var b strings.Builder
	for _, id := range []string{"agree", "build", "calm", "docs/draft"} {
		if err := TaskText(&b, a.st, a.records, id); err != nil {
			t.Fatal(err)
		}
		b.WriteString("----\n")
	}
	for _, id := range []string{"sources", "options", "build", "dig-2", "docs/draft", "widen"} {
		if err := TaskText(&b, f.st, f.records, id); err != nil {
			t.Fatal(err)
		}
		b.WriteString("----\n")
	}
	golden(t, "task", b.String())
	err := TaskText(&b, f.st, f.records, "nobody")
	if !fault.Is(err, fault.NotFound) || fault.HintOf(err) != "see its tasks with: cairn show feature-x" {
		t.Errorf("%v", err)
	}
}

func TestTaskTextOfAFailure(t *testing.T) {
	m := failed(t)
	var b strings.Builder
	for _, id := range []string{"fetch", "use", "late"} {
		if err := TaskText(&b, m.st, m.records, id); err != nil {
			t.Fatal(err)
		}
		b.WriteString("----\n")
	}
	golden(t, "task-failed", b.String())
}

// failed is a run that ended badly, after a retry, with a failure that was handled elsewhere.
func failed(t testing.TB) *sim {
	t.Helper()
	m := sample(t, `
plan: broken
tasks:
  - {id: fetch, uses: shell, run: curl example.org, retry: {times: 1, backoff: 2s}, timeout: 10m, locks: [net]}
  - {id: use, uses: shell, needs: [fetch]}
  - {id: try, uses: shell, next: {failure: [other]}}
  - {id: other, uses: noop}
  - {id: late, uses: noop, needs: [use]}
`)
	m.outcome["fetch"] = []*lifecycle.Ended{bad("exit status 6", "one\ntwo\nthree\nfour\nfive\ncurl: no such host\n", "")}
	m.outcome["try"] = []*lifecycle.Ended{bad("no luck", "", "")}
	return m.start().run(0)
}

func TestTable(t *testing.T) {
	a, f, x := accepted(t), finished(t), failed(t)
	rows := []Row{RowOf(a.st, a.head, a.now), RowOf(f.st, f.head, f.now), RowOf(x.st, x.head, x.now),
		{Plan: "한글-계획", State: "paused", Done: 1, Total: 12345, Title: "긴 제목 " + strings.Repeat("가", 50), Updated: start.Add(72 * time.Hour)}}
	var b strings.Builder
	if err := Table(&b, rows); err != nil {
		t.Fatal(err)
	}
	if err := Table(&b, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "list", b.String())
	raw, err := json.MarshalIndent(rows[:1], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "list.json", string(raw)+"\n")
}

func TestFaults(t *testing.T) {
	src := "plan: p\ntasks:\n  - id: 가나다\n    needs: [나]\n    kin: gate\n\t- id: b\n" + strings.Repeat("x", 200) + " here\n"
	fs := plan.Faults{
		{Severity: plan.Error, Code: plan.CodeUnknown, File: "p.yaml", Line: 4, Col: 13, Msg: "task 나 is not in the plan", Remedy: "did you mean 가나다?"},
		{Severity: plan.Error, Code: plan.CodeKey, File: "p.yaml", Line: 5, Col: 5, Msg: "there is no key kin", Remedy: "did you mean kind?"},
		{Severity: plan.Error, Code: "E_SYNTAX", File: "p.yaml", Line: 6, Col: 2, Msg: "a tab indents"},
		{Severity: plan.Warning, Code: plan.WarnProse, File: "p.yaml", Line: 7, Col: 202, Msg: "far out"},
		{Severity: plan.Warning, Code: plan.WarnName, File: "other.yaml", Line: 1, Col: 1, Msg: "no source"},
		{Severity: plan.Error, Code: plan.CodeMore, Line: 99, Col: 1, Msg: "beyond the end", Remedy: "mend these first"},
	}
	for name, color := range map[string]bool{"faults": false, "faults-colour": true} {
		var b strings.Builder
		if err := Faults(&b, fs, color, map[string][]byte{"p.yaml": []byte(src), "": []byte("x")}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
	var b strings.Builder
	if err := Faults(&b, fs[:1], false, nil); err != nil || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("%v %q", err, b.String())
	}
}

// The places that the reader finds are where the caret points.
func TestFaultsPointAtTheirPlace(t *testing.T) {
	src := []byte("plan: p\ntasks:\n  - {id: a, title: 나, needs: [none]}\n")
	_, fs := plan.Read("p.yaml", src, plan.Options{})
	var b strings.Builder
	if err := Faults(&b, fs.Errors(), false, map[string][]byte{"p.yaml": src}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if at, caret := strings.Index(lines[1], "none"), strings.Index(lines[2], "^"); width(lines[1][:at]) != caret {
		t.Errorf("\n%s", b.String())
	}
}

func TestNext(t *testing.T) {
	var b strings.Builder
	say := func(name string, m *sim) {
		b.WriteString(name + "\n  " + strings.Join(Next(m.st), "\n  ") + "\n")
	}
	say("submitted", sample(t, feature))
	say("running", scripted(t))
	say("judge", scripted(t).run(0))
	say("waiting", accepted(t))
	say("done", finished(t))
	say("failed", failed(t))
	say("paused", scripted(t).by("ann", lifecycle.PlanPaused, "", &lifecycle.Reason{}))
	say("given up", scripted(t).by("ann", lifecycle.PlanCancelled, "", &lifecycle.Reason{}))
	say("unknown", unknown(t))
	m := sample(t, "plan: 'p'\ntasks:\n  - {id: a}\n  - {id: b}\n  - {id: c}\n  - {id: d}\n  - {id: e}\n  - {id: f, outputs: {its: {type: text}}}\n").start()
	say("many", m)
	golden(t, "next", b.String())
}

// unknown is a run that died while something ran that must not run twice.
func unknown(t testing.TB) *sim {
	t.Helper()
	m := sample(t, "plan: post\ntasks:\n  - {id: send, title: Send the letter, uses: mail}\n  - {id: file, uses: noop, needs: [send]}\n").start()
	m.todo = nil
	m.take(lifecycle.Fact{Kind: lifecycle.PlanResumed, Body: &lifecycle.Session{Epoch: 2}})
	return m.take(lifecycle.Fact{Kind: lifecycle.TaskInterrupted, Task: "send", Attempt: 1,
		Body: &lifecycle.Interrupted{Then: lifecycle.Ask, Why: "the engine stopped while it ran"}})
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"a-b_1.x/y@2": "a-b_1.x/y@2", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "한글": "'한글'"} {
		if got := quote(s); got != want {
			t.Errorf("%q is quoted as %s, want %s", s, got, want)
		}
	}
}
