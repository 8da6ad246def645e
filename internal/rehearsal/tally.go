package rehearsal

import (
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// sum is of durations, in nanoseconds; over many rehearsals of a long plan it would not fit a whole number.
type sum float64

// tally adds up what rehearsals come to.
type tally struct {
	*script
	times      int
	finished   []time.Duration // of those that were completed
	cost       [][]int64       // by currency, of all
	failed     int
	unfinished int
	elapsed    sum // of all
	busy       sum // of workers, of all
	workers    int
	short      int // in which a budget ran out
	inTime     int // completed by the deadline
	deadline   span
	hasDue     bool
	parts      []partTally
	people     []personTally
}

// partTally is what was seen of one task.
type partTally struct {
	onPath   int // rehearsals in which it was on the critical path
	path     sum
	attempts int
	bad      int // attempts that failed
	failed   int // rehearsals in which it ended failed
	waited   sum
	stuck    int // rehearsals that ended with it waiting
	held     sum // waited for people, on the critical path
	seen     int // the last rehearsal in which it was counted
}

type personTally struct {
	answers int
	held    sum // on the critical path
}

func newTally(sc *script, times int) *tally {
	t := &tally{script: sc, times: times, finished: make([]time.Duration, 0, times)}
	t.deadline, t.hasDue = sc.due()
	return t
}

// add takes the rehearsal that was just played.
func (t *tally) add(st *stage) {
	for len(t.parts) < len(t.script.parts) {
		t.parts = append(t.parts, partTally{})
	}
	for len(t.people) < len(t.script.people) {
		t.people = append(t.people, personTally{})
	}
	for len(t.cost) < len(t.currency) {
		t.cost = append(t.cost, make([]int64, t.times))
	}
	elapsed := time.Duration(st.now - span(t.Start.Sub(t.midnight)))
	t.elapsed += sum(elapsed)
	t.workers = st.state.Workers
	if st.raised > 0 {
		t.short++
	}
	number := len(t.finished) + t.failed + t.unfinished
	switch st.over() {
	case lifecycle.PlanCompleted:
		t.finished = append(t.finished, elapsed)
		if t.hasDue && st.now <= t.deadline {
			t.inTime++
		}
	case lifecycle.PlanFailed:
		t.failed++
	default:
		t.unfinished++
		t.stuck(st)
	}
	t.count(st, number)
	t.trace(st)
}

// stuck notes what a rehearsal that did not come to an end was waiting for.
func (t *tally) stuck(st *stage) {
	for v := range st.state.Tasks() {
		if !v.Wait.NeedsPerson() {
			continue
		}
		p := &t.parts[st.partOf(v.ID, v.Spec).index]
		p.stuck++
		if g, ok := st.state.Gate(v.ID); ok {
			p.waited += sum(st.now - span(g.Opened.Sub(st.midnight)))
		}
	}
}

// count adds up every act, and which tasks failed for good.
func (t *tally) count(st *stage, number int) {
	var worked time.Duration
	for i := range st.acts {
		a := &st.acts[i]
		if a.void || a.end > st.now {
			continue // it was still under way when the plan ended
		}
		p, took := &t.parts[a.part.index], a.end-a.begin
		switch {
		case a.work:
			worked += time.Duration(took)
			p.attempts++
			t.charge(a.part, number)
		case a.who != nobody:
			t.people[a.who].answers++
		}
		p.waited += sum(a.waited)
		if a.failed {
			p.bad++
		}
	}
	t.busy += sum(worked)
	for _, l := range st.failed {
		p := &t.parts[l.part.index]
		if v, _ := st.state.Task(l.task); v.Status == lifecycle.FailedTask && p.first(number+1) {
			p.failed++
		}
	}
}

// first reports whether a task is counted for the first time in a rehearsal: the items of a fan-out count once.
func (p *partTally) first(number int) bool {
	was := p.seen
	p.seen = number
	return was != number
}

func (t *tally) charge(p *part, number int) {
	if p.cost > 0 {
		t.cost[p.currency][number] += p.cost
	}
}

// trace walks the critical path back from the act that ended last: each act began when its cause ended, so what they took
// adds up to the whole.
func (t *tally) trace(st *stage) {
	on := map[int]bool{}
	for i := st.last; i != nobody; i = st.acts[i].cause {
		a := &st.acts[i]
		took := sum(a.end - a.begin)
		if took == 0 {
			continue
		}
		p := &t.parts[a.part.index]
		p.path += took
		if a.held {
			p.held += took
		}
		if a.who != nobody {
			t.people[a.who].held += took
		}
		if !on[a.part.index] {
			on[a.part.index] = true
			p.onPath++
		}
	}
}
