package lifecycle

import (
	"iter"

	"github.com/cairn-plan/cairn/internal/budget"
)

// Account is how a budget stands, or what was spent where there is none.
type Account struct {
	Limit   budget.Amount // raises included; zero fields have none
	Spent   budget.Amount
	Held    budget.Amount // reserved by attempts under way
	Left    budget.Amount // of what is limited
	Raised  budget.Amount
	Waiting int // tasks that wait for it to be raised
	Short   budget.Unit
}

// Account tells how the budget of a task stands; of the plan, when the task is empty.
func (s *State) Account(task string) (Account, bool) {
	i, ok := s.ids[task]
	if task != "" && !ok || len(s.nodes) == 0 {
		return Account{}, false
	}
	limit := s.limitOf(i)
	a := Account{Limit: limit}
	if p := s.nodes[i].purse; p != nil {
		a = Account{Limit: limit.Raised(p.Raised), Spent: p.Spent, Held: p.Held, Raised: p.Raised, Left: p.Left(limit)}
	} else {
		a.Left = limit
	}
	for w := range s.Withheld() {
		if w.Of == task && !w.Day {
			a.Waiting++
			a.Short = w.Short
		}
	}
	return a, true
}

// Withheld is a task that waits for a budget to be raised.
type Withheld struct {
	Task  string
	Of    string // the task whose budget it is; empty: the plan's, or the day's
	Day   bool
	Short budget.Unit
}

// Withheld yields the tasks that wait for a budget to be raised.
func (s *State) Withheld() iter.Seq[Withheld] {
	return func(yield func(Withheld) bool) {
		for i := range s.nodes {
			n := &s.nodes[i]
			if n.wait != ForBudget || n.gone || n.purse == nil {
				continue
			}
			w := Withheld{Task: n.id, Short: n.purse.unit, Day: n.purse.by == theDay}
			if n.purse.by > 0 {
				w.Of = s.nodes[n.purse.by].id
			}
			if !yield(w) {
				return
			}
		}
	}
}

// Denied reports whether a task failed because somebody said no.
func (s *State) Denied(task string) bool {
	i, ok := s.ids[task]
	return ok && s.nodes[i].rejected
}
