package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) artifactExpire() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:     "expire [--dry-run]",
		Short:   "drop what its retention no longer keeps, of plans that are over",
		Example: "  cairn artifact expire --dry-run\n  cairn artifact expire",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changing(c.Context(), func(_ place, h *House) error {
				return runArtifactExpire(c.Context(), h.Engine, dry, a.out())
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "tell what would go, and drop nothing")
	return c
}

func runArtifactExpire(ctx context.Context, e *engine.Engine, dry bool, out Out) error {
	dropped, err := e.Expire(ctx, dry)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(append([]engine.Dropped{}, dropped...))
	}
	var total int64
	for _, d := range dropped {
		total += d.Size
		fmt.Fprintf(out, "%s/%s/%s  %s  %s  %s\n", d.Plan, d.Task, d.Name, d.Hash.Short(), view.Size(d.Size), d.Why)
	}
	did := "dropped"
	if dry {
		did = "to be dropped"
	}
	fmt.Fprintf(out, "%s %s, %s\n", count(len(dropped), "artifact"), did, view.Size(total))
	return nil
}
