package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

const noon = "2026-01-02T12:00:00Z"

func due(t plan.Task) plan.Task { t.Deadline = noon; return t }

// strike lets the clock reach noon and the deadline of a task fire.
func (m *sim) strike(task string) error {
	m.now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	return m.try(Fact{Kind: TimerFired, Task: task, Body: &Fired{For: TimerDeadline}})
}

func arms(m *sim) (n int) {
	for _, ef := range m.s.Outstanding() {
		if ef.Kind == Arm && ef.For == TimerDeadline {
			n++
		}
	}
	return n
}

// Wherever a task stands when its deadline comes, it fails, and what is under way is stopped.
func TestDeadlineFailsWhatIsNotOver(t *testing.T) {
	when := task("t")
	when.When = "x"
	for name, k := range map[string]plan.Task{
		"running": task("t"), "a person's": {ID: "t"}, "pending": needs(task("t"), "other"), "assessed": when,
		"a group": {ID: "t", Subplan: &plan.Subplan{Tasks: []plan.Task{task("x"), needs(task("y"), "x")}}},
	} {
		p := dag(due(k), task("other"))
		m := paid(t, p)
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		if arms(m) != 1 {
			t.Fatalf("%s: %d deadlines are watched", name, arms(m))
		}
		if err := m.strike("t"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v, _ := m.s.Task("t"); v.Status != FailedTask || !strings.Contains(v.Error+m.bodies[len(m.bodies)-1], "missed its deadline") && k.Subplan == nil {
			t.Errorf("%s: it is %s: %s", name, v.Status, v.Error)
		}
		if err := m.strike("t"); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: it was missed twice: %v", name, err)
		}
		counted(t, m, name)
		m.todo = slices.DeleteFunc(m.todo, func(ef Effect) bool { return ef.For == TimerDeadline || ef.Kind == Assess })
		if m.on().phase(PlanFailed); arms(m) != 0 {
			t.Errorf("%s: a deadline is still watched", name)
		}
		if a, _ := m.s.Account(""); !a.Held.IsZero() {
			t.Errorf("%s: %+v is still reserved", name, a.Held)
		}
		again(t, m, p)
	}
}

// counted counts what the state counts.
func counted(t *testing.T, m *sim, name string) {
	t.Helper()
	running := int32(0)
	for v := range m.s.Tasks() {
		if v.Status == Running && !v.Group {
			running++
		}
	}
	if m.s.running != running || m.s.people < 0 || m.s.asking < 0 || m.s.timers < 0 {
		t.Errorf("%s: %d run, %d counted", name, running, m.s.running)
	}
}

func TestDeadlineThatDoesNotApply(t *testing.T) {
	m := paid(t, dag(due(task("t")), task("u")))
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	early := Fact{Kind: TimerFired, Task: "t", Body: &Fired{For: TimerDeadline}}
	if err := m.try(early); !fault.Is(err, fault.Conflict) {
		t.Errorf("a clock that was set back let it fire early: %v", err)
	}
	if err := m.try(Fact{Kind: TimerFired, Task: "u", Body: &Fired{For: TimerDeadline}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("there is no such deadline: %v", err)
	}
	if err := m.try(Fact{Kind: TimerFired, Body: &Fired{For: TimerDeadline}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the plan has none: %v", err)
	}
	m.must(Fact{Kind: TaskEnded, Task: "t", Attempt: 1, Body: ok()})
	if err := m.strike("t"); !fault.Is(err, fault.Conflict) {
		t.Errorf("it was done in time: %v", err)
	}
	old := newSim(t, dag(due(task("t"))))
	old.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	if arms(old) != 0 {
		t.Error("an old run watches a deadline")
	}
	if err := old.strike("t"); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func TestLateByPolicy(t *testing.T) {
	for _, tc := range []struct {
		watch  *plan.Watch
		task   Status
		phase  PlanState
		record string
	}{
		{nil, FailedTask, PlanRunning, `"then":"warn"`},
		{&plan.Watch{Deadline: "warn"}, Running, PlanRunning, `"then":"warn"`},
		{&plan.Watch{Deadline: "escalate", Escalate: "lead"}, Running, PlanRunning, `"then":"escalate","to":"lead"`},
		{&plan.Watch{Deadline: "fail"}, FailedTask, PlanFailed, `"then":"fail"`},
	} {
		p := dag(due(task("t")), task("u"))
		p.Goal, p.Policy = &plan.Goal{Deadline: "2026-01-01"}, &plan.Policy{Watch: tc.watch}
		m := paid(t, p)
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		if err := m.strike("t"); err != nil {
			t.Fatal(err)
		}
		if v, _ := m.s.Task("t"); v.Status != tc.task {
			t.Errorf("%+v: t is %s", tc.watch, v.Status)
		}
		if err := m.strike(""); err != nil {
			t.Fatal(err)
		}
		if m.s.Phase != tc.phase || !strings.Contains(strings.Join(m.bodies, "\n"), tc.record) {
			t.Errorf("%+v: the plan is %s\n%s", tc.watch, m.s.Phase, strings.Join(m.bodies, "\n"))
		}
		late := 0
		for l := range m.s.Late() {
			late++
			if l.Due.IsZero() || tc.watch != nil && l.To != tc.watch.Escalate {
				t.Errorf("%+v", l)
			}
		}
		if want := map[PlanState]int{PlanRunning: 1, PlanFailed: 0}[tc.phase]; late < want || tc.phase == PlanFailed && late > 0 {
			t.Errorf("%+v: %d are late", tc.watch, late)
		}
		again(t, m, p)
	}
}

// What is inside a fan-out has its deadlines watched when it is there.
func TestDeadlinesInsideAFanOut(t *testing.T) {
	f := plan.Task{ID: "f", Each: "x", Subplan: &plan.Subplan{Tasks: []plan.Task{due(task("x"))}}}
	m := paid(t, dag(f))
	m.assess = func(string) *Assessed { return count(3) }
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	m.do(m.todo[0])
	armed := 0
	for _, ef := range m.todo {
		if ef.Kind == Arm && ef.For == TimerDeadline {
			armed++
		}
	}
	if armed != 3 || arms(m) != 3 {
		t.Errorf("%d are watched, and after a restart %d", armed, arms(m))
	}
}
