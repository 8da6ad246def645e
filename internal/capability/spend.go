package capability

import (
	"context"

	"github.com/cairn-plan/cairn/internal/budget"
)

// Spender is a Host that lets an attempt make calls of its own, within the budgets of its task, its plan and the day.
type Spender interface {
	// Reserve sets aside what a nested call may spend before it is made, or answers fault.Denied, and the call must not be
	// made. settle is told what it did spend; without, it is charged as it was reserved.
	Reserve(ctx context.Context, want budget.Amount) (settle func(spent budget.Amount), err error)
}

// Reserve asks the host of a call, if it is a Spender.
func (c Call) Reserve(ctx context.Context, want budget.Amount) (settle func(spent budget.Amount), err error) {
	if s, ok := c.Host.(Spender); ok {
		return s.Reserve(ctx, want)
	}
	return func(budget.Amount) {}, nil
}
