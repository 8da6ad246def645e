package lifecycle

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// aimed is a plan with a goal of one expression and one piece of prose.
func aimed(tasks ...plan.Task) *plan.Plan {
	p := dag(tasks...)
	p.Goal = &plan.Goal{Done: []plan.Criterion{{Says: "x > 1"}, {Says: "it is neat", Judge: true}}}
	return p
}

func verdict(holds bool) *GoalVerdict {
	return &GoalVerdict{Criteria: []Verdict{{Says: "x > 1", OK: holds}, {Says: "it is neat", Judge: true}}}
}

func TestGoalIsJudgedAtTheEnd(t *testing.T) {
	m := newSimUnder(t, aimed(task("a")), Law)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	if err := m.try(Fact{Kind: GoalJudged, Body: &Judged{Accepted: true}}); !fault.Is(err, fault.Conflict) {
		t.Error("not before all is done:", err)
	}
	m.must(Fact{Kind: TaskEnded, Task: "a", Attempt: 1, Body: ok()})
	m.phase(PlanRunning)
	if got := m.s.Outstanding(); len(got) != 1 || got[0].Kind != Assess || got[0].Task != "" {
		t.Fatalf("%v", got)
	}
	if err := m.try(Fact{Kind: GoalAssessed, Attempt: 7, Body: verdict(true)}); !fault.Is(err, fault.Conflict) {
		t.Error("that was another question:", err)
	}
	m.must(Fact{Kind: GoalAssessed, Attempt: 1, Body: verdict(true)})
	if _, waits := m.s.Goal(); !waits || !m.s.OnlyPeople() {
		t.Fatal("prose is for a person")
	}
	m.must(Fact{Kind: GoalJudged, Actor: "person:bob", Body: &Judged{Why: "not yet"}})
	m.phase(PlanFailed)
	if last := m.bodies[len(m.bodies)-1]; !strings.Contains(last, "the goal is not reached: not yet") {
		t.Error(last)
	}
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
	m.must(Fact{Kind: GoalAssessed, Attempt: 2, Body: verdict(true)})
	m.must(Fact{Kind: GoalJudged, Body: &Judged{Accepted: true}})
	m.phase(PlanCompleted).replays(m.first)
}

func TestGoalThatIsMissed(t *testing.T) {
	m := newSimUnder(t, aimed(task("a")), Law)
	m.goal = func() *GoalVerdict { return verdict(false) }
	m.run().want("a:completed").phase(PlanFailed).replays(m.first)

	p := aimed(task("a"))
	p.Policy = &plan.Policy{Unjudged: "accept"}
	m = newSimUnder(t, p, Law)
	m.goal = func() *GoalVerdict { return verdict(true) }
	m.run().phase(PlanCompleted)

	newSim(t, aimed(task("a"))).run().phase(PlanCompleted) // the first edition did not ask
}

// Whatever is done while a goal waits to be judged, the run can end and replays.
func TestGoalUnderWay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := newSimUnder(t, aimed(task("a"), needs(task("b"), "a")), Law)
		m.goal = func() *GoalVerdict { return verdict(rapid.IntRange(0, 3).Draw(r, "holds") > 0) }
		m.outcome = func(string, int) *Ended {
			if rapid.IntRange(0, 4).Draw(r, "fails") == 0 {
				return bad("")
			}
			return ok()
		}
		m.run()
		for range rapid.IntRange(0, 8).Draw(r, "steps") {
			f := rapid.SampledFrom([]Fact{{Kind: PlanPaused, Body: &Reason{}}, {Kind: PlanResumed, Body: &Session{}}, {Kind: PlanRetried, Body: &Reason{}},
				{Kind: RollbackAsked, Body: &Asked{To: "a"}}, {Kind: GoalJudged, Body: &Judged{Accepted: true}}, {Kind: GoalJudged, Body: &Judged{}},
				{Kind: PlanCancelled, Body: &Reason{}}}).Draw(r, "fact")
			if m.try(f) == nil {
				m.on()
			}
			check(r, m)
		}
		m.replays(m.first)
	})
}
