package view

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

const undoable = `
plan: tidy
policy: {workspace: branch}
tasks:
  - {id: write, uses: shell, run: write}
  - {id: sum, uses: noop, needs: [write]}
  - {id: sign, uses: shell, run: sign, needs: [sum], rollback: {run: unsign}}
  - {id: late, uses: shell, run: late, needs: [sign]}
`

func (m *sim) undoes(task string, u lifecycle.Undone) *sim {
	return m.take(lifecycle.Fact{Kind: lifecycle.TaskUndone, Task: task, Body: &u})
}

// undone is a plan whose rollback stopped half way.
func undone(t testing.TB) *sim {
	m := sample(t, undoable)
	changed := func(files int, left ...string) []*lifecycle.Ended {
		e := ok("")
		e.Tree = &lifecycle.Tree{Before: "a", After: "b", Files: files, Left: left, Merged: files > 2}
		return []*lifecycle.Ended{e}
	}
	m.outcome["write"], m.outcome["sign"], m.outcome["late"] = changed(3, "big.bin: too large"), changed(1), changed(0, "key.txt: holds the secret KEY")
	m.start().run(0)
	m.take(lifecycle.Fact{Kind: lifecycle.RollbackAsked, Actor: "person:ann", Body: &lifecycle.Asked{To: "write", Why: "too early"}})
	m.undoes("late", lifecycle.Undone{})
	m.undoes("sign", lifecycle.Undone{Error: "no key"})
	m.todo = nil
	return m
}

func told(t *testing.T, m *sim, tasks ...string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range m.records {
		b.WriteString(LogLine(r) + "\n")
	}
	for _, id := range tasks {
		b.WriteString("----\n")
		if err := TaskText(&b, m.st, m.records, id); err != nil {
			t.Fatal(err)
		}
		b.WriteString("----\n")
		if err := StoryText(&b, Story(m.records, m.st, id)); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("----\n")
	if err := PlanText(&b, m.st, TreeOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String() + strings.Join(Next(m.st), "\n") + "\n"
}

func TestARollbackIsTold(t *testing.T) {
	m := undone(t)
	golden(t, "undo-half", told(t, m, "write", "late", "sign"))
	m.take(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}})
	m.take(lifecycle.Fact{Kind: lifecycle.RollbackAsked, Actor: "person:ann", Body: &lifecycle.Asked{To: "write", Why: "with the key"}})
	golden(t, "undo-under-way", strings.Join(Next(m.st), "\n")+"\n")
	m.undoes("sign", lifecycle.Undone{How: []string{"ran its rollback: unsign"}})
	golden(t, "undo-done", told(t, m, "sum", "sign"))
	m.todo = nil
	m.take(lifecycle.Fact{Kind: lifecycle.PlanResumed, Body: &lifecycle.Session{Epoch: 2}}).run(0)
	golden(t, "undo-again", told(t, m, "sign"))
}

func TestEveryKindHasAPhrase(t *testing.T) {
	m := undone(t)
	m.take(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}})
	for _, r := range append(m.records, finished(t).records...) {
		if phrase(r) == "" {
			t.Errorf("nothing is told of %s", r.Kind)
		}
	}
	saved := lifecycle.Fact{Kind: lifecycle.TaskSaved, Task: "t", Attempt: 2, Body: &lifecycle.Saved{Backup: []byte(`{"rows":2}`)}}
	m.record(saved, nil)
	if got := LogLine(m.records[len(m.records)-1]); !strings.Contains(got, "t: attempt 2 kept what it is about to change") {
		t.Error(got)
	}
}

func TestARoutedFailureIsNoFailureOfThePlan(t *testing.T) {
	m := sample(t, `
plan: routes
tasks:
  - {id: narrow, uses: shell, run: x, next: {failure: [widen]}}
  - {id: widen, uses: noop}
`)
	m.outcome["narrow"] = []*lifecycle.Ended{bad("exit status 1", "", "")}
	m.start().run(0)
	row := RowOf(m.st, m.head, m.now)
	if row.State != lifecycle.PlanCompleted || row.Failed != 0 || row.Routed != 1 {
		t.Errorf("%+v", row)
	}
	lines := TreeLines(m.st, TreeOptions{})
	if last := lines[len(lines)-1]; last != "completed: 1 of 2 done, 1 failed and routed" {
		t.Error(last)
	}
}
