package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type graphOptions struct {
	as string
}

func (a *app) graphCommand() *cobra.Command {
	var o graphOptions
	c := &cobra.Command{
		Use:               "graph PLAN|FILE [--as mermaid|dot|svg]",
		Short:             "draw a plan and what waits for what",
		Example:           "  cairn graph examples/first.yaml\n  cairn graph first --as svg > first.svg",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if o.as != "mermaid" && o.as != "dot" && o.as != "svg" {
				return fault.New(fault.Invalid, "there is no drawing as %q", o.as).Remedy("name mermaid, dot or svg")
			}
			return a.graph(c.Context(), args[0], o)
		},
	}
	c.Flags().StringVar(&o.as, "as", "mermaid", "language of the drawing: mermaid, dot or svg")
	return c
}

// graph draws a run with its state, or a file as it is; a file needs no home.
func (a *app) graph(ctx context.Context, arg string, o graphOptions) error {
	p, err := a.at()
	if err != nil {
		return err
	}
	name, isPlan, err := a.meant(ctx, p, arg)
	if err != nil {
		return err
	}
	if isPlan {
		return a.within(ctx, func(_ place, h *House) error {
			st, _, err := h.Engine.Load(ctx, name)
			if err != nil {
				return err
			}
			return runGraph(st.Plan, st, o, a.out())
		})
	}
	r, err := readPlan(arg, a.io.In, nil)
	if err != nil {
		return err
	}
	if err := r.err(); err != nil {
		if !a.json {
			_ = r.tell(a.io.Err, false)
		}
		return err
	}
	return runGraph(r.plan, nil, o, a.out())
}

func runGraph(p *plan.Plan, st *lifecycle.State, o graphOptions, out Out) error {
	g := view.GraphOf(p, st)
	var err error
	switch {
	case out.JSON:
		err = out.print(g)
	case o.as == "dot":
		_, err = fmt.Fprint(out, g.Dot())
	case o.as == "svg":
		_, err = fmt.Fprint(out, g.SVG(view.SVGOptions{}))
	default:
		_, err = fmt.Fprint(out, g.Mermaid())
	}
	return err
}
