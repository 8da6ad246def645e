package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "print a script that completes commands, plans and tasks in a shell",
		Example:   "  source <(cairn completion bash)\n  cairn completion fish > ~/.config/fish/completions/cairn.fish",
		Args:      takes(1, 1),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			return runCompletion(c.Root(), args[0], a.io.Out)
		},
	}
}

func runCompletion(root *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	err := fault.New(fault.Invalid, "there is no completion for %q", shell)
	if near := nearest(shell, shells); near != "" {
		return err.Remedy("did you mean %s?", near)
	}
	return err.Remedy("name bash, zsh, fish or powershell")
}

// completePlan offers plans for the first argument and, where a command takes one, tasks for the second.
func (a *app) completePlan(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	// Completion has nobody to tell an error to: no words are offered then.
	_ = a.within(c.Context(), func(_ place, h *House) error {
		var err error
		words, err = completions(c.Context(), h, args)
		return err
	})
	return words, cobra.ShellCompDirectiveNoFileComp
}

func completions(ctx context.Context, h *House, args []string) ([]string, error) {
	switch len(args) {
	case 0:
		return h.Engine.Journal.Plans(ctx)
	case 1:
		st, _, err := h.Engine.Load(ctx, args[0])
		if err != nil {
			return nil, err
		}
		var ids []string
		for t := range st.Tasks() {
			ids = append(ids, t.ID)
		}
		return ids, nil
	}
	return nil, nil
}
