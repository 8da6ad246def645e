package lifecycle

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// stages brings a plan with one task of interest, "t", to every place where it can stand.
var stages = map[string]func(*testing.T) *sim{
	"nothing": func(t *testing.T) *sim { return &sim{t: t, s: New("p")} },
	"pending": func(t *testing.T) *sim { return newSim(t, dag(task("t"))) },
	"running": func(t *testing.T) *sim { return begun(t, task("t")) },
	"paused": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.must(Fact{Kind: PlanPaused, Body: &Reason{}})
		return m
	},
	"assessing": func(t *testing.T) *sim {
		k := task("t")
		k.When = "x"
		return begun(t, k)
	},
	"person": func(t *testing.T) *sim { return begun(t, plan.Task{ID: "t"}) },
	"gate":   func(t *testing.T) *sim { return begun(t, plan.Task{ID: "t", Kind: plan.Gate}) },
	"judge": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.must(Fact{Kind: TaskEnded, Task: "t", Attempt: 1, Body: &Ended{Outcome: Succeeded, Criteria: []Verdict{{Says: "x", Judge: true}}}})
		return m
	},
	"unknown": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.must(Fact{Kind: TaskInterrupted, Task: "t", Attempt: 1, Body: &Interrupted{Then: Ask}})
		return m
	},
	"timer": func(t *testing.T) *sim {
		k := task("t")
		k.Retry = &plan.Retry{Times: 1}
		m := begun(t, k)
		m.must(Fact{Kind: TaskEnded, Task: "t", Attempt: 1, Body: bad("")})
		return m
	},
	"recovery": func(t *testing.T) *sim {
		k := task("t")
		k.Failure = []plan.FailureMode{{Name: "m", Recover: "other"}}
		m := begun(t, k)
		m.must(Fact{Kind: TaskEnded, Task: "t", Attempt: 1, Body: bad("m")})
		return m
	},
	"group": func(t *testing.T) *sim {
		return begun(t, plan.Task{ID: "t", Subplan: &plan.Subplan{Tasks: []plan.Task{task("x")}}})
	},
	"blocked":   func(t *testing.T) *sim { return begun(t, needs(task("t"), "other")) },
	"completed": func(t *testing.T) *sim { return begun(t, task("t")).on() },
	"undoing": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.must(Fact{Kind: TaskEnded, Task: "t", Attempt: 1, Body: ok()})
		m.must(Fact{Kind: RollbackAsked, Body: &Asked{}})
		return m
	},
	"failed": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.outcome = func(string, int) *Ended { return bad("") }
		return m.on()
	},
	"diverged": func(t *testing.T) *sim { return failing(t, "", always("t"), task("t"), task("other")) },
	"proposed": func(t *testing.T) *sim {
		m := failing(t, "", always("t"), task("t"), task("other"))
		m.must(retry("t"))
		return m
	},
	"abandoned": func(t *testing.T) *sim {
		m := begun(t, task("t"))
		m.must(Fact{Kind: PlanCancelled, Body: &Reason{}})
		return m
	},
}

func begun(t *testing.T, k plan.Task) *sim {
	m := newSim(t, dag(k, task("other")))
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	return m
}

// facts is one of every kind, aimed at attempt 1 of t.
var facts = map[journal.Kind]any{
	ReplanProposed: &Proposed{Kind: ProposeRetry}, ReplanDecided: &ReplanVerdict{Accepted: true},
	PlanSubmitted: &Submitted{}, PlanStarted: &Session{}, PlanLeft: &Reason{}, PlanResumed: &Session{}, PlanPaused: &Reason{}, PlanCancelled: &Reason{},
	PlanRetried: &Reason{}, TaskAssessed: &Assessed{Run: true}, TaskSpawned: &Spawned{}, TaskEnded: ok(),
	TaskSaved: &Saved{Backup: []byte("{}")}, RollbackAsked: &Asked{}, TaskUndone: &Undone{},
	TaskInterrupted: &Interrupted{Then: Repeat}, TaskJudged: &Judged{Accepted: true}, TimerFired: &Fired{},
	GateDecided: &Decided{Approved: true}, GoalAssessed: &GoalVerdict{}, GoalJudged: &Judged{}, GateDelegated: &Delegated{To: "person:bob"}, ArtifactPut: &Stored{}, ArtifactExpired: &Expired{},
	BudgetDrawn: &Drawn{}, BudgetRead: &Read{Short: "calls"}, BudgetRaised: &Raised{}, BudgetDenied: &Denied{},
	PlanArchived: &Archived{}, TaskCarried: &Carried{Status: Completed}, PlanRevised: &Revised{Base: 7}, // of a revision that is not the present one
}

// allowed lists, for every place, the facts that may follow; all others are refused.
var allowed = map[string]string{
	"nothing":   "",
	"pending":   "plan.started plan.cancelled artifact.put artifact.expired",
	"running":   "task.spawned task.saved task.ended task.interrupted " + steering,
	"paused":    "task.spawned task.saved task.ended task.interrupted rollback.asked plan.left plan.resumed plan.cancelled artifact.put artifact.expired",
	"assessing": "task.assessed " + steering,
	"person":    "task.ended " + steering,
	"gate":      "gate.decided " + steering,
	"judge":     "task.judged " + steering,
	"unknown":   "task.ended task.interrupted " + steering,
	"timer":     "timer.fired " + steering,
	"recovery":  steering,
	"group":     steering,
	"blocked":   steering,
	"completed": "plan.archived rollback.asked artifact.put artifact.expired",
	"undoing":   "task.undone task.spawned task.saved plan.left plan.resumed plan.cancelled artifact.put artifact.expired",
	"failed":    "plan.archived plan.retried rollback.asked artifact.put artifact.expired",
	"diverged":  "replan.proposed plan.archived plan.retried rollback.asked artifact.put artifact.expired",
	"proposed":  "replan.decided plan.archived plan.retried rollback.asked artifact.put artifact.expired",
	"abandoned": "plan.archived artifact.put artifact.expired",
}

const steering = "rollback.asked plan.left plan.resumed plan.paused plan.cancelled artifact.put artifact.expired"

func TestEveryStateAndFactIsDecidedOrRefused(t *testing.T) {
	if len(facts) != len(bodies) {
		t.Fatalf("%d kinds of fact are tried, there are %d", len(facts), len(bodies))
	}
	for stage, reach := range stages {
		want := strings.Fields(allowed[stage])
		for _, kind := range slices.Sorted(maps.Keys(facts)) {
			m := reach(t)
			before, n := m.s.Hash(), len(m.log)
			err := m.try(Fact{Kind: kind, Task: "t", Attempt: 1, Body: facts[kind]})
			switch may := slices.Contains(want, string(kind)); {
			case may && err != nil:
				t.Errorf("%s: %s is refused: %v", stage, kind, err)
			case !may && err == nil:
				t.Errorf("%s: %s is taken", stage, kind)
			case !may:
				if !fault.Is(err, fault.Conflict) || m.s.Hash() != before || len(m.log) != n {
					t.Errorf("%s: refusing %s is no conflict or changed something: %v", stage, kind, err)
				}
			}
		}
	}
}

func TestStaleAttemptsAndUnknownTasksAreRefused(t *testing.T) {
	m := begun(t, task("t"))
	if err := m.try(Fact{Kind: TaskEnded, Task: "t", Attempt: 2, Body: ok()}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if err := m.try(Fact{Kind: TaskEnded, Task: "u", Attempt: 1, Body: ok()}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if err := m.try(Fact{Kind: ArtifactPut, Task: "u", Body: &Stored{}}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if _, err := m.s.Submit(Fact{Kind: PlanSubmitted, Body: &Submitted{}}, dag()); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func TestFactsReadBackAsTheyWereWritten(t *testing.T) {
	three := 3
	for kind, body := range facts {
		if e, ok := body.(*Ended); ok {
			*e = Ended{Outcome: Failed, Exit: &three, Error: "é\n", Took: 5, Criteria: []Verdict{{Says: "x", OK: true}}}
		}
		b, err := Fact{Kind: kind, Body: body}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		f, err := FactOf(journal.Record{Plan: "p", Kind: kind, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := f.Encode()
		if string(again) != string(b) {
			t.Errorf("%s: %s became %s", kind, b, again)
		}
	}
	facts[TaskEnded] = ok()
	if _, err := FactOf(journal.Record{Kind: TaskStarted}); !fault.Is(err, fault.Tampered) {
		t.Error(err)
	}
	if _, err := FactOf(journal.Record{Kind: TaskEnded, Body: []byte(`{"outcome":1}`)}); !fault.Is(err, fault.Tampered) {
		t.Error(err)
	}
}
