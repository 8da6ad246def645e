package lifecycle

import (
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/journal"
)

// The kinds of record that tell of spending.
const (
	BudgetReserved journal.Kind = "budget.reserved" // derived: what an attempt may spend was set aside
	BudgetSettled  journal.Kind = "budget.settled"  // derived: what it did spend
	BudgetRefused  journal.Kind = "budget.refused"  // derived: no attempt before somebody raises a budget
	BudgetDrawn    journal.Kind = "budget.drawn"    // fact: an attempt under way reserved more
	BudgetRead     journal.Kind = "budget.read"     // fact: how the day stands, which other plans spend from too
	BudgetRaised   journal.Kind = "budget.raised"   // fact: somebody raised a budget
	BudgetDenied   journal.Kind = "budget.denied"   // fact: somebody said that it will not be raised
)

// Drawn is the body of budget.drawn.
type Drawn struct{ budget.Amount }

// Read is the body of budget.read. With a task it says that the day has no room for its attempt; without, that tasks which
// wait for the day may ask again.
type Read struct {
	Day   string        `json:"day"`
	Limit budget.Amount `json:"limit,omitzero"` // raises included
	Spent budget.Amount `json:"spent,omitzero"` // by all plans, what is reserved included
	Want  budget.Amount `json:"want,omitzero"`
	Short budget.Unit   `json:"short,omitempty"`
}

// Raised is the body of budget.raised. Its task is the one whose budget it is; none: the plan's, or that of a day.
type Raised struct {
	By  budget.Amount `json:"by"`
	Why string        `json:"why,omitempty"`
	Day string        `json:"day,omitempty"`
}

// Denied is the body of budget.denied, which is addressed likewise.
type Denied struct {
	Why string `json:"why,omitempty"`
	Day string `json:"day,omitempty"`
}

// Shortage is why an attempt may not spend more: the unit that is short.
type Shortage budget.Unit

func (s Shortage) Error() string { return "short of " + string(s) }

// refusedBody is the body of budget.refused: whose budget, and how it stands.
type refusedBody struct {
	Of    string        `json:"of"` // plan, day, or task:ID
	Short budget.Unit   `json:"short"`
	Limit budget.Amount `json:"limit"`
	Spent budget.Amount `json:"spent"`
	Held  budget.Amount `json:"held,omitzero"`
	Want  budget.Amount `json:"want"`
}
