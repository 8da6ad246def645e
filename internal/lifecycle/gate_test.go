package lifecycle

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
)

var shown = digest.Sum([]byte("what is to be approved"))

// gated begins a plan under today's law whose gates ask for the demands.
func gated(t *testing.T, demands []gate.Demand, tasks ...plan.Task) *sim {
	t.Helper()
	m := newSimUnder(t, dag(tasks...), Law)
	m.assess = func(string) *Assessed { return &Assessed{Run: true, Demands: demands, Subject: shown} }
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	return m
}

// work does everything but fire timers.
func (m *sim) work() *sim {
	m.t.Helper()
	for {
		k := slices.IndexFunc(m.todo, func(e Effect) bool { return e.Kind != Arm })
		if k < 0 {
			return m
		}
		ef := m.todo[k]
		m.todo = slices.Delete(m.todo, k, k+1)
		m.do(ef)
	}
}

func decide(task, by string, b *Decided) Fact {
	return Fact{Kind: GateDecided, Task: task, Actor: "person:" + by, Body: b}
}

func gateTask(id string, needs ...string) plan.Task {
	return plan.Task{ID: id, Kind: plan.Gate, Needs: needs}
}

func TestGateOpensByQuorum(t *testing.T) {
	m := gated(t, []gate.Demand{{Roles: []string{"lead"}, Quorum: 2, Not: gate.Author}}, gateTask("g"), needs(task("after"), "g")).work()
	for _, c := range []struct {
		by   string
		b    *Decided
		code fault.Code
	}{
		{"ann", &Decided{Approved: true, Roles: []string{"lead"}}, fault.Denied}, // the author
		{"eve", &Decided{Approved: true}, fault.Denied},
		{"eve", &Decided{Approved: true, Claimer: "person:ann", Roles: []string{"lead"}}, fault.Denied},
		{"bob", &Decided{Approved: true, Roles: []string{"lead"}, Subject: digest.Sum(nil)}, fault.Conflict}, // something else
		{"bob", &Decided{Approved: true, Roles: []string{"lead"}, Late: true}, fault.Conflict},
		{"bob", &Decided{Approved: true, Roles: []string{"lead"}, Subject: shown}, ""},
		{"bob", &Decided{Approved: true, Roles: []string{"lead"}}, fault.Conflict}, // twice
	} {
		if err := m.try(decide("g", c.by, c.b)); fault.CodeOf(err) != c.code && (err != nil || c.code != "") {
			t.Errorf("%s %+v: %v", c.by, c.b, err)
		}
		m.want("g:waiting after:pending")
	}
	m.must(decide("g", "kim", &Decided{Approved: true, Roles: []string{"lead"}}))
	m.work().want("g:completed after:completed").phase(PlanCompleted).replays(m.first)
}

func TestOneGateReleasesItsBranchAlone(t *testing.T) {
	m := gated(t, nil, gateTask("g"), gateTask("h"), needs(task("a"), "g"), needs(task("b"), "h")).work()
	m.must(decide("h", "bob", &Decided{Approved: true}))
	m.work().want("g:waiting h:completed a:pending b:completed")
	if err := m.try(decide("h", "eve", &Decided{Approved: true, Late: true})); err != nil {
		t.Error("who comes second is recorded:", err)
	}
	m.must(decide("g", "bob", &Decided{Why: "no"}))
	m.work().phase(PlanFailed).replays(m.first)
}

func TestAnyTaskCanBeHeld(t *testing.T) {
	k := task("t")
	k.Approve = &plan.Approval{Role: "lead"}
	m := gated(t, []gate.Demand{{Roles: []string{"lead"}}}, k).work().want("t:waiting")
	if len(m.started) > 0 {
		t.Fatal("it began without consent")
	}
	m.must(decide("t", "bob", &Decided{Approved: true, Roles: []string{"lead"}}))
	m.work().want("t:completed").replays(m.first)
}

func TestPolicyHoldsWhatItGuards(t *testing.T) {
	p := dag(task("free"), plan.Task{ID: "each", Each: "x", Subplan: &plan.Subplan{Tasks: []plan.Task{task("in")}}})
	m := newSimUnder(t, p, Law)
	m.s.guard([]string{"each/in", "nothing", "free/none"})
	if m.s.IsGuarded("free") || !m.s.IsGuarded("each/in") || m.s.IsGuarded("each/none") {
		t.Error("the wrong tasks are guarded")
	}
	m.assess = func(id string) *Assessed {
		if id == "each" {
			return count(2)
		}
		if got := m.s.Path(id); got != "each/in" {
			t.Errorf("%s was authored as %s", id, got)
		}
		return &Assessed{Run: true, Demands: []gate.Demand{{Rule: "r"}}, Subject: shown}
	}
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	m.work().want("free:completed each:running each-1:running each-1/in:waiting each-2:running each-2/in:waiting")
	m.must(decide("each-2/in", "bob", &Decided{Approved: true}))
	m.must(decide("each-1/in", "bob", &Decided{Approved: true}))
	m.work().phase(PlanCompleted)
}

func TestForbiddenIsForbidden(t *testing.T) {
	k := task("t")
	k.Approve = &plan.Approval{}
	m := gated(t, nil, k)
	m.assess = func(string) *Assessed { return &Assessed{Run: true, Denied: "rule never of the plan"} }
	m.work().want("t:failed").phase(PlanFailed).replays(m.first)
}

func TestTheSameIsNotAskedTwice(t *testing.T) {
	back := task("draft")
	g := gateTask("g", "draft")
	last := needs(task("last"), "g")
	last.Next = &plan.Next{Failure: []string{"draft"}}
	subject := shown
	m := gated(t, nil, back, g, last)
	m.assess = func(string) *Assessed { return &Assessed{Run: true, Subject: subject} }
	fails := 2
	m.outcome = func(id string, _ int) *Ended {
		if id == "last" && fails > 0 {
			fails--
			return bad("")
		}
		return ok()
	}
	m.work()
	m.must(decide("g", "bob", &Decided{Approved: true}))
	m.work()
	if !slices.Contains(m.log, "task.reopened draft") || !m.s.Phase.Over() && m.s.people > 0 && fails == 2 {
		t.Fatal("it did not run again", m.log)
	}
	m.want("draft:completed g:completed last:completed").phase(PlanCompleted).replays(m.first)
}

func TestChecksThatDoNotHold(t *testing.T) {
	g := gateTask("g")
	g.Checks = []plan.Criterion{{Says: "x"}}
	g.Failure = []plan.FailureMode{{Name: "m", Recover: "mend"}}
	g.Approve = &plan.Approval{}
	m := gated(t, nil, g, task("mend"))
	asked := 0
	m.assess = func(string) *Assessed {
		asked++
		return &Assessed{Run: true, Mode: "m", Subject: shown, Checks: []Verdict{{Says: "x"}}}
	}
	m.work().want("g:waiting mend:completed")
	if asked != 1+maxExecutions {
		t.Errorf("the checks were looked at %d times", asked)
	}
	if err := m.try(decide("g", "bob", &Decided{Approved: true})); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "checks that do not hold: x") {
		t.Error(err)
	}
	m.must(decide("g", "bob", &Decided{Approved: true, Override: true}))
	m.work().phase(PlanCompleted).replays(m.first)

	g.Approve = nil // nobody is there to overrule
	m = gated(t, nil, g, task("mend"))
	m.assess = func(string) *Assessed { return &Assessed{Run: true, Mode: "m", Checks: []Verdict{{Says: "x"}}} }
	m.work().want("g:failed mend:completed").phase(PlanFailed)
}

func TestGateWithWorkOfItsOwn(t *testing.T) {
	g := gateTask("g")
	g.Uses, g.Approve = "shell", &plan.Approval{}
	m := gated(t, []gate.Demand{{}}, g).work().want("g:waiting")
	if len(m.started) != 1 {
		t.Fatal("its tests come first")
	}
	m.must(decide("g", "bob", &Decided{Approved: true}))
	m.want("g:completed").replays(m.first)

	g.Approve = nil // its work is all that it asks for
	gated(t, nil, g).work().want("g:completed")
}

func TestOverdueGatesEscalateAndExpire(t *testing.T) {
	demands := []gate.Demand{{Roles: []string{"lead"}, Within: time.Hour, Escalate: []string{"owner"}}}
	m := gated(t, demands, gateTask("g"), needs(task("after"), "g")).work()
	fire := Fact{Kind: TimerFired, Task: "g", Body: &Fired{For: TimerGate}}
	if err := m.try(fire); !fault.Is(err, fault.Conflict) {
		t.Error("it is not due yet:", err)
	}
	if len(m.todo) != 1 || m.todo[0].For != TimerGate || !m.s.OnlyPeople() {
		t.Errorf("%v", m.todo)
	}
	owner := decide("g", "kim", &Decided{Approved: true, Roles: []string{"owner"}})
	if err := m.try(owner); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	m.now = m.now.Add(time.Hour)
	m.must(fire)
	if g, _ := m.s.Gate("g"); g.Round != 1 || !strings.Contains(g.Lacks(), "lead or owner") {
		t.Error(g.Lacks())
	}
	if got := m.s.Outstanding(); len(got) != 1 || got[0].Kind != Arm {
		t.Errorf("whoever takes it up has to watch the time: %v", got)
	}
	m.now = m.now.Add(time.Hour)
	m.must(fire)
	m.want("g:failed after:pending").phase(PlanFailed)
	if g, _ := m.s.Gate("g"); !g.Expired {
		t.Error("it expired")
	}
	m.replays(m.first)
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
	m.work().want("g:waiting after:pending")
}

func TestPushBack(t *testing.T) {
	m := gated(t, nil, task("draft"), gateTask("g", "draft"), needs(task("side"), "draft")).work()
	back := &Decided{Back: "draft", Why: "too long", Answers: map[string]json.RawMessage{"limit": []byte("5")}}
	for to, code := range map[string]fault.Code{"side": fault.Invalid, "g": fault.Invalid, "none": fault.Invalid} {
		if err := m.try(decide("g", "bob", &Decided{Back: to})); !fault.Is(err, code) {
			t.Error(to, err)
		}
	}
	if err := m.try(decide("g", "bob", &Decided{Approved: true, Back: "draft"})); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	for range maxExecutions - 1 {
		m.must(decide("g", "bob", back))
		m.work().want("draft:completed g:waiting side:completed")
	}
	if string(m.s.Answers()["limit"]) != "5" {
		t.Error(m.s.Answers())
	}
	if err := m.try(decide("g", "bob", back)); !fault.Is(err, fault.Denied) {
		t.Error("three times are enough:", err)
	}
	m.must(decide("g", "bob", &Decided{Approved: true}))
	m.work().phase(PlanCompleted).replays(m.first)
}

func TestHandingOn(t *testing.T) {
	m := gated(t, []gate.Demand{{Roles: []string{"lead"}, Not: gate.Author}}, gateTask("g")).work()
	give := func(from, to string, roles ...string) error {
		return m.try(Fact{Kind: GateDelegated, Task: "g", Actor: "person:" + from, Body: &Delegated{To: "person:" + to, Roles: roles}})
	}
	if err := give("eve", "kim"); !fault.Is(err, fault.Denied) {
		t.Error("who has no right cannot give it:", err)
	}
	if err := give("bob", "ann", "lead"); !fault.Is(err, fault.Denied) {
		t.Error("nor can it be given to the author:", err)
	}
	if err := give("bob", "kim", "lead"); err != nil {
		t.Error(err)
	}
	m.must(decide("g", "kim", &Decided{Approved: true}))
	m.want("g:completed").replays(m.first)
}

func TestWhatChangedIsAskedAnew(t *testing.T) {
	m := gated(t, []gate.Demand{{Quorum: 2}}, gateTask("g")).work()
	m.must(decide("g", "bob", &Decided{Approved: true}))
	again := &Assessed{Run: true, Subject: shown, Demands: []gate.Demand{{Quorum: 2}}}
	if err := m.try(Fact{Kind: TaskAssessed, Task: "g", Body: again}); !fault.Is(err, fault.Conflict) {
		t.Error("nothing has changed:", err)
	}
	again.Subject = digest.Sum(nil)
	m.must(Fact{Kind: TaskAssessed, Task: "g", Body: again})
	if g, _ := m.s.Gate("g"); len(g.Votes) != 0 || g.Subject != again.Subject {
		t.Error("votes for something else count")
	}
	if _, ok := m.s.Gate("none"); ok {
		t.Error("there is no such gate")
	}
}

// Whatever people do to a gate in whatever order, it ends, nobody who may not decides it, and it replays.
func TestAnyVotesReplay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		demand := gate.Demand{Roles: []string{"lead"}, Quorum: rapid.IntRange(0, 3).Draw(r, "quorum"), Not: rapid.SampledFrom([]string{"", gate.Author}).Draw(r, "not")}
		m := gated(t, []gate.Demand{demand}, task("draft"), gateTask("g", "draft"), needs(task("after"), "g")).work()
		for n := 0; n < 12 && !m.s.Phase.Over(); n++ {
			by := rapid.SampledFrom([]string{"ann", "bob", "eve", "kim", "lee"}).Draw(r, "by")
			b := &Decided{Approved: rapid.IntRange(0, 4).Draw(r, "yes") > 0}
			if by != "eve" {
				b.Roles = []string{"lead"}
			}
			if !b.Approved && rapid.Bool().Draw(r, "back") {
				b.Back = "draft"
			}
			err := m.try(decide("g", by, b))
			if err == nil && (by == "eve" || by == "ann" && b.Approved && demand.Not != "") {
				r.Fatalf("%s decided", by)
			}
			m.work()
		}
		if slices.Contains(m.started, "after") {
			if g, _ := m.s.Gate("g"); len(g.Votes) < max(demand.Quorum, 1) {
				r.Fatal("it went on without consent")
			}
		}
		m.replays(m.first)
	})
}

// A recovery that is over as soon as it begins lets the task try again, once.
func TestRecoveryThatIsOverAtOnce(t *testing.T) {
	mile := plan.Task{ID: "mile", Kind: plan.Milestone}
	k := needs(task("t"), "mile")
	k.Failure = []plan.FailureMode{{Name: "m", Recover: "mile"}}
	m := newSimUnder(t, dag(mile, k), Law)
	m.outcome = func(_ string, attempt int) *Ended {
		if attempt == 1 {
			return bad("m")
		}
		return ok()
	}
	m.run().want("mile:completed t:completed").phase(PlanCompleted).replays(m.first)
}
