package cli

import (
	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

func (a *app) delegateCommand() *cobra.Command {
	var why, to string
	c := &cobra.Command{
		Use:     "delegate PLAN GATE --to NAME --why TEXT",
		Short:   "hand the right to decide a gate to somebody else",
		Example: "  cairn delegate release ship --to bob --why 'away until Monday'",
		Args:    takes(2, 2),
	}
	addWhy(c, &why)
	c.Flags().StringVar(&to, "to", "", "who may decide it as you could")
	return a.steering(c, "handed on", func(args []string) (engine.Command, error) {
		if to == "" {
			return engine.Command{}, fault.New(fault.Invalid, "nobody is named who shall decide").Remedy("add --to NAME")
		}
		return engine.Command{Name: engine.Delegate, Task: args[1], Why: why, To: person(to)}, reason(why, "delegate")
	})
}
