package lifecycle

import (
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// purse is what a task took of its budget, with all that is inside it. The plan's own is that of node 0.
type purse struct {
	budget.Purse
	lien  budget.Amount // what the attempt under way has reserved
	drawn budget.Amount // what of that it has accounted for, by nested calls
	by    int32         // whose budget withholds the task: a node, or theDay
	unit  budget.Unit   // what that is short of
	asked bool          // somebody was asked to raise this budget
}

// theDay stands for the budget of the day, which all plans of a home share; it is kept outside of any journal.
const theDay = -1

// counts reports whether an attempt of a task is a call that is paid for.
func (s *State) counts(t *plan.Task) bool {
	return s.law >= 2 && t.Uses != "" && t.Uses != "noop" && t.Kind != plan.Gate
}

// limitOf is what a task, or the plan, may spend. A fan-out's budget is for all of its items together.
func (s *State) limitOf(i int32) budget.Amount {
	n := &s.nodes[i]
	if n.item > 0 {
		return budget.Amount{}
	}
	if i > 0 {
		return AmountOf(n.spec.Budget)
	}
	if s.Plan.Policy == nil {
		return s.house
	}
	return AmountOf(s.Plan.Policy.Budget).Strictest(s.house)
}

// inCurrency drops money of another currency than a budget is in: it counts its own only.
func inCurrency(limit, a budget.Amount) budget.Amount {
	if limit.Currency != "" && a.Currency != limit.Currency {
		a.Cost, a.Currency = 0, ""
	}
	return a
}

// AmountOf is a budget of the plan language as an amount.
func AmountOf(b *plan.Budget) budget.Amount {
	if b == nil {
		return budget.Amount{}
	}
	return budget.Amount{Time: b.Time.D(), Cost: b.Cost.Micro, Currency: b.Cost.Currency, Calls: int64(b.Calls), Tokens: int64(b.Tokens)}
}

// metered reports whether some budget bounds a task inside a group. The start of such a task is recorded even where it is
// pure: what is paid for is on disk before it is done.
func (s *State) metered(group int32, t *plan.Task) bool {
	if !s.counts(t) {
		return false
	}
	bounded := !AmountOf(t.Budget).IsZero()
	for p := group; p >= 0 && !bounded; p = s.nodes[p].parent {
		bounded = !s.limitOf(p).IsZero()
	}
	return bounded
}

func (s *State) purseOf(i int32) *purse {
	if s.nodes[i].purse == nil {
		s.nodes[i].purse = &purse{}
	}
	return s.nodes[i].purse
}

// want is what an attempt of a task reserves: its call, what its capability is known to spend, and where the task has a
// budget of its own what is left of that. Of time, everything that is paid for wants at least a moment.
func (s *State) want(i int32) budget.Amount {
	n := &s.nodes[i]
	if !s.counts(n.spec) {
		return budget.Amount{}
	}
	w := s.classes[n.spec.Uses].Spends
	w.Calls++
	if n.spec.Estimate > 0 {
		w.Time = n.spec.Estimate.D()
	}
	w.Time = max(w.Time, 1)
	own, among := i, int64(1)
	if n.item > 0 {
		own = n.parent
		among = int64(len(s.nodes[own].children))
	}
	limit := s.limitOf(own)
	p := s.purseOf(own)
	left := limit.Raised(p.Raised).Minus(p.Spent)
	for _, u := range []budget.Unit{budget.Cost, budget.Tokens, budget.Time} {
		switch top := limit.Of(u); {
		case top == 0:
		case among == 1:
			w = w.With(u, max(left.Of(u), 1))
		case w.Of(u) <= 1:
			w = w.With(u, (top+among-1)/among)
		}
	}
	if w.Cost > 0 && w.Currency == "" {
		w.Currency = limit.Currency
	}
	return w
}

// room is how long an attempt may take before a budget of time is used up; 0: as long as it likes.
func (s *State) room(i int32) (least time.Duration) {
	if !s.counts(s.nodes[i].spec) {
		return 0
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		if limit := s.limitOf(p); limit.Time > 0 {
			left := max(limit.Raised(s.purseOf(p).Raised).Time-s.purseOf(p).Spent.Time, 1)
			if least == 0 || left < least {
				least = left
			}
		}
	}
	return least
}

// askPurses asks every budget around a task. It answers with the strictest, whose it is, and what it is short of.
func (s *State) askPurses(i int32, want budget.Amount) (worst budget.Answer, by int32, unit budget.Unit) {
	if want.IsZero() {
		return budget.Yes, 0, ""
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		if limit := s.limitOf(p); !limit.IsZero() {
			if a, u := s.purseOf(p).Ask(limit, inCurrency(limit, want)); a > worst {
				worst, by, unit = a, p, u
			}
		}
	}
	return worst, by, unit
}

// next finds the task to start: one that stood aside and fits by now, or the first of the queue. What no budget allows is
// withheld; what may fit when others settle stands aside.
func (s *State) next() (int32, bool) {
	for len(s.aside) > 0 {
		i := s.aside[0]
		if s.nodes[i].status == Ready {
			answer, by, unit := s.askPurses(i, s.want(i))
			if answer == budget.Later {
				break
			}
			if answer == budget.Never {
				s.withhold(i, by, unit)
			} else if s.takeLocks(i) {
				s.aside = s.aside[1:]
				return i, true
			}
		}
		s.aside = s.aside[1:]
	}
	for len(s.ready) > 0 {
		i := s.pop()
		if s.nodes[i].status != Ready {
			continue
		}
		switch answer, by, unit := s.askPurses(i, s.want(i)); answer {
		case budget.Later:
			s.aside = append(s.aside, i)
		case budget.Never:
			s.withhold(i, by, unit)
		default:
			if s.takeLocks(i) {
				return i, true
			}
		}
	}
	return 0, false
}

// reserve sets aside what an attempt that starts now may spend, in every purse around it.
func (s *State) reserve(i int32) {
	want := s.want(i)
	if want.IsZero() {
		return
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		s.purseOf(p).Reserve(inCurrency(s.limitOf(p), want))
	}
	s.purseOf(i).lien, s.purseOf(i).drawn = want, budget.Amount{Calls: 1}
	s.tell(BudgetReserved, i, want)
}

// tell records figures where a budget bounds them.
func (s *State) tell(k journal.Kind, i int32, a budget.Amount) {
	var limits budget.Amount
	for p := i; p >= 0; p = s.nodes[p].parent {
		limits = limits.Most(s.limitOf(p))
	}
	if !limits.IsZero() {
		s.emit(Derived{Kind: k, Task: s.nodes[i].id, Attempt: int(s.nodes[i].attempt)}, a.Bound(limits))
	}
}

// pay settles what an attempt reserved by what it spent.
func (s *State) pay(i int32, spent budget.Amount) {
	if !s.counts(s.nodes[i].spec) {
		return
	}
	lien := s.purseOf(i).lien
	if spent.Currency != "" && lien.Currency != "" && spent.Currency != lien.Currency {
		spent.Cost, spent.Currency = lien.Cost, lien.Currency // what cannot be compared is charged as it was foreseen
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		limit := s.limitOf(p)
		s.purseOf(p).Settle(inCurrency(limit, lien), inCurrency(limit, spent))
	}
	s.purseOf(i).lien = budget.Amount{}
	s.tell(BudgetSettled, i, spent)
}

// attempted takes the outcome of an attempt under way.
func (s *State) attempted(i int32, b *Ended) {
	s.release(i)
	s.pay(i, s.bill(i, b))
	if !s.ranShort(i, b) {
		s.ended(i, b)
	}
}

// cutOff takes that an attempt under way was cut off. What it reserved is charged in full.
func (s *State) cutOff(i int32, b *Interrupted) {
	s.release(i)
	s.pay(i, s.lien(i))
	s.interrupted(i, b)
}

// bill is what an attempt with an outcome spent. One whose outcome was only found out later is charged in full.
func (s *State) bill(i int32, b *Ended) budget.Amount {
	if b.Probed {
		return s.lien(i)
	}
	spent := budget.Amount{Calls: 1}
	if b.Spent != nil {
		spent = spent.Plus(*b.Spent)
	}
	spent.Time = b.Took
	return spent
}

func (s *State) lien(i int32) budget.Amount {
	if p := s.nodes[i].purse; p != nil {
		return p.lien
	}
	return budget.Amount{}
}

// forfeit charges in full whatever is under way, because nobody will wait for it, and forgets who was asked for more.
func (s *State) forfeit() {
	s.aside = nil
	for i := range s.nodes {
		if p := s.nodes[i].purse; p != nil {
			if !p.lien.IsZero() {
				lien := p.lien
				p.lien = budget.Amount{}
				for q := int32(i); q >= 0; q = s.nodes[q].parent {
					s.purseOf(q).Settle(inCurrency(s.limitOf(q), lien), inCurrency(s.limitOf(q), lien))
				}
			}
			p.asked = false
		}
	}
	s.askedDay = false
}

// draw lets an attempt under way account for a nested call: from what it has reserved, else by reserving more. What does not fit
// now is refused: an attempt does not stand aside.
func (s *State) draw(i int32, b budget.Amount) error {
	if !s.counts(s.nodes[i].spec) {
		return nil
	}
	drawn := s.purseOf(i).drawn.Plus(b)
	more := drawn.Minus(s.purseOf(i).lien)
	if answer, by, unit := s.askPurses(i, more); answer != budget.Yes {
		return fault.Wrap(fault.Denied, Shortage(unit), "%s", s.budgetName(by)).
			Remedy("raise it with: cairn budget %s%s --raise %s=+N --why TEXT", s.Name, s.budgetArg(by), unit)
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		s.purseOf(p).Reserve(inCurrency(s.limitOf(p), more))
	}
	s.purseOf(i).lien, s.purseOf(i).drawn = s.purseOf(i).lien.Plus(more), drawn
	return nil
}

func (s *State) budgetName(by int32) string {
	switch by {
	case theDay:
		return "the budget of the day"
	case 0:
		return "the budget of plan " + s.Name
	}
	return "the budget of task " + s.nodes[by].id
}

func (s *State) budgetArg(by int32) string {
	if by <= 0 {
		return ""
	}
	return " " + s.nodes[by].id
}
