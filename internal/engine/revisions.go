package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// AtRevision splits plan@3 into the plan and the revision; 0: none is named.
func AtRevision(arg string) (name string, rev int) {
	name, number, ok := strings.Cut(arg, "@")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return arg, 0
	}
	return name, n
}

// PlanAt reads one revision of a run's plan.
func (e *Engine) PlanAt(ctx context.Context, st *lifecycle.State, rev int) (*plan.Plan, lifecycle.Revision, error) {
	if rev < 1 || rev > len(st.Revisions) {
		have := "it has only revision 1"
		if n := len(st.Revisions); n > 1 {
			have = "it has revisions 1 to " + itoa(n)
		}
		return nil, lifecycle.Revision{}, fault.New(fault.NotFound, "plan %s has no revision %d", st.Name, rev).Remedy("%s", have)
	}
	v := st.Revisions[rev-1]
	p, err := e.Spec(ctx, &lifecycle.Submitted{Spec: v.Spec})
	return p, v, err
}
