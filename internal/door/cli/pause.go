package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) pauseCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "pause PLAN [--why TEXT]",
		Short:   "start nothing new; what is under way ends",
		Example: "  cairn pause first",
		Args:    takes(1, 1),
	}
	addWhy(c, &why)
	return a.steering(c, "paused", func([]string) (engine.Command, error) {
		return engine.Command{Name: engine.Pause, Why: why}, nil
	})
}
