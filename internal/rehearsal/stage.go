package rehearsal

import (
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// maxActs bounds one rehearsal. The law bounds executions and retries, so that only a plan of very many tasks comes near.
const maxActs = 10_000_000

// maxStalls bounds how often in one rehearsal people are looked for because nothing else is left to wait for.
const maxStalls = 1000

// act is something that takes time: an attempt, an answer, a pause. Acts that take none stand for what is known at once.
type act struct {
	fact       lifecycle.Fact // that its end reports
	part       *part
	who        int // of an answer; nobody: -1
	begin, end span
	cause      int  // the act whose end let it begin; none: -1
	waited     span // for people, where this ended the wait
	work       bool
	held       bool // the task waited for people
	failed     bool // an attempt, that failed
	void       bool // the law does not wait for it, or no longer
}

const nobody = -1

// loss is a task that has failed, unless a route led back to it.
type loss struct {
	task string
	part *part
}

// stage is where one rehearsal after the other is played; what it allocates is used again.
type stage struct {
	*script
	chance *chance
	state  *lifecycle.State
	acts   []act
	queue  []int            // acts under way: a heap by end, then by order of beginning
	free   []span           // when each person has done what was taken on
	open   map[string]int   // the act under way, by task
	asked  map[string][]int // who was asked to decide, by task
	raises map[string]int   // how often, by whose budget it is
	now    span
	last   int // the act that ended last
	failed []loss
	raised int // how often somebody was asked to raise a budget
	stalls int
}

func newStage(sc *script) *stage {
	return &stage{script: sc, chance: newChance(), open: map[string]int{}, asked: map[string][]int{}, raises: map[string]int{}}
}

// over is how the rehearsal ended.
func (st *stage) over() lifecycle.PlanState { return st.state.Phase }

// play carries the plan out once.
func (st *stage) play(number uint64) error {
	st.chance.begin(st.Seed, number)
	st.state = lifecycle.New(st.plan.Name)
	st.acts, st.queue, st.failed, st.last, st.stalls, st.raised = st.acts[:0], st.queue[:0], st.failed[:0], nobody, 0, 0
	st.free = append(st.free[:0], make([]span, len(st.people))...)
	clear(st.open)
	clear(st.asked)
	clear(st.raises)
	st.now = span(st.Start.Sub(st.midnight))
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Time: st.Start, Actor: st.Author,
		Body: &lifecycle.Submitted{Tasks: len(st.plan.Tasks), Law: lifecycle.Law, Capabilities: st.installed, Guarded: st.guarded}}
	if _, err := st.state.Submit(f, st.plan); err != nil {
		return err
	}
	if err := st.take(nobody, lifecycle.Fact{Kind: lifecycle.PlanStarted, Body: &lifecycle.Session{Epoch: 1, Workers: st.Workers}}); err != nil {
		return err
	}
	for !st.state.Phase.Over() && len(st.acts) < maxActs {
		if len(st.queue) == 0 && !st.look() || st.acts[st.queue[0]].end >= horizon {
			return nil
		}
		st.next()
	}
	return nil
}

// next lets time pass until an act ends, and tells the law. What the law refuses has been overtaken by something else.
func (st *stage) next() {
	i := st.pop()
	a := &st.acts[i]
	st.now = a.end
	if a.void {
		return
	}
	if st.open[a.fact.Task] == i {
		delete(st.open, a.fact.Task)
	}
	if st.take(i, a.fact) != nil {
		st.acts[i].void = true
		return
	}
	st.last = i
	if st.acts[i].held {
		st.acts[i].waited = st.waited(&st.acts[i])
	}
}

// waited is how long people let a task wait until now; nothing as long as it still waits for a decision.
func (st *stage) waited(a *act) span {
	if a.fact.Kind != lifecycle.GateDecided && a.fact.Kind != lifecycle.TimerFired {
		return a.end - a.begin
	}
	if t, _ := st.state.Task(a.fact.Task); t.Wait == lifecycle.ForDecision {
		return 0
	}
	g, _ := st.state.Gate(a.fact.Task)
	return st.now - span(g.Opened.Sub(st.midnight))
}

// take hands a fact to the law and sets in motion what follows. cause is the act that reports it.
func (st *stage) take(cause int, f lifecycle.Fact) error {
	f.Time = st.midnight.Add(time.Duration(st.now))
	if f.Actor == "" {
		f.Actor = lifecycle.Engine
	}
	derived, err := st.state.Take(f)
	if err != nil {
		return err
	}
	for _, ef := range st.state.Effects() {
		st.perform(cause, ef)
	}
	for _, d := range derived {
		switch d.Kind {
		case lifecycle.TaskWaiting, lifecycle.GateEscalated:
			st.ask(cause, d.Task)
		case lifecycle.BudgetRefused:
			st.plead(cause, d)
		case lifecycle.GateOpened:
			delete(st.asked, d.Task)
			st.ask(cause, d.Task)
		case lifecycle.TaskSettled:
			if t, _ := st.state.Task(d.Task); t.Status == lifecycle.FailedTask {
				st.failed = append(st.failed, loss{d.Task, st.partOf(d.Task, t.Spec)})
			}
		}
	}
	return nil
}

// perform answers one effect. One that is not known here is left alone.
func (st *stage) perform(cause int, ef lifecycle.Effect) {
	// A deadline is a date, and says something of a run that has one. That of the plan is no act: the report tells
	// how many runs meet it.
	if ef.For == lifecycle.TimerDeadline && (ef.Task == "" || st.Start.Equal(monday)) {
		return
	}
	a := act{part: st.partOf(ef.Task, ef.Spec), who: nobody, begin: st.now, end: st.now, cause: cause,
		fact: lifecycle.Fact{Task: ef.Task, Attempt: ef.Attempt}}
	switch ef.Kind {
	case lifecycle.Start:
		st.attempt(&a, ef.Room)
	case lifecycle.Assess:
		a.fact.Kind, a.fact.Attempt, a.fact.Body = lifecycle.TaskAssessed, 0, st.assess(ef, a.part)
	case lifecycle.Arm:
		a.end, a.held = max(st.now, span(ef.Due.Sub(st.midnight))), ef.For == lifecycle.TimerGate
		a.fact.Kind, a.fact.Attempt, a.fact.Body = lifecycle.TimerFired, 0, &lifecycle.Fired{For: ef.For}
	case lifecycle.Undo:
		a.end += span(a.part.takes.draw(st.chance))
		a.fact.Kind, a.fact.Attempt, a.fact.Body = lifecycle.TaskUndone, 0, &lifecycle.Undone{}
	case lifecycle.Stop:
		if i, ok := st.open[ef.Task]; ok {
			st.acts[i].void = true
		}
		return
	default:
		return
	}
	st.begin(a)
}

// attempt draws how long an attempt takes and how it ends.
func (st *stage) attempt(a *act, room time.Duration) {
	took := a.part.takes.draw(st.chance)
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Criteria: a.part.verdicts}
	limit := a.part.spec.Timeout.D()
	late := limit > 0 && took > limit
	if late {
		took = limit
	}
	switch {
	case room > 0 && took > room:
		took = room
		e = st.failure(a.part, "the budget of time is used up")
		e.Short = budget.Time
	case st.chance.happens(a.part.fails):
		e = st.failure(a.part, "it was made to fail")
	case late && a.part.sure:
		e = st.failure(a.part, "it took longer than "+a.part.spec.Timeout.String())
	}
	e.Took = took
	if a.part.cost > 0 {
		e.Spent = &budget.Amount{Cost: a.part.cost, Currency: st.currency[a.part.currency]}
	}
	a.end += span(took)
	a.work, a.failed = true, e.Outcome == lifecycle.Failed
	a.fact.Kind, a.fact.Body = lifecycle.TaskEnded, e
}

func (st *stage) failure(p *part, why string) *lifecycle.Ended {
	e := &lifecycle.Ended{Outcome: lifecycle.Failed, Error: why}
	if len(p.modes) > 0 {
		e.Mode = p.modes[st.chance.rand.IntN(len(p.modes))]
	}
	return e
}

// assess tells what was foreseen, unless the task reads what was skipped, or its checks are made to fail.
func (st *stage) assess(ef lifecycle.Effect, p *part) *lifecycle.Assessed {
	for _, name := range p.reads {
		if t, ok := st.state.Resolve(ef.Task, name); ok && t.Status == lifecycle.Skipped {
			return &lifecycle.Assessed{Why: "it reads the outputs of " + name + ", which was skipped"}
		}
	}
	a := *p.foreseen
	if ef.Hold {
		a.Demands, a.Denied = p.demands, p.denied
	}
	if len(a.Checks) > 0 && a.Run && st.chance.happens(p.fails) {
		a.Checks = append([]lifecycle.Verdict{{Says: "it was made to fail"}}, a.Checks...)
		a.Mode = st.failure(p, "").Mode
	}
	return &a
}

func (st *stage) begin(a act) {
	i := len(st.acts)
	st.acts = append(st.acts, a)
	st.open[a.fact.Task] = i
	st.push(i)
}

// look finds people to ask when nothing is under way and the plan is not over. It reports whether there is anybody.
func (st *stage) look() bool {
	if st.stalls++; st.stalls > maxStalls {
		return false
	}
	var waiting []string
	for t := range st.state.Tasks() {
		if t.Wait.NeedsPerson() {
			waiting = append(waiting, t.ID)
		}
	}
	for _, id := range waiting {
		st.ask(st.last, id)
	}
	return len(st.queue) > 0
}

// earlier orders the queue.
func (st *stage) earlier(i, j int) bool {
	if a, b := st.acts[i].end, st.acts[j].end; a != b {
		return a < b
	}
	return i < j
}

func (st *stage) push(i int) {
	st.queue = append(st.queue, i)
	for c := len(st.queue) - 1; c > 0; {
		p := (c - 1) / 2
		if !st.earlier(st.queue[c], st.queue[p]) {
			return
		}
		st.queue[c], st.queue[p] = st.queue[p], st.queue[c]
		c = p
	}
}

func (st *stage) pop() int {
	q := st.queue
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(q) {
			break
		}
		if c+1 < len(q) && st.earlier(q[c+1], q[c]) {
			c++
		}
		if !st.earlier(q[c], q[p]) {
			break
		}
		q[p], q[c] = q[c], q[p]
		p = c
	}
	st.queue = q
	return top
}
