package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func (a *app) resumeCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:               "resume [PLAN] [--yes] [--until TASK] [--workers N] [--plain]",
		Short:             "go on with a plan that was interrupted, paused, answered or failed",
		Example:           "  cairn resume\n  cairn resume first --yes",
		Args:              takes(0, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.within(c.Context(), func(p place, h *House) error {
				if len(args) == 1 {
					return a.goOn(c.Context(), h, p, args[0], o)
				}
				name, err := onePlan(c.Context(), h.Engine)
				if err != nil {
					return err
				}
				return a.goOn(c.Context(), h, p, name, o)
			})
		},
	}
	o.addFlags(c, a)
	return c
}

// goOn takes a plan up where it stands: one that failed tries again what failed, and one that another process
// holds is only told to go on.
func (a *app) goOn(ctx context.Context, h *House, p place, name string, o runOptions) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	if st.Undoing() {
		return a.rollback(ctx, h, p, name, rollbackOptions{})
	}
	switch st.Phase {
	case lifecycle.PlanCompleted:
		if a.json {
			return conclude(st, "", a.out())
		}
		fmt.Fprintf(a.io.Out, "plan %s is completed already\n", name)
		return nil
	case lifecycle.PlanAbandoned:
		return fault.New(fault.Conflict, "plan %s was cancelled", name).Remedy("run its file again: cairn run FILE")
	case lifecycle.PlanFailed:
		if over, err := a.retryAll(ctx, h, p, name); over || err != nil {
			return err
		}
	case lifecycle.PlanIsPaused:
		if held(h, name) {
			if err := h.Engine.Do(ctx, name, p.actor, engine.Command{Name: engine.Resume}); err != nil {
				return err
			}
			return tellDone(a.out(), done{Plan: name, Did: "resumed", Running: true})
		}
	}
	return a.drive(ctx, h, p, name, o)
}

// retryAll tries again what failed. What was refused is not asked again, so the plan may be over all the same.
func (a *app) retryAll(ctx context.Context, h *House, p place, name string) (over bool, err error) {
	if err := h.Engine.Do(ctx, name, p.actor, engine.Command{Name: engine.Retry, Why: "resumed"}); err != nil {
		return false, err
	}
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil || !st.Phase.Over() {
		return false, err
	}
	return true, conclude(st, "", a.out())
}

// held reports whether a process carries a plan out at this moment.
func held(h *House, name string) bool {
	release, err := h.Engine.Holder.Hold(name)
	if err != nil {
		return fault.Is(err, fault.Conflict)
	}
	release()
	return false
}
