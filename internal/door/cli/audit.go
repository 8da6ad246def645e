package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "prove what happened",
		a.auditVerify(),
		a.auditing("replay", "derive a run again from its facts alone, and compare every record",
			func(ctx context.Context, h *House, plans []string) error {
				// It needs no key: whoever signed the journal, its records follow from its facts or they do not.
				return runReplay(ctx, audit.Home{Journal: h.Engine.Journal, Artifacts: h.artifacts()}, plans, a.out())
			}),
		a.auditProve(), a.auditReceipt(), a.auditKey())
}

func (a *app) auditing(name, short string, run func(context.Context, *House, []string) error) *cobra.Command {
	return &cobra.Command{
		Use:               name + " [PLAN]",
		Short:             short,
		Example:           "  cairn audit " + name + "\n  cairn audit " + name + " first --json",
		Args:              takes(0, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error { return run(c.Context(), h, args) })
		},
	}
}

// runVerify lists every finding before it fails for any.
func runVerify(ctx context.Context, h audit.Home, plans []string, out Out) error {
	r, err := audit.Verify(ctx, h, plans...)
	if err != nil {
		return err
	}
	if out.JSON {
		err = out.print(verifiedOf(r))
	} else {
		writeReport(r, out)
	}
	if err == nil && !r.Sound() {
		err = outcome{fault.Tampered}
	}
	return err
}

// verified is a report under --json.
type verified struct {
	Sound bool               `json:"sound"`
	Plans []audit.PlanReport `json:"plans"`
	Tree  verifiedTree       `json:"tree"`
}

type verifiedTree struct {
	Entries  uint64        `json:"entries"`
	Sealed   uint64        `json:"sealed"`
	Heads    int           `json:"heads"`
	Findings []treeFinding `json:"findings"`
}

type treeFinding struct {
	Position uint64 `json:"position,omitempty"`
	Text     string `json:"text"`
}

func verifiedOf(r audit.Report) verified {
	v := verified{Sound: r.Sound(), Plans: append([]audit.PlanReport{}, r.Plans...),
		Tree: verifiedTree{Entries: r.Tree.Entries, Sealed: r.Tree.Sealed, Heads: r.Tree.Heads, Findings: []treeFinding{}}}
	for _, f := range r.Tree.Findings {
		v.Tree.Findings = append(v.Tree.Findings, treeFinding{f.Position, f.Text})
	}
	return v
}

func writeReport(r audit.Report, out Out) {
	for _, p := range r.Plans {
		verdict := "sound"
		if n := len(p.Damage); n > 0 {
			verdict = count(n, "finding")
		}
		fmt.Fprintf(out, "plan %s: %s (%s, %s, state %s)\n", p.Plan, verdict, count(p.Records, "record"), count(p.Blobs, "artifact"), p.Hash.Short())
		for _, d := range p.Damage {
			fmt.Fprintf(out, "  %s#%d: %s\n", d.Plan, d.Seq, d.Text)
		}
	}
	verdict := "sound"
	if n := len(r.Tree.Findings); n > 0 {
		verdict = count(n, "finding")
	}
	fmt.Fprintf(out, "tree: %s (%d of %d records under %s)\n", verdict, r.Tree.Sealed, r.Tree.Entries, count(r.Tree.Heads, "signed head"))
	for _, f := range r.Tree.Findings {
		fmt.Fprintln(out, "  "+f.Text)
	}
	if !r.Sound() {
		fmt.Fprintln(out, "the journal was altered; put back a sound copy of the home")
	}
}

// runReplay stops at the first record that differs.
func runReplay(ctx context.Context, h audit.Home, plans []string, out Out) error {
	if len(plans) == 0 {
		var err error
		if plans, err = h.Journal.Plans(ctx); err != nil {
			return err
		}
	}
	var all []audit.Replayed
	for _, name := range plans {
		r, err := audit.Replay(ctx, h, name)
		if err != nil {
			return err
		}
		if all = append(all, r); !out.JSON {
			fmt.Fprintf(out, "plan %s: the same again (%s, %s), head %s, state %s\n", r.Plan, count(r.Facts, "fact"),
				count(r.Derived, "derived record"), r.Head.Short(), r.Hash.Short())
		}
	}
	if out.JSON {
		return out.print(append([]audit.Replayed{}, all...))
	}
	return nil
}
