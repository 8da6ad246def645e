package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/view"
)

type diffOptions struct {
	plan string
	task string
	stat bool
}

func (a *app) diffCommand() *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff PLAN (TASK [--stat] | A B)",
		Short: "show what a task changed in the files, or what differs between two revisions",
		Example: "  cairn diff release bump\n  cairn diff release bump --stat\n  cairn diff release bump | git apply -R\n" +
			"  cairn diff release 1 2\n  cairn diff release@1 release@2 --json",
		Args:              takes(2, 3),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if r, ok, err := revisionsOf(args); ok || err != nil {
				if err != nil {
					return err
				}
				return a.within(c.Context(), func(_ place, h *House) error { return runPlanDiff(c.Context(), h.Engine, r, a.out()) })
			}
			o.plan, o.task = args[0], args[1]
			return a.within(c.Context(), func(_ place, h *House) error {
				return runDiff(c.Context(), h.Engine, o, a.out())
			})
		},
	}
	c.Flags().BoolVar(&o.stat, "stat", false, "count the lines of each file instead")
	return c
}

// changed is a diff under --json.
type changed struct {
	Plan  string            `json:"plan"`
	Task  string            `json:"task"`
	Files []view.FileChange `json:"files"`
	Diff  string            `json:"diff,omitempty"`
}

func runDiff(ctx context.Context, e *engine.Engine, o diffOptions, out Out) error {
	st, _, err := e.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	if _, ok := st.Task(o.task); !ok {
		return noTask(st, o.task)
	}
	diff, err := e.TaskDiff(ctx, o.plan, o.task)
	if err != nil {
		return err
	}
	files := view.Changes(diff)
	switch {
	case out.JSON && o.stat:
		return out.print(changed{Plan: o.plan, Task: o.task, Files: files})
	case out.JSON:
		return out.print(changed{Plan: o.plan, Task: o.task, Files: files, Diff: string(diff)})
	case o.stat && len(files) > 0:
		return view.Stat(out, files, out.Color)
	case len(diff) == 0 && out.Terminal:
		fmt.Fprintf(out, "task %s changed no files\n", o.task)
		return nil
	}
	return writeDiff(diff, out)
}

// writeDiff shows a diff on a terminal, and hands it on unchanged elsewhere, for a program that applies it.
func writeDiff(diff []byte, out Out) error {
	if out.Terminal {
		return view.Diff(out, diff, out.Color)
	}
	_, err := out.Write(diff)
	return err
}
