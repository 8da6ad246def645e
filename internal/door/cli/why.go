package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "why PLAN TASK",
		Short:             "tell how a task came to where it stands, with the records that prove it",
		Example:           "  cairn why first report",
		Args:              takes(2, 2),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error {
				return runWhy(c.Context(), h.Engine, args[0], args[1], a.out())
			})
		},
	}
}

func runWhy(ctx context.Context, e *engine.Engine, name, task string, out Out) error {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return err
	}
	if _, ok := st.Task(task); !ok {
		return noTask(st, task)
	}
	records, err := recordsOf(ctx, e, name)
	if err != nil {
		return err
	}
	story := view.Story(records, st, task)
	if out.JSON {
		return out.print(append([]view.Sentence{}, story...))
	}
	return view.StoryText(out, story)
}
