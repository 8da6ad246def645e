package lifecycle

import (
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
)

// withhold keeps an active task from starting until a budget is raised. A person is asked once for each budget, however many
// tasks wait for it.
func (s *State) withhold(i, by int32, unit budget.Unit) {
	p, of := s.purseOf(i), s.purseOf(by)
	p.by, p.unit = by, unit
	s.wait(i, ForBudget)
	if of.asked {
		return
	}
	of.asked = true
	limit := s.limitOf(by)
	name := "plan"
	if by > 0 {
		name = "task:" + s.nodes[by].id
	}
	s.emit(Derived{Kind: BudgetRefused, Task: s.nodes[i].id, Attempt: int(s.nodes[i].attempt)}, refusedBody{Of: name, Short: unit,
		Limit: limit.Raised(of.Raised), Spent: of.Spent.Bound(limit), Held: of.Held.Bound(limit), Want: s.want(i).Bound(limit)})
}

// ranShort withholds a task whose attempt ended because a budget was used up meanwhile. It reports whether one was.
func (s *State) ranShort(i int32, b *Ended) bool {
	if s.law < 2 || b.Short == "" || b.Outcome == Succeeded {
		return false
	}
	for p := i; p >= 0; p = s.nodes[p].parent {
		if s.limitOf(p).Of(b.Short) > 0 {
			s.nodes[i].lastFail = b
			s.withhold(i, p, b.Short)
			return true
		}
	}
	s.nodes[i].lastFail = b
	s.forToday(i, &Read{Short: b.Short}) // nothing else could have been short of it
	return true
}

// spending takes the facts that concern budgets.
func (s *State) spending(f Fact) error {
	if s.law < 2 || s.Phase != PlanRunning && s.Phase != PlanIsPaused {
		return s.refuse(f)
	}
	i, ok := s.ids[f.Task]
	if f.Task != "" && !ok {
		return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, f.Task)
	}
	switch b := f.Body.(type) {
	case *Drawn:
		if s.under(i, f) {
			return s.draw(i, b.Amount)
		}
	case *Read:
		if f.Task == "" {
			s.free(theDay)
			return nil
		}
		if b.Short != "" && s.under(i, f) {
			s.noRoomToday(i, b)
			return nil
		}
	case *Raised:
		return s.raise(i, b)
	case *Denied:
		return s.deny(i, b)
	}
	return fault.New(fault.Conflict, "task %s runs no attempt %d, so %s cannot follow", f.Task, f.Attempt, f.Kind)
}

// under reports whether the attempt that a fact speaks of is under way.
func (s *State) under(i int32, f Fact) bool {
	n := &s.nodes[i]
	return i > 0 && n.status == Running && !s.isGroup(n) && int(n.attempt) == f.Attempt
}

// noRoomToday takes back the start of a task for which the day has no room.
func (s *State) noRoomToday(i int32, b *Read) {
	s.release(i)
	s.pay(i, budget.Amount{}) // nothing was done yet
	s.forToday(i, b)
}

// forToday has a task wait for the budget of the day.
func (s *State) forToday(i int32, b *Read) {
	p := s.purseOf(i)
	p.by, p.unit = theDay, b.Short
	s.wait(i, ForBudget)
	if !s.askedDay {
		s.askedDay = true
		s.emit(Derived{Kind: BudgetRefused, Task: s.nodes[i].id, Attempt: int(s.nodes[i].attempt)},
			refusedBody{Of: "day", Short: b.Short, Limit: b.Limit, Spent: b.Spent, Want: b.Want})
	}
}

// raise puts more into a budget and lets go on who waits for it. Who still does not fit is withheld again.
func (s *State) raise(i int32, b *Raised) error {
	if b.Day != "" {
		s.free(theDay)
		return nil
	}
	limit := s.limitOf(i)
	for _, u := range budget.Units {
		if b.By.Of(u) < 0 || b.By.Of(u) > 0 && limit.Of(u) == 0 {
			return fault.New(fault.Conflict, "%s has no limit of %s, so none can be raised", s.budgetName(i), u).
				Remedy("see what is limited with: cairn budget %s", s.Name)
		}
	}
	if b.By.Cost > 0 && b.By.Currency != limit.Currency {
		return fault.New(fault.Conflict, "%s is in %s, not in %s", s.budgetName(i), limit.Currency, b.By.Currency).
			Remedy("raise it in %s", limit.Currency)
	}
	p := s.purseOf(i)
	p.Raised = p.Raised.Plus(b.By)
	s.free(i)
	return nil
}

// free puts every task that waits for a budget back into the queue.
func (s *State) free(by int32) {
	for i := range s.waitingFor(by) {
		s.stopWaiting(i)
		s.makeReady(i)
	}
}

// deny fails every task that waits for a budget which will not be raised.
func (s *State) deny(i int32, b *Denied) error {
	by := i
	if b.Day != "" {
		by = theDay
	}
	some := false
	for k := range s.waitingFor(by) {
		some = true
		s.stopWaiting(k)
		s.calm(k)
		s.nodes[k].rejected = true
		s.fail(k, &Ended{Outcome: Failed, Error: s.budgetName(by) + " is short of " + string(s.nodes[k].purse.unit) + " and was not raised: " + b.Why, Final: true})
	}
	if !some {
		return fault.New(fault.Conflict, "no task waits for %s to be raised", s.budgetName(by)).
			Remedy("see how it stands with: cairn budget %s", s.Name)
	}
	return nil
}

// waitingFor yields the tasks that a budget withholds, and takes note that nobody is asked any more.
func (s *State) waitingFor(by int32) func(func(int32) bool) {
	if by == theDay {
		s.askedDay = false
	} else {
		s.purseOf(by).asked = false
	}
	return func(yield func(int32) bool) {
		for i := range s.nodes {
			n := &s.nodes[i]
			if n.wait == ForBudget && !n.gone && n.purse != nil && n.purse.by == by && !yield(int32(i)) {
				return
			}
		}
	}
}
