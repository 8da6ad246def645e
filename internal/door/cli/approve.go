package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) approveCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "approve PLAN GATE --why TEXT",
		Short:   "open a gate",
		Example: "  cairn approve release ship --why 'read the diff'",
		Args:    takes(2, 2),
	}
	addWhy(c, &why)
	return a.steering(c, "approved", func(args []string) (engine.Command, error) {
		return engine.Command{Name: engine.Approve, Task: args[1], Why: why}, reason(why, "approve")
	})
}
