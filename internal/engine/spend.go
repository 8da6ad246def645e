package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// today names the day by which a home counts its spending: the calendar day of this machine.
func (e *Engine) today() string { return e.Now().Local().Format(time.DateOnly) }

// limits are what the policies of the project, the home and the plan let a plan spend, and all plans in a day: the strictest of
// them. The plan's own budget is not among the first, the law knows it.
func (e *Engine) limits(p *plan.Plan) (house, day budget.Amount, err error) {
	if p != nil && p.Policy != nil && p.Policy.Budget != nil {
		day = lifecycle.AmountOf(p.Policy.Budget.Day)
	}
	if e.Policies == nil {
		return house, day, nil
	}
	sources, err := e.Policies()
	for _, s := range sources {
		if s.Policy != nil && s.Policy.Budget != nil {
			house = house.Strictest(lifecycle.AmountOf(s.Policy.Budget))
			day = day.Strictest(lifecycle.AmountOf(s.Policy.Budget.Day))
		}
	}
	return house, day, err
}

// inDay drops what a day cannot count: money of another currency.
func (r *Run) inDay(a budget.Amount) budget.Amount {
	if a.Currency != r.day.Currency {
		a.Cost, a.Currency = 0, ""
	}
	return a
}

// dayKey names what an attempt, or its nth nested call, has reserved of the day. Each session has keys of its own: an attempt
// that is done again after a crash pays again, and what the dead one had reserved stays charged.
func (r *Run) dayKey(w Work, nested int) string {
	return r.State.Name + " " + w.Task + " " + itoa(w.Execution) + "." + itoa(w.Attempt) + "." + itoa(w.epoch) + "." + itoa(nested)
}

// counted reports whether the budget of the day has a say in a piece of work.
func (r *Run) counted(w Work) bool {
	return r.engine.Days != nil && !r.day.IsZero() && !w.Want.IsZero()
}

// admit asks the day for what an attempt wants. Where there is no room the fact says so, and nothing is done.
func (r *Run) admit(ctx context.Context, w Work, want budget.Amount, nested int) (*lifecycle.Read, error) {
	if !r.counted(w) {
		return nil, nil
	}
	e := r.engine
	day := e.today()
	want = r.inDay(want)
	got, err := e.Days.Reserve(ctx, day, r.dayKey(w, nested), want, r.day)
	if err != nil || got.Short == "" {
		return nil, err
	}
	return &lifecycle.Read{Day: day, Short: got.Short, Limit: r.day.Raised(got.Raised),
		Spent: got.Spent.Plus(got.Held).Bound(r.day), Want: want.Bound(r.day)}, nil
}

// dismiss tells the day what became of a reservation. What cannot be told stays charged as it was reserved.
func (r *Run) dismiss(ctx context.Context, w Work, spent budget.Amount, nested int) {
	if r.counted(w) && !errors.Is(context.Cause(ctx), ErrStopped) {
		_ = r.engine.Days.Settle(context.WithoutCancel(ctx), r.dayKey(w, nested), r.inDay(spent))
	}
}

// tab is what the nested calls of one attempt spend; several may be made at once.
type tab struct {
	mu    sync.Mutex
	calls int
	open  map[int]budget.Amount // not settled
	spent budget.Amount
	short budget.Unit // what one was refused for
}

// Reserve implements capability.Spender: the day has a say, and then the plan's journal.
func (h *host) Reserve(ctx context.Context, want budget.Amount) (func(budget.Amount), error) {
	want.Time = 0 // the attempt's own time passes meanwhile
	h.tab.mu.Lock()
	h.tab.calls++
	n := h.tab.calls
	h.tab.mu.Unlock()
	full, err := h.run.admit(ctx, h.work, want, n)
	if err != nil {
		return nil, err
	}
	if full != nil {
		return nil, h.refused(fault.New(fault.Denied, "the budget of the day is short of %s", full.Short), full.Short)
	}
	if err := h.draw(want); err != nil {
		h.run.dismiss(ctx, h.work, budget.Amount{}, n)
		var short lifecycle.Shortage
		errors.As(err, &short)
		return nil, h.refused(err, budget.Unit(short))
	}
	h.tab.mu.Lock()
	defer h.tab.mu.Unlock()
	if h.tab.open == nil {
		h.tab.open = map[int]budget.Amount{}
	}
	h.tab.open[n] = want
	return func(spent budget.Amount) { h.settle(ctx, n, spent) }, nil
}

// draw asks the budgets of the task and of what is around it. Where there are none, nothing has to be recorded before the end.
func (h *host) draw(want budget.Amount) error {
	if !h.work.Metered {
		return nil
	}
	return h.rep.Report(h.fact(&lifecycle.Drawn{Amount: want}, lifecycle.Fact{Kind: lifecycle.BudgetDrawn}))
}

func (h *host) refused(err error, unit budget.Unit) error {
	h.tab.mu.Lock()
	defer h.tab.mu.Unlock()
	h.tab.short = unit
	return err
}

func (h *host) settle(ctx context.Context, n int, spent budget.Amount) {
	h.tab.mu.Lock()
	_, open := h.tab.open[n]
	if open {
		delete(h.tab.open, n)
		spent.Time = 0
		h.tab.spent = h.tab.spent.Plus(spent)
	}
	h.tab.mu.Unlock()
	if open {
		h.run.dismiss(ctx, h.work, spent, n)
	}
}

// account writes down what an attempt spent beside its own call and time, and whether it ended for want of more.
func (h *host) account(ctx context.Context, e *lifecycle.Ended, res capability.Result, cause error) {
	for n, reserved := range h.tab.open { // nobody is left who would settle it
		h.settle(ctx, n, reserved)
	}
	own := res.Spent
	own.Time = 0
	if spent := own.Plus(h.tab.spent); !spent.IsZero() {
		e.Spent = &spent
	}
	if e.Short = h.tab.short; errors.Is(cause, errOutOfTime) {
		e.Short = budget.Time
	}
}

var errOutOfTime = errors.New("a budget of time is used up")

// within ends an attempt when a budget of time is used up.
func (h *host) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if h.work.Room <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, h.work.Room, fault.Wrap(fault.Failed, errOutOfTime, "ended after %s", h.work.Room.Round(time.Millisecond)))
}

// reread lets tasks go on that wait for the budget of a day which has room by now: it is another day, or somebody raised it.
func (r *Run) reread(ctx context.Context) ([]Work, error) {
	for w := range r.State.Withheld() {
		if !w.Day {
			continue
		}
		e, day := r.engine, r.engine.today()
		read := &lifecycle.Read{Day: day}
		if e.Days != nil {
			got, err := e.Days.Day(ctx, day)
			if err != nil {
				return nil, err
			}
			p := budget.Purse{Spent: got.Spent, Held: got.Held, Raised: got.Raised}
			if answer, _ := p.Ask(r.day, budget.Amount{}.With(w.Short, 1)); answer != budget.Yes {
				return nil, nil
			}
			read.Limit, read.Spent = r.day.Raised(got.Raised), got.Spent.Plus(got.Held).Bound(r.day)
		}
		work, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.BudgetRead, Body: read})
		return work, err
	}
	return nil, nil
}
