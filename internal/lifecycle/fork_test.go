package lifecycle

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// forked begins a run of p with what is listed.
func forked(t *testing.T, p *plan.Plan, carries []Carry) *sim {
	t.Helper()
	m := &sim{t: t, first: p, law: Law, s: New("p"), outcome: func(string, int) *Ended { return ok() },
		assess: func(string) *Assessed { return count(2) }, order: func(int) int { return 0 }}
	f := Fact{Kind: PlanSubmitted, Actor: "person:ann", Body: &Submitted{Capabilities: installed, Law: Law, Fork: &Origin{Plan: "q", Seq: 7}}}
	if _, err := m.s.Submit(f, p); err != nil {
		t.Fatal(err)
	}
	m.facts = append(m.facts, f)
	for i := range carries {
		m.must(Fact{Kind: TaskCarried, Task: carries[i].Task, Body: &carries[i].Carried})
	}
	return m
}

// again feeds the facts of a run to a fresh state.
func (m *sim) again() *State {
	s := New("p")
	for i, f := range m.facts {
		if i == 0 {
			if _, err := s.Submit(f, m.first); err != nil {
				m.t.Fatal(err)
			}
			continue
		}
		if _, err := s.Take(f); err != nil {
			m.t.Fatal(err)
		}
	}
	return s
}

// A fork at any point of any run never does again what it took over, comes to its end and replays.
func TestAnyForkAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyPlan(r)
		m := newSimUnder(t, p, Law)
		drawOutcomes(r, m)
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		for range rapid.IntRange(0, 20).Draw(r, "steps") {
			if len(m.todo) == 0 {
				break
			}
			ef := m.todo[0]
			m.todo = m.todo[1:]
			m.do(ef)
		}
		carries, err := m.again().Fork(&Revised{Base: 1, Capabilities: installed, Plan: p})
		if err != nil {
			r.Fatal(err)
		}
		f := forked(t, p, carries)
		drawOutcomes(r, f)
		f.run()
		for n := 0; !f.s.Phase.Over(); n++ {
			if n > 500 {
				r.Fatal("it waits for people for ever")
			}
			answerOne(r, f)
			f.on()
		}
		check(r, f)
		routed := slices.ContainsFunc(f.log, func(s string) bool { return s[:min(len(s), 13)] == string(TaskReopened) })
		for _, c := range carries {
			if c.Status != "" && slices.Contains(f.started, c.Task) && !routed {
				r.Fatalf("%s was taken over and ran: %v", c.Task, f.log)
			}
		}
		s := f.again()
		if s.Hash() != f.s.Hash() {
			r.Fatal("it does not replay")
		}
	})
}

func TestWhatAForkTakesOver(t *testing.T) {
	gate := plan.Task{ID: "g", Kind: plan.Gate, Approve: &plan.Approval{}}
	p := dag(task("a"), needs(gate, "a"), needs(task("b"), "g"))
	m := newSimUnder(t, p, Law)
	m.run()
	m.must(Fact{Kind: GateDecided, Actor: "person:eve", Task: "g", Body: &Decided{Approved: true}})
	carries, err := m.again().Fork(&Revised{Base: 1, Capabilities: installed, Plan: p})
	if err != nil {
		t.Fatal(err)
	}
	// What the gate lets through is still to be done, so that has to be agreed to for the fork too.
	if len(carries) != 1 || carries[0].Task != "a" {
		t.Errorf("%+v", carries)
	}
	f := forked(t, p, carries)
	if err := f.try(Fact{Kind: TaskCarried, Task: "a", Body: &Carried{Status: Completed}}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if err := f.try(Fact{Kind: TaskCarried, Task: "z", Body: &Carried{Status: Completed}}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if err := f.try(Fact{Kind: TaskCarried, Task: "b", Body: &Carried{Status: FailedTask}}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	f.run().want("a:completed g:waiting b:pending")
	// Only a fork begins like this, and only before it has begun.
	if err := f.try(Fact{Kind: TaskCarried, Task: "b", Body: &Carried{Status: Completed}}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	two := 2
	fan := plan.Task{ID: "fan", Each: "x", Uses: "shell"}
	f = forked(t, dag(fan, task("fan-2")), nil)
	if err := f.try(Fact{Kind: TaskCarried, Task: "fan", Body: &Carried{Count: &two}}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}
