package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

type approveOptions struct {
	why      string
	seen     string
	override bool
	evidence []string // NAME=TEXT or NAME=@FILE
	window   bool     // all that waits in the plan
}

func (a *app) approveCommand() *cobra.Command {
	var o approveOptions
	c := &cobra.Command{
		Use:   "approve PLAN GATE...|--window --why TEXT",
		Short: "agree to a gate, or to a task that waits for consent; to several at once with one reason",
		Example: "  cairn approve release ship --why 'read the diff' --seen 3f9c21\n" +
			"  cairn approve release ship --why 'tested by hand' --evidence protocol=@protocol.md\n" +
			"  cairn approve release --window --why 'read all of them'",
		Args:              takes(1, -1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.whole(args[1:]); err != nil {
				return err
			}
			if err := reason(o.why, "approve"); err != nil {
				return err
			}
			return a.changing(c.Context(), func(p place, h *House) error {
				if o.window {
					return runWindow(c.Context(), h, order{plan: args[0], actor: p.actor, Command: engine.Command{Why: o.why}}, a.out())
				}
				for _, gate := range args[1:] {
					m := engine.Command{Name: engine.Approve, Task: gate, Why: o.why, Seen: strings.ToLower(o.seen), Override: o.override}
					if err := runApprove(c.Context(), h, order{args[0], p.actor, "approved", m}, o.evidence, a.out()); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	addWhy(c, &o.why)
	c.Flags().StringVar(&o.seen, "seen", "", "the hash of what you looked at, or how it begins, as show names it")
	c.Flags().BoolVar(&o.window, "window", false, "agree to every decision of the plan that waits and that you may take")
	c.Flags().BoolVar(&o.override, "override", false, "agree in spite of checks that do not hold")
	c.Flags().StringArrayVar(&o.evidence, "evidence", nil, "evidence that the gate asks for: NAME=TEXT, or NAME=@FILE")
	return c
}

// runApprove agrees to one gate, with what is handed in for it.
func runApprove(ctx context.Context, h *House, c order, given []string, out Out) error {
	for _, text := range given {
		ref, err := evidence(ctx, h, text)
		if err != nil {
			return err
		}
		c.Artifacts = append(c.Artifacts, ref)
	}
	return runSteer(ctx, h, c, out)
}

// evidence stores what is handed in with an approval.
func evidence(ctx context.Context, h *House, text string) (capability.Ref, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return capability.Ref{}, fault.New(fault.Invalid, "--evidence %s has no value", text).Remedy("write --evidence NAME=TEXT, or --evidence NAME=@FILE")
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		return putFile(ctx, h, name, "", file)
	}
	blob, err := artifact.PutBytes(ctx, h.artifacts(), []byte(value))
	return capability.Ref{Name: name, Hash: blob.ID, Size: blob.Size, Type: "text"}, err
}
