package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
)

func (a *app) answerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "answer PLAN QUESTION [TEXT]",
		Short: "answer a question, or choose one of the options of a decision; without a text, by the default",
		Example: "  cairn answer launch region 'Frankfurt'\n" +
			"  cairn answer launch database sqlite",
		Args: takes(2, -1),
	}
	return a.steering(c, "answered", func(args []string) (engine.Command, error) {
		return engine.Command{Name: engine.Reply, Task: args[1], Text: strings.Join(args[2:], " ")}, nil
	})
}
