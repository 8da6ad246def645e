package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Applied is how the result of a plan that ran on a branch came home.
type Applied struct {
	Way    string   `json:"way"`    // nothing, fast-forward, detached, merge or files
	Commit string   `json:"commit"` // of the user's branch
	Files  []string `json:"files"`
}

// ways tell what was done, by way.
var ways = map[string]string{
	"nothing":      "all of it is here already",
	"fast-forward": "your branch was moved to its result",
	"detached":     "HEAD, which is on no branch, was moved to its result",
	"merge":        "its result was merged into your branch",
	"files":        "its result was put into your files; nothing was committed",
}

func (a *app) applyCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "apply PLAN",
		Short:             "bring the files of a plan that worked on its own branch into yours",
		Example:           "  cairn apply release",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error { return runApply(c.Context(), h, args[0], a.out()) })
		},
	}
}

func runApply(ctx context.Context, h *House, name string, out Out) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	got, err := h.Apply(ctx, name)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(struct {
			Plan  string              `json:"plan"`
			State lifecycle.PlanState `json:"state"`
			Applied
		}{name, st.State(), Applied{got.Way, got.Commit, append([]string{}, got.Files...)}})
	}
	fmt.Fprintf(out, "plan %s: %s\n", name, ways[got.Way])
	for _, f := range got.Files {
		fmt.Fprintln(out, "  "+oneLine(f))
	}
	if len(got.Files) > 0 && got.Commit != "" && got.Way != "files" {
		fmt.Fprintf(out, "%s, now at %s\n", count(len(got.Files), "file"), short(got.Commit))
	}
	if !st.Phase.Over() {
		fmt.Fprintf(out, "the plan is %s: this is what there is so far\n", st.State())
	}
	return nil
}

// short is a commit as people name it.
func short(commit string) string { return commit[:min(len(commit), 12)] }
