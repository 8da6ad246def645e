package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) retryCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:   "retry PLAN [TASK] [--why TEXT]",
		Short: "try again what failed, or a cut-off task that is known not to have happened",
		Long: "Without TASK, a plan that failed tries again everything that failed. With TASK, a task that must not run twice and\n" +
			"was cut off runs again: you found out that it did not take effect.",
		Example: "  cairn retry first --why 'the disk has room again'\n  cairn retry release publish --why 'the registry does not have it'",
		Args:    takes(1, 2),
	}
	addWhy(c, &why)
	return a.steering(c, "to be tried again", func(args []string) (engine.Command, error) {
		cmd := engine.Command{Name: engine.Retry, Why: why}
		if len(args) == 2 {
			cmd.Task = args[1]
		}
		return cmd, nil
	})
}
