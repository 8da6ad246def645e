package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

type rejectOptions struct {
	why  string
	back string
	set  []string // NAME=VALUE
}

func (a *app) rejectCommand() *cobra.Command {
	var o rejectOptions
	c := &cobra.Command{
		Use:   "reject PLAN GATE --why TEXT [--back TASK [--set NAME=VALUE]...]",
		Short: "refuse a gate, so that what depends on it is blocked; or push it back to an earlier task",
		Example: "  cairn reject release ship --why 'the tests were skipped'\n" +
			"  cairn reject release agree --why 'too slow' --back measure --set limit=20",
		Args: takes(2, 2),
	}
	addWhy(c, &o.why)
	c.Flags().StringVar(&o.back, "back", "", "the task to go on from: it runs again, and what follows from it")
	c.Flags().StringArrayVar(&o.set, "set", nil, "an answer to the gate's form, which becomes an input: NAME=VALUE")
	return a.steering(c, "rejected", func(args []string) (engine.Command, error) {
		m := engine.Command{Name: engine.Reject, Task: args[1], Why: o.why, Back: o.back}
		for _, text := range o.set {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" {
				return m, fault.New(fault.Invalid, "--set %s has no value", text).Remedy("write --set NAME=VALUE")
			}
			if m.Answers == nil {
				m.Answers = map[string]string{}
			}
			m.Answers[name] = value
		}
		return m, reason(o.why, "reject")
	})
}
