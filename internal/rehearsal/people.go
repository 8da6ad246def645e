package rehearsal

import (
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// ask puts something before the people of a task: a gate or a judgement is decided when enough of them have answered; what
// is to be done is taken on by whoever is free first.
func (st *stage) ask(cause int, id string) {
	t, ok := st.state.Task(id)
	if !ok || !t.Wait.NeedsPerson() {
		return
	}
	p := st.partOf(id, t.Spec)
	for len(st.free) < len(st.people) { // a task that the law made may bring somebody new
		st.free = append(st.free, 0)
	}
	a := act{part: p, begin: st.now, cause: cause}
	switch t.Wait {
	case lifecycle.ForPerson, lifecycle.ForUnknown:
		e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Criteria: p.verdicts}
		if st.chance.happens(p.fails) {
			e = st.failure(p, "it was made to fail")
			a.failed = true
		}
		a.who, a.end = st.do(p)
		a.fact = answered(lifecycle.TaskEnded, st.people[a.who], e)
	case lifecycle.ForJudge:
		var yes bool
		a.who, a.end, yes = st.decide(p, 1)
		a.fact = answered(lifecycle.TaskJudged, st.people[a.who], &lifecycle.Judged{Accepted: yes, Why: reason(yes)})
	default:
		var yes bool
		a.who, a.end, yes = st.decide(p, p.quorum)
		a.fact = answered(lifecycle.GateDecided, st.people[a.who], &lifecycle.Decided{Approved: yes, Why: reason(yes)})
	}
	a.fact.Task, a.fact.Attempt = id, t.Attempt
	st.begin(a)
}

func reason(yes bool) string {
	if yes {
		return "rehearsed"
	}
	return "rehearsed: the answer was no"
}

// answer is one person's.
type answer struct {
	who int
	at  span
	yes bool
}

// decide draws when a decision falls and how: with the first no, or when enough have said yes. Where a role has fewer people
// than are wanted, all of them must agree.
func (st *stage) decide(p *part, quorum int) (who int, at span, yes bool) {
	answers := make([]answer, 0, 4)
	for _, who := range p.asks {
		answers = append(answers, answer{who, st.hears(p), st.chance.happens(p.role.Approve)})
	}
	slices.SortStableFunc(answers, func(a, b answer) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	last := answers[min(quorum, len(answers))-1]
	for _, a := range answers {
		if a.at > last.at {
			break
		}
		if !a.yes {
			return a.who, a.at, false
		}
	}
	return last.who, last.at, true
}

// do gives a task to the one who is free first: it begins when it is heard of and the hands are free, and ends after as
// much working time as it takes.
func (st *stage) do(p *part) (who int, end span) {
	who = p.asks[0]
	for _, other := range p.asks[1:] {
		if st.free[other] < st.free[who] {
			who = other
		}
	}
	begin := max(st.hears(p), st.free[who])
	end = p.role.after(begin, span(p.takes.draw(st.chance)), st.weekday())
	st.free[who] = end
	return who, end
}

// hears is when one person of a role turns to something new.
func (st *stage) hears(p *part) span {
	r := around(p.role.Response, spreadPeople)
	return p.role.after(st.now, span(r.draw(st.chance)), st.weekday())
}

func (st *stage) weekday() time.Weekday { return st.midnight.Weekday() }
