package offline

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/planner"
)

// part is a clause with the method that does it; a clause that no method fits has none, unless it is the first.
type part struct {
	clause planner.Clause
	method *method
	id     string // of its requirement
}

// assign finds a method for every clause. The first always has one, since it carries the plan.
func (l *library) assign(s *planner.Signals) []part {
	parts := make([]part, len(s.Clauses))
	for i := range s.Clauses {
		c := &s.Clauses[i]
		m, match := l.choose(*c)
		c.Match = match
		if m == nil && i == 0 {
			m = l.find(general)
		}
		if m != nil {
			c.Work = m.ID
		}
		parts[i] = part{*c, m, s.Requirements[i].ID}
	}
	return parts
}

// What a verb and the objects of a method say for it. A verb that means one sort of work says most; one that people use
// for everything, as make and plan are, says less than an object does.
const (
	forVerb   = 3.0
	forCommon = 1.8
	forObject = 2.2
	forMore   = 0.8
	enough    = 2.0
	certain   = 4.2
)

// choose finds the method that fits a clause best, and how well, 0 to 1. Of equals the first by name is taken.
func (l *library) choose(c planner.Clause) (best *method, match float64) {
	said := planner.Words(c.Object)
	top := 0.0
	for _, m := range l.methods {
		score := 0.0
		hits := m.objects.hits(said)
		says := slices.Contains(m.Verbs, c.Verb)
		// What cannot be taken back is never read into a goal that does not ask for it.
		if m.Named && hits == 0 || m.grave && !says {
			continue
		}
		if says {
			score += forVerb
			if slices.Contains(l.terms.Common, c.Verb) {
				score += forCommon - forVerb
			}
		}
		if hits > 0 {
			score += forObject + forMore*float64(min(hits, 3)-1)
		}
		if score > top {
			top, best = score, m
		}
	}
	if top < enough {
		return nil, 0.3
	}
	return best, min(0.5+0.5*top/certain, 1)
}
