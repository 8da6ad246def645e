package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the plans of this home and where they stand",
		Example: "  cairn list\n  cairn list --json",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(h *House) error { return runList(c.Context(), h.Engine, a.out()) },
				func() error { return writeList(nil, a.out()) })
		},
	}
}

// reading runs f in the home, or empty where there is none: nothing is there to list.
func (a *app) reading(ctx context.Context, f func(*House) error, empty func() error) error {
	p, err := a.at()
	if err != nil {
		return err
	}
	if !p.hasHome() {
		return empty()
	}
	return a.within(ctx, func(_ place, h *House) error { return f(h) })
}

func runList(ctx context.Context, e *engine.Engine, out Out) error {
	names, err := e.Journal.Plans(ctx)
	if err != nil {
		return err
	}
	rows := make([]view.Row, 0, len(names))
	for _, name := range names {
		st, head, err := e.Load(ctx, name)
		if err != nil {
			return err
		}
		times, err := lastRecord(ctx, e, name, head)
		if err != nil {
			return err
		}
		rows = append(rows, view.RowOf(st, head, times.Local()))
	}
	return writeList(rows, out)
}

func writeList(rows []view.Row, out Out) error {
	if out.JSON {
		return out.print(append([]view.Row{}, rows...))
	}
	return view.Table(out, rows)
}

// onePlan finds the plan that is meant when none was named: the only one that is not finished.
func onePlan(ctx context.Context, e *engine.Engine) (string, error) {
	names, err := e.Journal.Plans(ctx)
	if err != nil {
		return "", err
	}
	var open []string
	for _, name := range names {
		st, _, err := e.Load(ctx, name)
		if err != nil {
			return "", err
		}
		if !st.Phase.Over() {
			open = append(open, name)
		}
	}
	switch len(open) {
	case 0:
		return "", fault.New(fault.NotFound, "no plan is unfinished here").Remedy("start one with: cairn run FILE")
	case 1:
		return open[0], nil
	}
	return "", fault.New(fault.Invalid, "%d plans are unfinished: %s", len(open), some(open)).
		Remedy("name one: cairn resume %s", open[0])
}
