package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// The commands about budgets. Their task is the one whose budget is meant; none: the plan's, or that of the day.
const (
	Raise = "raise"
	Deny  = "deny"
)

// spending makes the fact of a command about a budget.
func (r *Run) spending(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	if err := r.engine.mayRaise(r.State.Plan, actor); err != nil {
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

// mayRaise refuses who lacks the roles that policies name for budgets, under approve: the plan's, the project's and the home's.
func (e *Engine) mayRaise(p *plan.Plan, actor string) error {
	policies := []*plan.Policy{p.Policy}
	if e.Policies != nil {
		sources, err := e.Policies()
		if err != nil {
			return err
		}
		for _, s := range sources {
			policies = append(policies, s.Policy)
		}
	}
	has := e.roles(actor)
	for _, pol := range policies {
		if pol == nil || len(pol.Approve[plan.Budgets]) == 0 {
			continue
		}
		wanted := pol.Approve[plan.Budgets]
		if !slices.ContainsFunc(wanted, func(role string) bool { return slices.Contains(has, role) }) {
			return fault.New(fault.Denied, "whether a budget is raised is for %s to say, and %s is not", strings.Join(wanted, " or "), actor).
				Remedy("ask somebody who has the role")
		}
	}
	return nil
}

// RaiseDay raises what all plans of the home may spend today, and lets the plan go on that asked for it. Others that wait for the
// day go on when they are resumed.
func (e *Engine) RaiseDay(ctx context.Context, name, actor string, by budget.Amount, why string) error {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return err
	}
	_, limit, err := e.limits(st.Plan)
	if err != nil {
		return err
	}
	for _, u := range budget.Units {
		if by.Of(u) > 0 && limit.Of(u) == 0 {
			return fault.New(fault.Conflict, "the day has no budget of %s, so none can be raised", u).
				Remedy("see what is limited with: cairn budget %s", name)
		}
	}
	if err := e.mayRaise(st.Plan, actor); err != nil {
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

// Today tells how the budget of the day stands for a plan. Where there is none the limit is zero.
func (e *Engine) Today(ctx context.Context, p *plan.Plan) (r budget.Reading, limit budget.Amount, err error) {
	if _, limit, err = e.limits(p); err != nil || e.Days == nil || limit.IsZero() {
		return r, budget.Amount{}, err
	}
	r, err = e.Days.Day(ctx, e.today())
	return r, limit.Raised(r.Raised), err
}

// forMore says what a task wants that waits for more budget.
func (r *Run) forMore(task string) error {
	return fault.New(fault.Conflict, "task %s waits for a budget to be raised", task).
		Remedy("see which with: cairn budget %s", r.State.Name)
}
