package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) archiveCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:               "archive PLAN [--why TEXT]",
		Short:             "put a finished plan away, with a hand-off and a postmortem drafted from its journal",
		Example:           "  cairn archive release\n  cairn artifact get release/postmortem.md",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.changing(c.Context(), func(p place, h *House) error {
				return runArchive(c.Context(), h, order{args[0], p.actor, "archived", engine.Command{Name: engine.Archive, Why: why}}, a.out())
			})
		},
	}
	addWhy(c, &why)
	return c
}

// archived is what was put away, under --json.
type archived struct {
	Plan      string           `json:"plan"`
	Artifacts []capability.Ref `json:"artifacts"`
}

func runArchive(ctx context.Context, h *House, o order, out Out) error {
	st, _, err := h.Engine.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	if !st.Phase.Over() {
		return fault.New(fault.Conflict, "plan %s is %s, and only what is over is archived", o.plan, st.State()).
			Remedy("finish it (cairn resume %s), or give it up (cairn cancel %s)", o.plan, o.plan)
	}
	records, err := recordsOf(ctx, h.Engine, o.plan)
	if err != nil {
		return err
	}
	for _, draft := range []struct{ name, text string }{{"handoff.md", view.Handoff(st, records)}, {"postmortem.md", view.Postmortem(st, records)}} {
		blob, err := artifact.PutBytes(ctx, h.Engine.Artifacts, []byte(draft.text))
		if err != nil {
			return err
		}
		o.Artifacts = append(o.Artifacts, capability.Ref{Name: draft.name, Hash: blob.ID, Size: blob.Size, Type: "markdown"})
	}
	if err := h.Engine.Do(ctx, o.plan, o.actor, o.Command); err != nil {
		return err
	}
	if out.JSON {
		return out.print(archived{o.plan, o.Artifacts})
	}
	fmt.Fprintf(out, "plan %s: archived\n", o.plan)
	for _, ref := range o.Artifacts {
		fmt.Fprintf(out, "  cairn artifact get %s/%s\n", o.plan, ref.Name)
	}
	return nil
}
