package engine

import (
	"context"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Retentions that an output may declare; a duration is one too.
const (
	UntilPlanEnds = "task" // needed only while the plan runs
	WithPlan      = "plan" // kept as long as the plan is; the default
)

// Dropped is an artifact that its retention let go.
type Dropped struct {
	Plan string    `json:"plan"`
	Task string    `json:"task"`
	Name string    `json:"name"`
	Hash digest.ID `json:"hash"`
	Size int64     `json:"size"`
	Why  string    `json:"why"`
}

// Expire drops what its retention says is no longer needed, of plans that are over. Content is shared, so a blob goes only
// when nothing else names it. The record comes before the removal: it is what excuses the missing blob.
func (e *Engine) Expire(ctx context.Context, dry bool) ([]Dropped, error) {
	names, err := e.Journal.Plans(ctx)
	if err != nil {
		return nil, err
	}
	kept := map[digest.ID]bool{}
	var due []Dropped
	for _, name := range names {
		d, err := e.retained(ctx, name, kept)
		if err != nil {
			return nil, err
		}
		due = append(due, d...)
	}
	out := due[:0]
	for _, d := range due {
		if kept[d.Hash] {
			continue
		}
		if !dry {
			if err := e.drop(ctx, d); err != nil {
				return out, err
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// retained marks what a plan keeps and lists what it lets go.
func (e *Engine) retained(ctx context.Context, name string, kept map[digest.ID]bool) (due []Dropped, err error) {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	over := st.Phase.Over()
	for r, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		var refs []capability.Ref
		if lifecycle.IsFact(r.Kind) {
			f, err := lifecycle.FactOf(r)
			if err != nil {
				return nil, err
			}
			switch b := f.Body.(type) {
			case *lifecycle.Submitted:
				kept[b.Spec] = true
			case *lifecycle.Revised:
				kept[b.Spec] = true
			case *lifecycle.Assessed:
				kept[b.Items] = true
			case *lifecycle.Archived:
				refs = b.Artifacts
			case *lifecycle.Carried:
				kept[b.Items], refs = true, b.Artifacts
			case *lifecycle.Ended:
				refs = b.Artifacts
			case *lifecycle.Stored:
				refs = []capability.Ref{b.Ref}
			}
		}
		for _, ref := range refs {
			task, _ := st.Task(r.Task)
			why := e.expired(retention(task.Spec, ref.Name), over, r.Time)
			switch {
			case st.Expired(ref.Hash):
			case why == "":
				kept[ref.Hash] = true
			case !listed(due, ref.Hash):
				due = append(due, Dropped{name, r.Task, ref.Name, ref.Hash, ref.Size, why})
			}
		}
	}
	return due, nil
}

func listed(due []Dropped, id digest.ID) bool {
	for _, d := range due {
		if d.Hash == id {
			return true
		}
	}
	return false
}

func retention(t *plan.Task, name string) string {
	if t == nil {
		return WithPlan
	}
	for _, o := range t.Outputs {
		if o.Name == name {
			return o.Retention
		}
	}
	for _, a := range t.Artifacts {
		if a.Name == name {
			return a.Retention
		}
	}
	return WithPlan
}

// expired says why something is no longer needed, or nothing while it is.
func (e *Engine) expired(retention string, over bool, made time.Time) string {
	if !over {
		return ""
	}
	if retention == UntilPlanEnds {
		return "it was needed only while the plan ran"
	}
	d, err := plan.ParseDuration(retention)
	if err != nil || e.Now().Before(made.Add(d.D())) {
		return ""
	}
	return "it was to be kept for " + retention
}

func (e *Engine) drop(ctx context.Context, d Dropped) error {
	r, err := e.open(ctx, d.Plan)
	if err != nil {
		return err
	}
	defer r.Close()
	f := lifecycle.Fact{Kind: lifecycle.ArtifactExpired, Task: d.Task, Body: &lifecycle.Expired{Hash: d.Hash, Why: d.Why}}
	if _, _, err := r.Step(f); err != nil {
		return err
	}
	if err := e.Journal.Append(ctx, r.TakePending()); err != nil {
		return err
	}
	if err := e.Artifacts.Remove(ctx, d.Hash); err != nil {
		return fault.Wrap(fault.CodeOf(err), err, "drop artifact %s", d.Hash.Short())
	}
	return nil
}
