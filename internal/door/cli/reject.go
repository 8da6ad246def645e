package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) rejectCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "reject PLAN GATE --why TEXT",
		Short:   "refuse a gate; what depends on it is blocked",
		Example: "  cairn reject release ship --why 'the tests were skipped'",
		Args:    takes(2, 2),
	}
	addWhy(c, &why)
	return a.steering(c, "rejected", func(args []string) (engine.Command, error) {
		return engine.Command{Name: engine.Reject, Task: args[1], Why: why}, reason(why, "reject")
	})
}
