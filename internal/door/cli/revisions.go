package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

// twoRevisions are those that diff compares.
type twoRevisions struct {
	plan string
	a, b int
}

// revisionsOf reads PLAN A B and PLAN@A PLAN@B; ok is false where a task is meant.
func revisionsOf(args []string) (r twoRevisions, ok bool, err error) {
	if len(args) == 3 {
		r.plan = args[0]
		for i, into := range []*int{&r.a, &r.b} {
			n, err := strconv.Atoi(args[i+1])
			if err != nil || n < 1 {
				return r, true, fault.New(fault.Invalid, "%q is no revision", args[i+1]).Remedy("name two, such as: cairn diff %s 1 2", args[0])
			}
			*into = n
		}
		return r, true, nil
	}
	one, a := engine.AtRevision(args[0])
	two, b := engine.AtRevision(args[1])
	switch {
	case a == 0 && b == 0:
		return r, false, nil
	case one != two || a == 0 || b == 0:
		return r, true, fault.New(fault.Invalid, "%s and %s are not two revisions of one plan", args[0], args[1]).
			Remedy("name them as: cairn diff %s@1 %s@2", one, one)
	}
	return twoRevisions{one, a, b}, true, nil
}

// runPlanDiff shows what makes one revision into another.
func runPlanDiff(ctx context.Context, e *engine.Engine, r twoRevisions, out Out) error {
	st, _, err := e.Load(ctx, r.plan)
	if err != nil {
		return err
	}
	a, _, err := e.PlanAt(ctx, st, r.a)
	if err != nil {
		return err
	}
	b, rev, err := e.PlanAt(ctx, st, r.b)
	if err != nil {
		return err
	}
	edits, err := view.PlanDiff(a, b)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(edits)
	}
	fmt.Fprintf(out, "%s@%d to %s@%d, %s\n", st.Name, r.a, st.Name, r.b, view.RevisionLine(rev))
	return view.PlanDiffText(out, edits, out.Color)
}

// showRevision prints a revision as it was written, in the plan language.
func showRevision(ctx context.Context, e *engine.Engine, st *lifecycle.State, o showOptions, out Out) error {
	if o.task != "" {
		return fault.New(fault.Invalid, "a revision is shown as a whole").Remedy("leave out %s, or the @%d", o.task, o.rev)
	}
	p, rev, err := e.PlanAt(ctx, st, o.rev)
	if err != nil {
		return err
	}
	spec, err := p.Encode()
	if err != nil {
		return err
	}
	if out.JSON {
		_, err = out.Write(append(spec, '\n'))
		return err
	}
	text, err := plan.Format(st.Name+".json", spec, "yaml")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# %s@%d, %s\n", st.Name, o.rev, view.RevisionLine(rev))
	_, err = out.Write(text)
	return err
}
