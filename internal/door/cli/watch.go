package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func (a *app) watchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:               "watch PLAN [--plain]",
		Short:             "follow a plan that another process carries out",
		Example:           "  cairn watch first",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error { return a.watch(c.Context(), h, args[0]) })
		},
	}
	c.Flags().BoolVar(&a.plain, "plain", false, "print lines instead of a live tree")
	return c
}

// watch ends when the plan is over or nothing can happen before somebody acts.
func (a *app) watch(ctx context.Context, h *House, name string) error {
	if _, _, err := h.Engine.Load(ctx, name); err != nil {
		return err
	}
	// What is journaled between these two is handed over twice rather than never; a screen skips what it has.
	fold, _, err := folded(ctx, h, name)
	if err != nil {
		return err
	}
	show, err := a.follower(ctx, h, name)
	if err != nil {
		return err
	}
	if !fold.State.Idle() && !held(h, name) {
		show.notice("no process carries plan " + name + " out at this moment; go on with: cairn resume " + name)
	}
	err = poll(ctx, h, fold, show, (*lifecycle.State).Idle)
	show.close()
	if err != nil {
		return err
	}
	return conclude(fold.State, "", a.out())
}
