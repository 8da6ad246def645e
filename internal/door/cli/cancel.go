package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) cancelCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "cancel PLAN --why TEXT",
		Short:   "give a plan up; everything unfinished is abandoned",
		Example: "  cairn cancel first --why 'wrong branch'",
		Args:    takes(1, 1),
	}
	addWhy(c, &why)
	return a.steering(c, "cancelled", func([]string) (engine.Command, error) {
		return engine.Command{Name: engine.Cancel, Why: why}, reason(why, "cancel")
	})
}
