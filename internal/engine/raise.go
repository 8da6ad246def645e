package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// The commands about budgets. Their task is the one whose budget is meant; none: the plan's, or that of the day.
const (
	Raise = "raise"
	Deny  = "deny"
)

// spending makes the fact of a command about a budget.
func (r *Run) spending(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	if err := r.mayRaise(actor); err != nil {
		return f, err
	}
	if c.Name == Deny {
		f.Kind, f.Body = lifecycle.BudgetDenied, &lifecycle.Denied{Why: c.Why, Day: c.Day}
		return f, nil
	}
	if c.Budget == nil || c.Budget.IsZero() {
		return f, fault.New(fault.Invalid, "a raise by nothing").Remedy("say by how much, such as calls=+10")
	}
	f.Kind, f.Body = lifecycle.BudgetRaised, &lifecycle.Raised{By: *c.Budget, Why: c.Why, Day: c.Day}
	return f, nil
}

// mayRaise refuses who has none of the roles that policy.approve names for budgets.
func (r *Run) mayRaise(actor string) error {
	if r.State.Plan.Policy == nil {
		return nil
	}
	wanted := r.State.Plan.Policy.Approve["budget"]
	if len(wanted) == 0 {
		return nil
	}
	for _, role := range r.engine.roles(actor) {
		if slices.Contains(wanted, role) {
			return nil
		}
	}
	return fault.New(fault.Denied, "a budget of plan %s is raised or refused by %s, and %s is not", r.State.Name, strings.Join(wanted, " or "), actor).
		Remedy("ask somebody who has the role")
}

// RaiseDay raises what all plans of the home may spend today, and lets the plan go on that asked for it. Others that wait for the
// day go on when they are resumed.
func (e *Engine) RaiseDay(ctx context.Context, name, actor string, by budget.Amount, why string) error {
	if e.Days == nil || e.DayLimit.IsZero() {
		return fault.New(fault.Conflict, "there is no budget of the day here").Remedy("set one in cairn.yaml: budget: {day: {calls: 100}}")
	}
	for _, u := range budget.Units {
		if by.Of(u) > 0 && e.DayLimit.Of(u) == 0 {
			return fault.New(fault.Conflict, "the budget of the day has no limit of %s, so none can be raised", u).
				Remedy("see what is limited with: cairn budget %s", name)
		}
	}
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return err
	}
	if err := (&Run{engine: e, State: st}).mayRaise(actor); err != nil {
		return err
	}
	day := e.today()
	if err := e.Days.Raise(ctx, day, by); err != nil {
		return err
	}
	return e.Do(ctx, name, actor, Command{Name: Raise, Budget: &by, Day: day, Why: why})
}

// DenyDay says that the day is not raised: what waits for it in the plan fails.
func (e *Engine) DenyDay(ctx context.Context, name, actor, why string) error {
	return e.Do(ctx, name, actor, Command{Name: Deny, Day: e.today(), Why: why})
}

// Today tells how the budget of the day stands; ok is false where there is none.
func (e *Engine) Today(ctx context.Context) (r budget.Reading, limit budget.Amount, ok bool, err error) {
	if e.Days == nil || e.DayLimit.IsZero() {
		return r, limit, false, nil
	}
	r, err = e.Days.Day(ctx, e.today())
	return r, e.DayLimit.Raised(r.Raised), true, err
}
