package lifecycle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// revised hands a revision in that has these tasks.
func (m *sim) revised(tasks ...plan.Task) error {
	m.t.Helper()
	return m.try(Fact{Kind: PlanRevised, Actor: "person:bob", Body: &Revised{Base: m.s.Rev, Capabilities: installed, Plan: dag(tasks...), Once: []string{"ship"}}})
}

func runs(t plan.Task, run string) plan.Task { t.Run = run; return t }

// said is an impact on one line.
func said(t *testing.T, m *sim, tasks ...plan.Task) string {
	t.Helper()
	got, err := m.s.Impact(&Revised{Base: m.s.Rev, Capabilities: installed, Plan: dag(tasks...), Once: []string{"ship"}})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("kept %v again %v changed %v dropped %v added %v", got.Kept, got.Again, got.Changed, got.Dropped, got.Added)
}

func TestARevisionKeepsWhatIsTheSame(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"), task("c"), needs(task("d"), "c"), task("e"))
	m := newSim(t, p).run()
	title := task("a")
	title.Title, title.Labels = "other words", []string{"l"}
	next := []plan.Task{title, needs(task("b"), "a"), runs(task("c"), "else"), needs(task("d"), "c"), task("f")}
	want := "kept [a b] again [{c its work changed completed false} {d it follows from c completed false}] changed [] dropped [{e completed}] added [f]"
	if got := said(t, m, next...); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if err := m.revised(next...); err != nil {
		t.Fatal(err)
	}
	if m.s.Rev != 2 || m.s.Revisions[1].Author != "person:bob" || m.s.Tended {
		t.Errorf("%+v", m.s.Revisions)
	}
	m.started = nil
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().phase(PlanCompleted).want("a:completed b:completed c:completed d:completed f:completed")
	if got := strings.Join(m.started, " "); got != "c f d" {
		t.Errorf("%s ran", got)
	}
	if v, _ := m.s.Task("c"); v.Execution != 2 {
		t.Errorf("c is in execution %d: its effect key is the old one", v.Execution)
	}
	m.replays(p)
}

func TestWhatRunsIsNotTakenAway(t *testing.T) {
	for name, next := range map[string][]plan.Task{
		"drops it":         {task("b")},
		"its work changed": {runs(task("a"), "else"), task("b")},
		"follows from z":   {needs(task("a"), "z"), task("b"), task("z")},
		"changes its lock": {{ID: "a", Uses: "shell", Locks: []string{"l"}}, task("b")},
	} {
		m := begun(t, task("a"))
		if err := m.revised(next...); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := begun(t, task("a"))
	if err := m.revised(task("a"), task("other"), needs(task("n"), "a")); err != nil {
		t.Fatal(err)
	}
	m.on().want("a:completed other:completed n:completed")
}

func TestAFailedPlanGoesOnWhenItIsRevised(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"))
	m := newSim(t, p)
	m.outcome = func(id string, attempt int) *Ended {
		if id == "a" && attempt == 1 {
			return bad("")
		}
		return ok()
	}
	m.run().phase(PlanFailed)
	patient := task("a")
	patient.Timeout = 5
	if err := m.revised(patient, needs(task("b"), "a")); err != nil {
		t.Fatal(err)
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().phase(PlanCompleted)
	m.replays(p)

	m = newSim(t, p)
	m.outcome = func(string, int) *Ended { return bad("") }
	m.run().phase(PlanFailed)
	if err := m.revised(task("a"), needs(task("c"), "a")); err != nil {
		t.Fatal(err)
	}
	m.phase(PlanFailed).want("a:failed c:pending") // nothing that failed was changed
}

func TestWhatMustNotRunTwiceIsAskedFor(t *testing.T) {
	p := dag(task("build"), needs(task("ship"), "build"))
	m := newSim(t, p).run().phase(PlanCompleted)
	if err := m.revised(runs(task("build"), "else"), needs(task("ship"), "build")); err != nil {
		t.Fatal(err)
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("build:completed ship:waiting")
	if v, _ := m.s.Task("ship"); v.Wait != ForPerson {
		t.Fatal(v.Wait)
	}
	m.must(Fact{Kind: TaskInterrupted, Task: "ship", Body: &Interrupted{Then: Repeat}})
	m.on().phase(PlanCompleted)
	if m.started[len(m.started)-1] != "ship" {
		t.Error(m.started)
	}
	m.replays(p)
}

func TestItemsAndSubplansAreKept(t *testing.T) {
	fan := needs(plan.Task{ID: "fan", Each: "x", Subplan: &plan.Subplan{Tasks: []plan.Task{task("x"), needs(task("y"), "x")}}}, "a")
	p := dag(task("a"), fan, needs(task("z"), "fan"))
	m := newSim(t, p)
	m.assess = func(string) *Assessed { return count(2) }
	m.run().phase(PlanCompleted)
	other := fan
	other.Subplan = &plan.Subplan{Tasks: []plan.Task{task("x"), runs(needs(task("y"), "x"), "else")}}
	want := "kept [a fan-1/x fan-2/x] again [{fan-1/y its work changed completed false} {fan-2/y its work changed completed false} {z it follows from fan completed false}] changed [] dropped [] added []"
	if got := said(t, m, task("a"), other, needs(task("z"), "fan")); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if err := m.revised(task("a"), other, needs(task("z"), "fan")); err != nil {
		t.Fatal(err)
	}
	m.started = nil
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().phase(PlanCompleted)
	if got := strings.Join(m.started, " "); got != "fan-1/y fan-2/y z" {
		t.Errorf("%s ran", got)
	}
	m.replays(p)
	if err := m.revised(task("a"), other, needs(task("z"), "fan"), task("fan-2")); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	// A fan-out that ranges anew gives its items keys of their own.
	if err := m.revised(runs(task("a"), "else"), other, needs(task("z"), "fan")); err != nil {
		t.Fatal(err)
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 3}})
	m.on().phase(PlanCompleted)
	if v, _ := m.s.Task("fan-1/x"); v.Execution != 2 {
		t.Errorf("fan-1/x is in execution %d", v.Execution)
	}
}

func TestADecidedGateIsAskedAgainForOtherWork(t *testing.T) {
	gate := plan.Task{ID: "g", Kind: plan.Gate, Approve: &plan.Approval{}}
	p := dag(gate, needs(task("a"), "g"), needs(task("b"), "g"))
	m := newSim(t, p).run()
	m.must(Fact{Kind: GateDecided, Task: "g", Body: &Decided{Approved: true}})
	m.on().phase(PlanCompleted)
	if err := m.revised(gate, needs(task("a"), "g"), runs(needs(task("b"), "g"), "else")); err != nil {
		t.Fatal(err)
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("g:waiting a:completed b:pending")
}

func TestPureResultsAreSetAside(t *testing.T) {
	in := digest.Sum([]byte("in"))
	pure := plan.Task{ID: "n", Uses: "noop"}
	m := newSim(t, dag(task("a"), needs(pure, "a")))
	m.outcome = func(string, int) *Ended {
		return &Ended{Outcome: Succeeded, Outputs: map[string]json.RawMessage{"o": []byte("1")}, Inputs: in}
	}
	m.run()
	if err := m.revised(runs(task("a"), "else"), needs(pure, "a")); err != nil {
		t.Fatal(err)
	}
	if r := m.s.Reuse("noop")(in); r == nil || string(r.Outputs["o"]) != "1" {
		t.Errorf("%+v", m.s.memos)
	}
	m.s.classes = map[string]Installed{"noop": {Version: "2", Repeat: capability.Pure}}
	if m.s.Reuse("noop")(in) != nil {
		t.Error("another version gives the same key")
	}
}

func TestARevisionOfAnotherRevisionIsRefused(t *testing.T) {
	m := newSim(t, dag(task("a"))).run()
	b := &Revised{Base: 1, Capabilities: installed, Plan: dag(task("b"))}
	m.must(Fact{Kind: PlanRevised, Body: b})
	if err := m.try(Fact{Kind: PlanRevised, Body: b}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "revision 2") {
		t.Error(err)
	}
	if err := m.try(Fact{Kind: PlanRevised, Body: &Revised{Base: 2}}); !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
}

func TestWhatIsArchivedStays(t *testing.T) {
	m := newSim(t, dag(task("a"))).run()
	before := m.s.Hash()
	m.must(Fact{Kind: PlanArchived, Body: &Archived{}})
	if m.s.State() != PlanIsArchived || m.s.Phase != PlanCompleted || m.s.Hash() != before {
		t.Error(m.s.State(), m.s.Phase)
	}
	for kind, body := range map[journal.Kind]any{PlanArchived: &Archived{}, RollbackAsked: &Asked{}, ArtifactPut: &Stored{},
		PlanRevised: &Revised{Base: 1, Plan: dag(task("b"))}} {
		if err := m.try(Fact{Kind: kind, Body: body}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "archived") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := m.s.Impact(&Revised{Base: 1, Plan: dag(task("b"))}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	m.must(Fact{Kind: ArtifactExpired, Body: &Expired{}})
}
