package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) logCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:               "log PLAN [--follow]",
		Short:             "print the journal of a plan, a record a line",
		Example:           "  cairn log first\n  cairn log first --follow --json",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error {
				return runLog(c.Context(), h, args[0], follow, a.out())
			})
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the plan is over or waits for somebody")
	return c
}

// runLog prints the journal from its beginning and, where that was asked for, what is added to it.
func runLog(ctx context.Context, h *House, name string, follow bool, out Out) error {
	if err := exists(ctx, h.Engine, name); err != nil {
		return err
	}
	write := writeLogLine
	if out.JSON {
		write = writeRecord
	}
	if follow {
		fold := h.fold(ctx, name)
		show := newPrinter(out, io.Discard, write, nil)
		defer show.close()
		return poll(ctx, h, fold, show, (*lifecycle.State).Idle)
	}
	w := bufio.NewWriter(out)
	for entry, err := range h.Engine.Journal.Read(ctx, name, 0) {
		if err != nil {
			return err
		}
		write(w, entry)
	}
	return w.Flush()
}

// exists refuses a plan that is not there. One that is damaged is: its log is what shows the damage.
func exists(ctx context.Context, e *engine.Engine, name string) error {
	head, err := e.Journal.Head(ctx, name)
	if err == nil && head.Seq == 0 {
		_, _, err = e.Load(ctx, name)
	}
	return err
}

// writeLogLine tells every record, even one that cannot be read.
func writeLogLine(w io.Writer, e journal.Entry) {
	r, err := journal.Decode(e)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	r.Time = r.Time.Local()
	fmt.Fprintln(w, view.LogLine(r))
}
