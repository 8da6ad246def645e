package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// sim carries a plan out by a script: no runner, no clock, no disk. It keeps every fact and every derived
// record, so that a run can be fed to a second state and compared.
type sim struct {
	t       *testing.T
	first   *plan.Plan // as it was submitted
	law     int
	s       *State
	now     time.Time
	todo    []Effect
	facts   []Fact
	log     []string // kind task, in order
	started []string // attempts in the order in which they were handed out
	bodies  []string

	kept       []string // by the last revision
	mark, told int      // how much of started and bodies was there then

	outcome func(task string, attempt int) *Ended
	undo    func(task string) *Undone
	assess  func(task string) *Assessed
	goal    func() *GoalVerdict
	order   func(n int) int // which of n effects is done next
}

func ok() *Ended                                 { return &Ended{Outcome: Succeeded} }
func bad(mode string) *Ended                     { return &Ended{Outcome: Failed, Error: "broken", Mode: mode} }
func task(id string) plan.Task                   { return plan.Task{ID: id, Uses: "shell"} }
func needs(t plan.Task, ids ...string) plan.Task { t.Needs = ids; return t }

var installed = map[string]Installed{"shell": {Version: "1", Repeat: capability.Repeatable}, "noop": {Version: "1", Repeat: capability.Pure}}

func newSim(t *testing.T, p *plan.Plan) *sim {
	t.Helper()
	return newSimUnder(t, p, 0)
}

// newSimUnder is a run under an edition of the law.
func newSimUnder(t *testing.T, p *plan.Plan, law int) *sim {
	t.Helper()
	m := &sim{t: t, law: law, first: p, s: New("p"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		outcome: func(string, int) *Ended { return ok() },
		undo:    func(string) *Undone { return &Undone{} },
		assess:  func(string) *Assessed { return &Assessed{Run: true} },
		order:   func(int) int { return 0 }}
	f := Fact{Kind: PlanSubmitted, Actor: "person:ann", Time: m.now, Body: &Submitted{Capabilities: installed, Law: law}}
	if _, err := m.s.Submit(f, p); err != nil {
		t.Fatal(err)
	}
	m.facts = append(m.facts, f)
	return m
}

// run starts the plan and goes on until nothing can happen by itself.
func (m *sim) run() *sim {
	m.t.Helper()
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	return m.on()
}

func (m *sim) on() *sim {
	m.t.Helper()
	for n := 0; len(m.todo) > 0; n++ {
		if n > 10_000 {
			m.t.Fatal("the run does not end")
		}
		k := m.order(len(m.todo))
		ef := m.todo[k]
		m.todo = slices.Delete(m.todo, k, k+1)
		m.do(ef)
	}
	return m
}

func (m *sim) do(ef Effect) {
	m.t.Helper()
	switch ef.Kind {
	case Start:
		m.must(Fact{Kind: TaskEnded, Task: ef.Task, Attempt: ef.Attempt, Body: m.outcome(ef.Task, ef.Attempt)})
	case Assess:
		if ef.Task == "" {
			v := &GoalVerdict{}
			if m.goal != nil {
				v = m.goal()
			}
			m.must(Fact{Kind: GoalAssessed, Attempt: ef.Attempt, Body: v})
			return
		}
		m.must(Fact{Kind: TaskAssessed, Task: ef.Task, Body: m.assess(ef.Task)})
	case Undo:
		m.must(Fact{Kind: TaskUndone, Task: ef.Task, Body: m.undo(ef.Task)})
	case Arm:
		m.now = later(m.now, ef.Due)
		m.must(Fact{Kind: TimerFired, Task: ef.Task, Body: &Fired{}})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (m *sim) try(f Fact) error {
	m.now = m.now.Add(time.Second)
	f.Time = m.now
	derived, err := m.s.Take(f)
	if err != nil {
		return err
	}
	m.facts = append(m.facts, f)
	m.note(f.Kind, f.Task)
	for _, d := range derived {
		m.note(d.Kind, d.Task)
		m.bodies = append(m.bodies, fmt.Sprintf("%s %s %d %s", d.Kind, d.Task, d.Attempt, d.Body))
	}
	for _, ef := range m.s.Effects() {
		if ef.Kind == Stop {
			m.stopped(ef)
			continue
		}
		if ef.Kind == Start {
			m.started = append(m.started, ef.Task)
		}
		m.todo = append(m.todo, ef)
	}
	return nil
}

func (m *sim) note(k journal.Kind, task string) {
	m.log = append(m.log, strings.TrimSpace(string(k)+" "+task))
}

func (m *sim) must(f Fact) {
	m.t.Helper()
	if err := m.try(f); err != nil {
		m.t.Fatalf("%s %s: %v\n%s", f.Kind, f.Task, err, strings.Join(m.log, "\n"))
	}
}

func (m *sim) want(statuses string) *sim {
	m.t.Helper()
	var got []string
	for t := range m.s.Tasks() {
		got = append(got, t.ID+":"+string(t.Status))
	}
	if g := strings.Join(got, " "); g != statuses {
		m.t.Errorf("\n got %s\nwant %s\n%s", g, statuses, strings.Join(m.log, "\n"))
	}
	return m
}

func (m *sim) phase(p PlanState) *sim {
	m.t.Helper()
	if m.s.State() != p {
		m.t.Errorf("the plan is %s, want %s\n%s", m.s.State(), p, strings.Join(m.log, "\n"))
	}
	return m
}

// replays feeds the facts to a fresh state and compares every derived record.
func (m *sim) replays(p *plan.Plan) {
	m.t.Helper()
	again := newSimUnder(m.t, p, m.law)
	for _, f := range m.facts[1:] {
		derived, err := again.s.Take(f)
		if err != nil {
			m.t.Fatalf("replay refuses %s %s: %v", f.Kind, f.Task, err)
		}
		for _, d := range derived {
			again.bodies = append(again.bodies, fmt.Sprintf("%s %s %d %s", d.Kind, d.Task, d.Attempt, d.Body))
		}
	}
	if !slices.Equal(again.bodies, m.bodies) || again.s.Hash() != m.s.Hash() {
		m.t.Fatalf("replay derives\n%s\ninstead of\n%s", strings.Join(again.bodies, "\n"), strings.Join(m.bodies, "\n"))
	}
}

func count(n int) *Assessed { return &Assessed{Run: true, Count: &n} }

// stopped forgets the work that was called off.
func (m *sim) stopped(ef Effect) {
	m.todo = slices.DeleteFunc(m.todo, func(o Effect) bool { return o.Task == ef.Task })
}
