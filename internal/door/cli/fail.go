package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) failCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "fail PLAN TASK --why TEXT",
		Short:   "say that a task which waits for a person cannot be done",
		Example: "  cairn fail first read --why 'the report is empty'",
		Args:    takes(2, 2),
	}
	addWhy(c, &why)
	return a.steering(c, "failed", func(args []string) (engine.Command, error) {
		return engine.Command{Name: engine.Fail, Task: args[1], Why: why}, reason(why, "fail")
	})
}
