package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type replanOptions struct {
	file  string
	why   string
	yes   bool
	merge bool
	edit  bool
	dry   bool
}

func (a *app) replanCommand() *cobra.Command {
	var o replanOptions
	c := &cobra.Command{
		Use:   "replan PLAN (--file FILE [--merge] | --edit) --why TEXT [--yes] [--dry-run]",
		Short: "change a plan in its course: what is the same is kept, the rest runs again",
		Example: "  cairn replan release --file release.yaml --why 'the tests need a database'\n" +
			"  cairn replan release --file more.yaml --merge --why 'two more checks'\n" +
			"  cairn replan release --edit --why 'a longer timeout'",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.changing(c.Context(), func(p place, h *House) error { return a.replan(c.Context(), h, p, args[0], o) })
		},
	}
	c.Flags().StringVar(&o.file, "file", "", "the plan as it shall be, or with --merge what shall be changed in it")
	c.Flags().BoolVar(&o.merge, "merge", false, "change only the tasks that the file has; one with status abandoned is taken out")
	c.Flags().BoolVar(&o.edit, "edit", false, "write the revision by hand, in $EDITOR")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask first")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what it would do, and do nothing")
	addWhy(c, &o.why)
	return c
}

func (o replanOptions) check() error {
	switch {
	case o.edit && (o.file != "" || o.merge):
		return fault.New(fault.Invalid, "--edit writes the revision by hand, so there is no --file to read").Remedy("leave one of them out")
	case !o.edit && o.file == "":
		return fault.New(fault.Invalid, "replan wants to know the new plan").Remedy("name it with --file FILE, or write it by hand with --edit")
	}
	if o.dry {
		return nil
	}
	return reason(o.why, "replan")
}

// replan shows what a revision does to the run, asks where work is lost, and puts the run onto it.
func (a *app) replan(ctx context.Context, h *House, p place, name string, o replanOptions) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	r, how, err := a.revision(ctx, st, p, o)
	if err != nil {
		return err
	}
	if !a.json {
		if err := r.tell(a.io.Err, false); err != nil {
			return err
		}
	}
	if err := r.err(); err != nil {
		return err
	}
	source := filepath.ToSlash(o.file)
	f, err := h.Engine.Foresee(ctx, name, r.plan, how, source)
	if err != nil {
		return err
	}
	if f.Same {
		return a.unchanged(st)
	}
	if o.dry {
		return a.tellImpact(name, f)
	}
	if err := a.agree(name, f, o.yes); err != nil {
		return err
	}
	if err := h.Engine.Revise(ctx, name, p.actor, f, o.why); err != nil {
		return err
	}
	return a.tellRevised(ctx, h, name, f)
}

// revision reads the new plan in the way that was asked for.
func (a *app) revision(ctx context.Context, st *lifecycle.State, p place, o replanOptions) (reading, string, error) {
	caps, err := a.parts.Catalogue(p.home)
	if err != nil {
		return reading{}, "", err
	}
	switch {
	case o.edit:
		r, err := a.edited(ctx, st, caps)
		return r, lifecycle.ByHand, err
	case o.merge:
		r, err := a.merged(st, o.file, caps)
		return r, lifecycle.ByMerge, err
	}
	r, err := readPlan(o.file, a.io.In, caps)
	return r, lifecycle.ByFile, err
}

// merged changes the present revision by what a file says. The file alone need be no whole plan; the outcome has to be one.
func (a *app) merged(st *lifecycle.State, file string, caps plan.Catalogue) (reading, error) {
	in, err := readPlan(file, a.io.In, nil)
	if err != nil {
		return reading{}, err
	}
	whole := in
	whole.faults = nil
	for _, f := range in.faults {
		if f.Code != plan.CodeUnknown && f.Code != plan.CodeRef && f.Code != plan.CodeEmpty {
			whole.faults = append(whole.faults, f)
		}
	}
	if in.plan == nil || len(whole.faults.Errors()) > 0 {
		return in, nil
	}
	src, err := plan.Merge(st.Plan, in.plan)
	if err != nil {
		return reading{}, err
	}
	shown := filepath.ToSlash(file) + " merged into " + st.Name + ".json"
	p, faults := plan.Read(shown, src, plan.Options{Capabilities: caps})
	return reading{name: shown, src: src, plan: p, faults: faults}, nil
}

func (a *app) unchanged(st *lifecycle.State) error {
	if a.json {
		return a.out().print(engine.Foreseen{Same: true, Impact: lifecycle.Impact{Rev: st.Rev}})
	}
	fmt.Fprintf(a.io.Out, "plan %s is that already: revision %d\n", st.Name, st.Rev)
	return nil
}

// agree shows what a revision does before it is done. Where work that was done is lost, somebody has to say yes.
func (a *app) agree(name string, f engine.Foreseen, yes bool) error {
	if !a.json {
		if err := a.tellImpact(name, f); err != nil {
			return err
		}
	}
	if yes || !f.Loses() {
		return nil
	}
	in, ok := a.io.In.(*os.File)
	if a.json || !ok || !term.IsTerminal(int(in.Fd())) || !a.out().Terminal {
		return fault.New(fault.Invalid, "revision %d of plan %s would lose work that is done: %s again, %s dropped", f.Rev, name,
			count(len(f.Again), "task"), count(len(f.Dropped), "task")).Remedy("look at it with --dry-run, and say --yes to accept it")
	}
	fmt.Fprint(a.io.Out, "Go on? [y/N] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err == nil && (word == "y" || word == "yes") {
		return nil
	}
	return fault.New(fault.Denied, "the plan stays as it is").Remedy("answer y, or use --yes")
}

func (a *app) tellImpact(name string, f engine.Foreseen) error {
	if a.json {
		return a.out().print(f)
	}
	return view.ImpactText(a.io.Out, name, f.Impact, view.Again{Took: f.Took, Cost: plan.Money{Micro: f.Cost.Cost, Currency: f.Cost.Currency}})
}

// revised is a revision that was accepted, under --json.
type revised struct {
	Plan    string              `json:"plan"`
	State   lifecycle.PlanState `json:"state"`
	Running bool                `json:"running"`
	Impact  engine.Foreseen     `json:"impact"`
}

func (a *app) tellRevised(ctx context.Context, h *House, name string, f engine.Foreseen) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	running := !st.Phase.Over() && held(h, name)
	if a.json {
		return a.out().print(revised{name, st.State(), running, f})
	}
	return tellDone(a.out(), done{Plan: name, Did: fmt.Sprintf("at revision %d", f.Rev), State: st.State(), Running: running})
}
