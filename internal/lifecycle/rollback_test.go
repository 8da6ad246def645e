package lifecycle

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/plan"
)

func undone(m *sim) string {
	var ids []string
	for _, l := range m.log {
		if id, ok := strings.CutPrefix(l, "task.undone "); ok {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

func chain() *plan.Plan {
	n := needs(task("n"), "b")
	n.Uses = "noop"
	return dag(task("a"), needs(task("b"), "a"), n, needs(task("c"), "n"), plan.Task{ID: "sign", Needs: []string{"c"}}, needs(task("d"), "sign"))
}

func TestRollbackToACheckpointUndoesWhatEndedLaterInReverse(t *testing.T) {
	p := chain()
	m := newSim(t, p).run().want("a:completed b:completed n:completed c:completed sign:waiting d:pending")
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{To: "a"}})
	m.on().want("a:completed b:rolled_back n:rolled_back c:rolled_back sign:pending d:pending").phase(PlanIsPaused)
	if got := undone(m); got != "c b" {
		t.Errorf("undone in the order %s", got)
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("a:completed b:completed n:completed c:completed sign:waiting d:pending")
	m.must(Fact{Kind: TaskEnded, Task: "sign", Body: ok()})
	m.on().phase(PlanCompleted).replays(p)
	if b, _ := m.s.Task("b"); b.Execution != 2 {
		t.Errorf("b had %d executions", b.Execution)
	}
}

func TestRollbackOfAFinishedPlanGivesItUp(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"))
	m := newSim(t, p).run().phase(PlanCompleted)
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{}})
	m.on().want("a:rolled_back b:rolled_back").phase(PlanAbandoned).replays(p)
}

func TestRollbackThatFailsHalfWayGoesOnAtASecondTry(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"), needs(task("c"), "b"))
	m := newSim(t, p).run()
	broken := true
	m.undo = func(id string) *Undone {
		if id == "b" && broken {
			return &Undone{Error: "the file is gone"}
		}
		return &Undone{}
	}
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{}})
	m.on().want("a:completed b:completed c:rolled_back").phase(PlanIsPaused)
	if !strings.Contains(m.bodies[len(m.bodies)-1], `{"failed":"b","left":2,"undone":1,"why":"the file is gone"}`) {
		t.Error(m.bodies[len(m.bodies)-1])
	}
	broken = false
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{}})
	m.on().want("a:rolled_back b:rolled_back c:rolled_back").phase(PlanAbandoned).replays(p)
	if got := undone(m); got != "c b b a" {
		t.Error(got)
	}
}

func TestRollbackStopsWhatIsUnderWay(t *testing.T) {
	locked := needs(task("b"), "a")
	locked.Locks = []string{"db"}
	p := dag(task("a"), locked)
	m := newSim(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	m.do(m.todo[0])
	m.todo = m.todo[1:]
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{To: "a"}})
	m.want("a:completed b:pending").phase(PlanIsPaused)
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("a:completed b:completed").phase(PlanCompleted).replays(p)
	if err := m.try(Fact{Kind: RollbackAsked, Body: &Asked{To: "nope"}}); err == nil {
		t.Error("a checkpoint that never was")
	}
}

func TestRollbackOfGroups(t *testing.T) {
	dig := needs(task("dig"), "a")
	dig.Each = "x"
	sub := plan.Task{ID: "sub", Needs: []string{"a"}, Subplan: &plan.Subplan{Tasks: []plan.Task{task("x"), needs(task("y"), "x")}}}
	p := dag(task("a"), dig, sub, needs(task("z"), "dig", "sub"))
	m := newSim(t, p)
	m.assess = func(string) *Assessed { return count(2) }
	m.run().phase(PlanCompleted)
	m.must(Fact{Kind: RollbackAsked, Body: &Asked{To: "a"}})
	m.on().phase(PlanIsPaused)
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().phase(PlanCompleted).replays(p)
	m.want("a:completed dig:completed dig-1:completed dig-2:completed sub:completed sub/x:completed sub/y:completed z:completed")
}
