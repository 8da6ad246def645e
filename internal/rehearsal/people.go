package rehearsal

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// crew is who answers to a name that a plan uses.
type crew struct {
	Role
	who []int // their places among all people
}

// crew finds who answers to a name. Where the team does not know it, as many are made up as are wanted.
func (sc *script) crew(name string, wanted int) *crew {
	if name == "" {
		name = Anyone
	}
	if c := sc.crews[name]; c != nil && len(c.who) >= wanted {
		return c
	}
	r, known := sc.Team.find(name)
	madeUp := !known || sc.Team.has(name) && len(sc.Team[name].People) == 0
	for n := 2; n <= wanted && madeUp; n++ {
		r.People = append(r.People, r.People[0]+" "+strconv.Itoa(n))
	}
	c := &crew{Role: r}
	for _, who := range r.People {
		c.who = append(c.who, sc.person(who, name))
	}
	sc.crews[name] = c
	return c
}

// person finds the place of somebody, with all of their roles.
func (sc *script) person(who, role string) int {
	i := slices.Index(sc.people, who)
	if i < 0 {
		i = len(sc.people)
		sc.people, sc.roles = append(sc.people, who), append(sc.roles, nil)
		for _, name := range slices.Sorted(maps.Keys(sc.Team)) {
			if slices.Contains(sc.Team[name].People, who) {
				sc.roles[i] = append(sc.roles[i], name)
			}
		}
	}
	if !slices.Contains(sc.roles[i], role) {
		sc.roles[i] = append(sc.roles[i], role)
	}
	return i
}

// ask puts what a task waits for before people: those who may decide, the one who judges, or whoever of the owner's crew
// is free first to do it.
func (st *stage) ask(cause int, id string) {
	t, ok := st.state.Task(id)
	if !ok || !t.Wait.NeedsPerson() {
		return
	}
	p := st.partOf(id, t.Spec)
	a := act{part: p, begin: st.now, cause: cause, held: true, fact: lifecycle.Fact{Task: id, Attempt: t.Attempt}}
	switch t.Wait {
	case lifecycle.ForPerson, lifecycle.ForUnknown:
		e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Criteria: p.verdicts}
		if a.failed = st.chance.happens(p.fails); a.failed {
			e = st.failure(p, "it was made to fail")
		}
		a.who, a.end = st.do(p)
		a.fact.Kind, a.fact.Body = lifecycle.TaskEnded, e
		st.answer(a)
	case lifecycle.ForJudge:
		a.who, a.end = st.first(p.owner)
		yes := st.chance.happens(p.owner.Approve)
		a.fact.Kind, a.fact.Body = lifecycle.TaskJudged, &lifecycle.Judged{Accepted: yes, Why: reason(yes)}
		st.answer(a)
	case lifecycle.ForDecision:
		st.poll(a)
	}
}

func (st *stage) answer(a act) {
	a.fact.Actor = "person:" + st.people[a.who]
	st.begin(a)
}

func reason(yes bool) string {
	if yes {
		return "rehearsed"
	}
	return "rehearsed: the answer was no"
}

// poll asks everybody who may decide and was not asked yet. Each answers in their own time; the law counts the votes, and
// has no use for those that come after the decision.
func (st *stage) poll(a act) {
	g, _ := st.state.Gate(a.fact.Task)
	var crews []*crew
	for _, d := range g.Demands {
		roles := append(slices.Clone(d.Roles), d.Escalate[:min(g.Round, len(d.Escalate))]...)
		if len(roles) == 0 {
			roles = []string{a.part.spec.Owner}
		}
		for _, role := range roles {
			crews = append(crews, st.crew(role, max(1, d.Quorum)))
		}
	}
	if len(crews) == 0 {
		crews = append(crews, a.part.owner)
	}
	asked := st.asked[a.fact.Task]
	for _, c := range crews {
		for _, who := range c.who {
			if slices.Contains(asked, who) {
				continue
			}
			asked = append(asked, who)
			yes := len(g.Failing) == 0 && st.chance.happens(c.Approve)
			a.who, a.end = who, st.hears(c)
			a.fact.Kind, a.fact.Body = lifecycle.GateDecided, &lifecycle.Decided{Approved: yes, Why: reason(yes), Roles: st.roles[who]}
			st.answer(a)
		}
	}
	st.asked[a.fact.Task] = asked
}

// first is whoever of a crew answers first.
func (st *stage) first(c *crew) (who int, at span) {
	for k, i := range c.who {
		if heard := st.hears(c); k == 0 || heard < at {
			who, at = i, heard
		}
	}
	return who, at
}

// do gives a task to the one of its owner's crew who is free first: it begins when it is heard of and the hands are free,
// and ends after as much working time as it takes.
func (st *stage) do(p *part) (who int, end span) {
	for len(st.free) < len(st.people) { // a task that the law made may bring somebody new
		st.free = append(st.free, 0)
	}
	c := p.owner
	who = c.who[0]
	for _, other := range c.who[1:] {
		if st.free[other] < st.free[who] {
			who = other
		}
	}
	begin := max(st.hears(c), st.free[who])
	end = c.after(begin, span(p.takes.draw(st.chance)), st.weekday())
	st.free[who] = end
	return who, end
}

// hears is when one person of a crew turns to something new.
func (st *stage) hears(c *crew) span {
	return c.after(st.now, span(around(c.Response, spreadPeople).draw(st.chance)), st.weekday())
}

func (st *stage) weekday() time.Weekday { return st.midnight.Weekday() }
