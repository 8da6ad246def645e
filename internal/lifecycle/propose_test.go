package lifecycle

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// failing is a run under the present law in which a task fails for as long as broken says.
func failing(t *testing.T, replan string, broken func(task string) bool, tasks ...plan.Task) *sim {
	p := dag(tasks...)
	p.Policy = &plan.Policy{Replan: replan}
	m := newSimUnder(t, p, Law)
	m.outcome = func(id string, _ int) *Ended {
		if broken(id) {
			return bad("")
		}
		return ok()
	}
	return m.run()
}

func always(id string) func(string) bool { return func(t string) bool { return t == id } }

func retry(task string) Fact {
	return Fact{Kind: ReplanProposed, Task: task, Body: &Proposed{Kind: ProposeRetry}}
}

func TestProposalThatIsAcceptedTriesTheTaskAgain(t *testing.T) {
	broken := true
	m := failing(t, "", func(id string) bool { return id == "a" && broken }, task("a"), needs(task("b"), "a"), task("c"))
	m.want("a:failed b:pending c:completed").phase(PlanFailed)
	if got := m.s.Diverged(); !slices.Equal(got, []string{"a"}) {
		t.Fatal(got)
	}
	m.must(retry("a"))
	if p := m.s.Proposal(); p == nil || p.Task != "a" || m.s.Diverged() != nil {
		t.Fatal(p)
	}
	broken = false
	m.must(Fact{Kind: ReplanDecided, Task: "a", Body: &ReplanVerdict{Accepted: true}})
	if m.s.Proposal() != nil || m.s.Tended {
		t.Error("the proposal is still open, or somebody is taken to carry the plan out")
	}
	m.want("a:ready b:pending c:completed")
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("a:completed b:completed c:completed").phase(PlanCompleted).replays(m.first)
}

func TestProposalThatIsRefusedIsNotMadeAgain(t *testing.T) {
	m := failing(t, "", always("a"), task("a"))
	m.must(retry("a"))
	m.must(Fact{Kind: ReplanDecided, Task: "a", Body: &ReplanVerdict{Why: "no"}})
	m.want("a:failed").phase(PlanFailed)
	if m.s.Proposal() != nil || m.s.Diverged() != nil || m.try(retry("a")) == nil {
		t.Error("it is proposed again")
	}
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}}) // that is another failure
	m.on().must(retry("a"))
	m.replays(m.first)
}

func TestProposalLapsesWhenThePlanGoesOnOtherwise(t *testing.T) {
	m := failing(t, "", always("a"), task("a"))
	for k := range maxProposals {
		m.must(retry("a"))
		m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
		m.on()
		if m.s.Proposal() != nil {
			t.Errorf("proposal %d is still open", k+1)
		}
	}
	if err := m.try(retry("a")); !fault.Is(err, fault.Conflict) || m.s.Diverged() != nil {
		t.Errorf("a fourth is taken: %v", err)
	}
	m.replays(m.first)
}

func TestAutomaticProposalsAreFew(t *testing.T) {
	auto := Fact{Kind: ReplanProposed, Task: "a", Body: &Proposed{Kind: ProposeRetry, Auto: true}}
	m := failing(t, "ask", always("a"), task("a"))
	if err := m.try(auto); !fault.Is(err, fault.Conflict) {
		t.Errorf("what the policy does not allow is taken: %v", err)
	}
	m = failing(t, "auto", always("a"), task("a"))
	for range maxAutomatic {
		m.must(auto)
		m.on().want("a:failed")
	}
	if m.s.MayAct() || m.try(auto) == nil {
		t.Error("it goes on for ever")
	}
	question := Fact{Kind: ReplanProposed, Task: "a", Body: &Proposed{Kind: ProposeRevision, Auto: true}}
	if m = failing(t, "auto", always("a"), task("a")); m.try(question) == nil {
		t.Error("a revision is carried out without a person")
	}
}

func TestRecoveryIsTriedBeforeTheTask(t *testing.T) {
	broken := true
	a := task("a")
	a.Failure = []plan.FailureMode{{Name: "full", Detect: "the disk is full", Recover: "tidy"}, {Name: "self", Recover: "a"}, {Name: "prose", Recover: "call somebody"}}
	m := failing(t, "auto", func(id string) bool { return id == "a" && broken }, a, task("tidy"))
	if got := m.s.Recoveries("a"); !slices.Equal(got, []string{"full"}) {
		t.Fatal(got)
	}
	broken, m.started = false, nil
	m.must(Fact{Kind: ReplanProposed, Task: "a", Body: &Proposed{Kind: ProposeRecover, Mode: "full", Auto: true}})
	m.on().want("a:completed tidy:completed").phase(PlanCompleted).replays(m.first)
	if !slices.Equal(m.started, []string{"tidy", "a"}) {
		t.Error(m.started)
	}
}

// What is looked at before it begins is looked at again: a recovery is no way around consent.
func TestRecoveryDoesNotPassOverConsent(t *testing.T) {
	a := task("a")
	a.When, a.Failure = "x", []plan.FailureMode{{Name: "full", Recover: "tidy"}}
	m := failing(t, "", always("a"), a, task("tidy"))
	if m.s.Recoveries("a") != nil {
		t.Error("it can be recovered")
	}
	m.must(Fact{Kind: ReplanProposed, Task: "a", Body: &Proposed{Kind: ProposeRecover, Mode: "full"}})
	n := len(m.log)
	m.must(Fact{Kind: ReplanDecided, Task: "a", Body: &ReplanVerdict{Accepted: true}})
	m.must(Fact{Kind: PlanResumed, Body: &Session{}})
	m.on()
	if !slices.Contains(m.log[n:], "task.assessed a") {
		t.Error(strings.Join(m.log[n:], "\n"))
	}
}

func TestTaskInAGroupIsTriedAgainWhileOthersWait(t *testing.T) {
	broken := true
	g := plan.Task{ID: "g", Subplan: &plan.Subplan{Tasks: []plan.Task{task("x"), task("y")}}}
	m := failing(t, "", func(id string) bool { return id == "g/x" && broken }, g, plan.Task{ID: "hand"})
	m.want("g:failed g/x:failed g/y:completed hand:waiting").phase(PlanBlocked)
	broken = false
	m.must(retry("g/x"))
	m.must(Fact{Kind: ReplanDecided, Task: "g/x", Body: &ReplanVerdict{Accepted: true}})
	m.on().want("g:completed g/x:completed g/y:completed hand:waiting")
	m.must(Fact{Kind: TaskEnded, Task: "hand", Body: ok()})
	m.phase(PlanCompleted).replays(m.first)
}

func TestNothingIsProposedForWhatSomebodyRefused(t *testing.T) {
	m := newSimUnder(t, dag(plan.Task{ID: "gate", Kind: plan.Gate}), Law).run()
	m.must(Fact{Kind: GateDecided, Task: "gate", Actor: "person:bob", Body: &Decided{Why: "no"}})
	m.phase(PlanFailed)
	if m.s.Diverged() != nil {
		t.Error(m.s.Diverged())
	}
}

// However often it fails, a run with automatic replanning comes to an end, and replays.
func TestAnyRunThatReplansByItselfEndsAndReplays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyPlan(r)
		p.Policy.Replan = plan.ReplanAuto
		m := newSimUnder(t, p, Law)
		m.outcome = func(string, int) *Ended {
			if rapid.IntRange(0, 2).Draw(r, "fails") > 0 {
				return bad("")
			}
			return ok()
		}
		m.assess = func(string) *Assessed {
			a := count(rapid.IntRange(0, 3).Draw(r, "items"))
			a.Run = rapid.Bool().Draw(r, "when")
			return a
		}
		m.order = func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "next") }
		m.run()
		acted := 0
		for n := 0; ; n++ {
			check(r, m)
			if n > 500 {
				r.Fatalf("it does not end")
			}
			if tasks := m.s.Diverged(); len(tasks) > 0 {
				m.must(anyProposal(r, m, rapid.SampledFrom(tasks).Draw(r, "task"), &acted))
				if q := m.s.Proposal(); q != nil {
					m.must(Fact{Kind: ReplanDecided, Task: q.Task, Body: &ReplanVerdict{Accepted: rapid.Bool().Draw(r, "accept")}})
				}
				if !m.s.Tended && !m.s.Phase.Over() { // what was agreed to may have nothing left to try
					m.must(Fact{Kind: PlanResumed, Body: &Session{}})
				}
				m.on()
				continue
			}
			if m.s.Phase.Over() {
				break
			}
			m.must(anyAnswer(r, m))
			m.on()
		}
		if acted > maxAutomatic {
			r.Fatalf("%d were carried out without asking", acted)
		}
		m.replays(p)
	})
}

func anyProposal(r *rapid.T, m *sim, task string, acted *int) Fact {
	b := &Proposed{Kind: rapid.SampledFrom([]string{ProposeRetry, ProposeQuestion}).Draw(r, "kind")}
	if modes := m.s.Recoveries(task); len(modes) > 0 {
		b.Kind, b.Mode = ProposeRecover, modes[0]
	}
	if b.Auto = b.Kind != ProposeQuestion && m.s.MayAct(); b.Auto {
		*acted++
	}
	return Fact{Kind: ReplanProposed, Task: task, Body: b}
}

// anyAnswer answers for the first task that waits for a person.
func anyAnswer(r *rapid.T, m *sim) Fact {
	for v := range m.s.Tasks() {
		switch {
		case v.Wait == ForDecision:
			return Fact{Kind: GateDecided, Task: v.ID, Body: &Decided{Approved: rapid.Bool().Draw(r, "approve")}}
		case v.Wait.NeedsPerson():
			return Fact{Kind: TaskEnded, Task: v.ID, Body: ok()}
		}
	}
	r.Fatalf("nothing runs and nobody is asked: %v", m.log)
	return Fact{}
}
