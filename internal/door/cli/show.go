package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/view"
)

type showOptions struct {
	plan        string
	task        string
	rev         int // a revision that was asked for; 0: the run as it stands
	checkpoints bool
}

func (a *app) showCommand() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:               "show PLAN [TASK] [--checkpoints]",
		Short:             "show a plan, one task, or a revision (PLAN@2), and where it stands",
		Example:           "  cairn show first\n  cairn show first report\n  cairn show first --json\n  cairn show first --checkpoints\n  cairn show first@1",
		Args:              takes(1, 2),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if o.plan = args[0]; len(args) == 2 {
				o.task = args[1]
			}
			o.plan, o.rev = engine.AtRevision(o.plan)
			return a.within(c.Context(), func(_ place, h *House) error {
				if o.checkpoints {
					return runCheckpoints(c.Context(), h.Engine, o.plan, a.out())
				}
				return runShow(c.Context(), h.Engine, o, a.out())
			})
		},
	}
	c.Flags().BoolVar(&o.checkpoints, "checkpoints", false, "list the points that it can go back to")
	return c
}

func runShow(ctx context.Context, e *engine.Engine, o showOptions, out Out) error {
	st, _, err := e.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	if o.rev > 0 {
		return showRevision(ctx, e, st, o, out)
	}
	if o.task != "" {
		if _, ok := st.Task(o.task); !ok {
			return noTask(st, o.task)
		}
	}
	switch {
	case out.JSON && o.task != "":
		return writeTask(st, o.task, out)
	case out.JSON:
		b, err := view.PlanJSON(st)
		if err != nil {
			return err
		}
		_, err = out.Write(append(b, '\n'))
		return err
	}
	records, err := recordsOf(ctx, e, o.plan)
	if err != nil {
		return err
	}
	turns := turnsOf(ctx, e, o.plan)()
	if o.task == "" {
		return view.PlanText(out, st, view.TreeOptions{Width: out.Width, Color: out.Color, Times: view.TimesOf(records), Turns: turns})
	}
	err = view.TaskText(out, st, records, o.task)
	if t, _ := st.Task(o.task); err == nil && turns.Of(t) != "" {
		_, err = fmt.Fprintln(out, "\n"+turns.Of(t))
	}
	return err
}

// recordsOf reads a plan's records with their times in the reader's zone.
func recordsOf(ctx context.Context, e *engine.Engine, name string) ([]journal.Record, error) {
	var all []journal.Record
	for r, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		r.Time = r.Time.Local()
		all = append(all, r)
	}
	return all, nil
}

// lastRecord is the time of the record at the head.
func lastRecord(ctx context.Context, e *engine.Engine, name string, head journal.Head) (t time.Time, err error) {
	for r, err := range e.Records(ctx, name, head.Seq-1) {
		if err != nil {
			return t, err
		}
		t = r.Time
	}
	return t, nil
}

// some lists a few names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
