package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type budgetOptions struct {
	plan, task string
	raise      []string
	refuse     bool
	day        bool
	why        string

	actor string
	by    budget.Amount
}

func (a *app) budgetCommand() *cobra.Command {
	var o budgetOptions
	c := &cobra.Command{
		Use:   "budget PLAN [TASK] [--day] [--raise UNIT=+N... | --refuse] [--why TEXT]",
		Short: "show what a plan may spend and has spent, and raise it or refuse to",
		Long: `Show what a plan, its tasks and the day may spend and have spent.

A task for which there is no room waits until its budget is raised, or until somebody refuses to: then it fails.
Units are calls, tokens, time and cost.`,
		Example:           "  cairn budget release\n  cairn budget release --raise calls=+10 --why 'two more rounds'\n  cairn budget release build --raise time=+20m --raise 'cost=+1 USD' --why slow\n  cairn budget release --refuse --why 'enough was spent'",
		Args:              takes(1, 2),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if o.plan = args[0]; len(args) == 2 {
				o.task = args[1]
			}
			return a.budget(c.Context(), o)
		},
	}
	c.Flags().StringArrayVar(&o.raise, "raise", nil, "by how much: calls=+10, tokens=+1000, time=+20m, cost='+1 USD'")
	c.Flags().BoolVar(&o.refuse, "refuse", false, "say that it will not be raised: what waits for it fails")
	c.Flags().BoolVar(&o.refuse, "deny", false, "the same")
	c.Flags().Lookup("deny").Hidden = true
	c.Flags().BoolVar(&o.day, "day", false, "the budget that all plans of the home share today")
	addWhy(c, &o.why)
	return c
}

func (a *app) budget(ctx context.Context, o budgetOptions) error {
	if len(o.raise) == 0 && !o.refuse {
		return a.within(ctx, func(_ place, h *House) error { return runBudget(ctx, h.Engine, o, a.out()) })
	}
	if len(o.raise) > 0 && o.refuse {
		return fault.New(fault.Invalid, "a budget cannot be raised and refused at once").Remedy("leave one of --raise and --refuse out")
	}
	if o.day && o.task != "" {
		return fault.New(fault.Invalid, "the day has one budget, and task %s another", o.task).Remedy("leave out --day or the task")
	}
	if err := reason(o.why, "budget"); err != nil {
		return err
	}
	var err error
	if o.by, err = parseRaises(o.raise); err != nil {
		return err
	}
	return a.changing(ctx, func(p place, h *House) error {
		o.actor = p.actor
		return runRaise(ctx, h, o, a.out())
	})
}

// runBudget shows how budgets stand.
func runBudget(ctx context.Context, e *engine.Engine, o budgetOptions, out Out) error {
	st, _, err := e.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	if o.task != "" {
		if _, ok := st.Task(o.task); !ok {
			return noTask(st, o.task)
		}
	}
	bs := view.Budgets(st)
	r, limit, err := e.Today(ctx, st.Plan)
	if err != nil {
		return err
	}
	if !limit.IsZero() {
		bs = append(bs, view.DayBudget(st, r, limit))
	}
	if out.JSON {
		return out.print(bs)
	}
	return view.BudgetText(out, bs)
}

// runRaise raises a budget, or refuses to.
func runRaise(ctx context.Context, h *House, o budgetOptions, out Out) error {
	if o.day {
		did, err := "the budget of today was raised", error(nil)
		if o.refuse {
			did, err = "the budget of today is not raised", h.Engine.DenyDay(ctx, o.plan, o.actor, o.why)
		} else {
			err = h.Engine.RaiseDay(ctx, o.plan, o.actor, o.by, o.why)
		}
		if err != nil {
			return err
		}
		st, _, err := h.Engine.Load(ctx, o.plan)
		if err != nil {
			return err
		}
		return tellDone(out, done{Plan: o.plan, Did: did, State: st.State(), Running: !st.Phase.Over() && held(h, o.plan)})
	}
	c := order{o.plan, o.actor, "budget raised", engine.Command{Name: engine.Raise, Task: o.task, Budget: &o.by, Why: o.why}}
	if o.refuse {
		c.did, c.Name, c.Budget = "budget not raised", engine.Deny, nil
	}
	return runSteer(ctx, h, c, out)
}

// parseRaises reads unit=+N, each unit once.
func parseRaises(texts []string) (sum budget.Amount, err error) {
	for _, text := range texts {
		unit, by, ok := strings.Cut(text, "=")
		by = strings.TrimPrefix(strings.TrimSpace(by), "+")
		u := budget.Unit(strings.TrimSpace(unit))
		bad := fault.New(fault.Invalid, "%q is no raise", text).
			Remedy("write UNIT=+N, such as calls=+10, tokens=+1000, time=+20m or cost='+1 USD'")
		if !ok || sum.Of(u) > 0 {
			return sum, bad
		}
		var n int64
		switch u {
		case budget.Calls, budget.Tokens:
			n, err = strconv.ParseInt(by, 10, 53)
		case budget.Time:
			var d plan.Duration
			d, err = plan.ParseDuration(by)
			n = int64(d)
		case budget.Cost:
			var m plan.Money
			m, err = plan.ParseMoney(by)
			n, sum.Currency = m.Micro, m.Currency
		default:
			return sum, bad
		}
		if err != nil || n <= 0 {
			return sum, bad
		}
		sum = sum.With(u, n)
	}
	return sum, nil
}
