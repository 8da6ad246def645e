package lifecycle

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/plan"
)

// anyPlan draws a plan of up to a dozen tasks with every feature that moves statuses.
func anyPlan(r *rapid.T) *plan.Plan {
	n := rapid.IntRange(1, 12).Draw(r, "tasks")
	p := &plan.Plan{Name: "p", Policy: &plan.Policy{Workers: rapid.IntRange(1, 4).Draw(r, "workers")}}
	for i := range n {
		t := plan.Task{ID: fmt.Sprint("t", i)}
		for k := range i {
			if rapid.IntRange(0, 3).Draw(r, "need") == 0 {
				t.Needs = append(t.Needs, fmt.Sprint("t", k))
			}
		}
		t.Uses = rapid.SampledFrom([]string{"shell", "noop", "shell", ""}).Draw(r, "uses")
		switch rapid.IntRange(0, 9).Draw(r, "extra") {
		case 0:
			t.When = "x"
		case 1:
			t.Each = "x"
		case 2:
			t.Retry = &plan.Retry{Times: 2}
		case 3:
			t.Failure = []plan.FailureMode{{Name: "m", Recover: fmt.Sprint("t", rapid.IntRange(0, n-1).Draw(r, "to"))}}
		case 4:
			t.Next = &plan.Next{Failure: []string{fmt.Sprint("t", rapid.IntRange(0, n-1).Draw(r, "to"))}}
		case 5:
			t.Subplan, t.Uses = &plan.Subplan{Tasks: []plan.Task{task("x"), needs(task("y"), "x")}}, ""
		case 6:
			t.Locks = []string{"l"}
		case 7:
			t.Kind = plan.Gate
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// Any plan, with any outcomes in any order, comes to an end; never runs more than it may; keeps locks exclusive;
// and replays to the same records and the same hash.
func TestAnyRunEndsAndReplays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, law := anyPlan(r), rapid.SampledFrom([]int{0, Law}).Draw(r, "law")
		for i := range p.Tasks { // the first edition did not end where one was a recovery
			if t := &p.Tasks[i]; law == Law && t.Uses == "" && t.Kind == "" && rapid.Bool().Draw(r, "milestone") {
				t.Kind = plan.Milestone
			}
		}
		m := newSimUnder(t, p, law)
		m.outcome = func(string, int) *Ended {
			if rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
				return bad("m")
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
		for n, again := 0, 0; !m.s.Phase.Over() || m.s.Phase == PlanFailed && again < 2; n++ {
			check(r, m)
			if n > 500 {
				r.Fatalf("it waits for people for ever")
			}
			if back := anyEnded(r, m); back != "" {
				m.must(Fact{Kind: RollbackAsked, Body: &Asked{To: back}})
				m.on()
				if m.s.Phase == PlanIsPaused {
					m.must(Fact{Kind: PlanResumed, Body: &Session{}})
					m.on()
				}
				continue
			}
			if m.s.Phase == PlanFailed {
				again++
				m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
				m.on()
				continue
			}
			waiting := ""
			for v := range m.s.Tasks() {
				if v.Wait.NeedsPerson() {
					waiting = v.ID
					break
				}
			}
			if waiting == "" {
				r.Fatalf("nothing runs and nobody is asked: %v", m.log)
			}
			f := Fact{Kind: TaskEnded, Task: waiting, Body: ok()}
			if v, _ := m.s.Task(waiting); v.Wait == ForDecision {
				f.Kind, f.Body = GateDecided, &Decided{Approved: rapid.Bool().Draw(r, "approve")}
			}
			m.must(f)
			m.on()
		}
		check(r, m)
		m.replays(p)
	})
}

// anyEnded sometimes picks a task to go back to.
func anyEnded(r *rapid.T, m *sim) string {
	if rapid.IntRange(0, 5).Draw(r, "back") > 0 {
		return ""
	}
	var ids []string
	for v := range m.s.Tasks() {
		if v.Status == Completed {
			ids = append(ids, v.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(r, "to")
}

func check(r *rapid.T, m *sim) {
	running, held := 0, 0
	for v := range m.s.Tasks() {
		if v.Status == Running && !v.Group {
			running++
			if slices.Contains(v.Spec.Locks, "l") {
				held++
			}
		}
	}
	if running > m.s.Workers || held > 1 || int(m.s.running) != running {
		r.Fatalf("%d run (%d counted), %d hold the lock, with %d workers", running, m.s.running, held, m.s.Workers)
	}
	active := int32(0)
	for i := 1; i < len(m.s.nodes); i++ {
		n := &m.s.nodes[i]
		if n.active < 0 || n.missing < 0 || n.routers < 0 {
			r.Fatalf("%s counts below zero", n.id)
		}
		if !n.gone && (n.assessing || n.status == Ready || n.status == Running || n.status == Waiting) {
			active++
		}
	}
	if m.s.nodes[0].active != active && !m.s.Phase.Over() {
		r.Fatalf("%d are active, %d counted", active, m.s.nodes[0].active)
	}
}
