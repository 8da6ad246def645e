package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) listCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "list [--all]",
		Short:   "list the plans of this home and where they stand",
		Example: "  cairn list\n  cairn list --json\n  cairn list --all",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(h *House) error { return runList(c.Context(), h.Engine, all, a.out()) },
				func() error { return writeList(nil, a.out()) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that are archived")
	return c
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

func runList(ctx context.Context, e *engine.Engine, all bool, out Out) error {
	names, err := e.Journal.Plans(ctx)
	if err != nil {
		return err
	}
	rows := make([]view.Row, 0, len(names))
	var damage error
	for _, name := range names {
		st, head, err := e.Load(ctx, name)
		switch {
		case broken(err):
			rows, damage = append(rows, view.Row{Plan: name, State: damaged}), err
			continue
		case err != nil:
			return err
		}
		if st.Archived && !all {
			continue
		}
		last, err := lastRecord(ctx, e, name, head)
		if err != nil {
			return err
		}
		rows = append(rows, view.RowOf(st, head, last.Local()))
	}
	if err := writeList(rows, out); err != nil {
		return err
	}
	return reported(damage, out)
}

// broken reports whether a plan that is listed cannot be folded: it was altered, or its text is gone.
func broken(err error) bool { return fault.Is(err, fault.Tampered) || fault.Is(err, fault.NotFound) }

// damaged is what a list shows for a plan whose journal cannot be folded.
const damaged lifecycle.PlanState = "damaged"

// reported is an error that a list ends with. Under --json the list itself shows it, and only the exit status is left.
func reported(err error, out Out) error {
	if err != nil && out.JSON {
		return outcome{fault.CodeOf(err)}
	}
	return err
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
		if err != nil && !broken(err) {
			return "", err
		}
		if err == nil && !st.Phase.Over() {
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
