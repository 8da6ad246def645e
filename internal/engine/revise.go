package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Revision is a new revision of a plan that is to be carried out, as a command carries it to whoever holds the plan.
type Revision struct {
	Spec   digest.ID `json:"spec"` // in the artifact store
	Size   int64     `json:"size"`
	Base   int       `json:"base"` // what it changes
	How    string    `json:"how"`
	Source string    `json:"source,omitempty"`
}

// Foreseen is what a revision would do, and what that would cost again.
type Foreseen struct {
	lifecycle.Impact
	Same bool          `json:"same,omitempty"` // it is what the plan is under already
	Took time.Duration `json:"took,omitempty"` // by what runs again, the last time
	Cost budget.Amount `json:"cost,omitzero"`  // likewise

	revision Revision
}

// Foresee works out what a revision would do to a run where it stands, and changes nothing. It is refused as the revision
// itself would be.
func (e *Engine) Foresee(ctx context.Context, name string, p *plan.Plan, how, source string) (Foreseen, error) {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return Foreseen{}, err
	}
	if p.Name != st.Plan.Name {
		return Foreseen{}, fault.New(fault.Invalid, "this is plan %s, and %s is a run of plan %s", p.Name, name, st.Plan.Name).
			Remedy("write plan: %s, or start it by itself: cairn run FILE", st.Plan.Name)
	}
	p = e.normal(p)
	spec, err := p.Encode()
	if err != nil {
		return Foreseen{}, err
	}
	blob, err := artifact.PutBytes(ctx, e.Artifacts, spec)
	if err != nil {
		return Foreseen{}, err
	}
	out := Foreseen{Same: blob.ID == st.Spec, revision: Revision{Spec: blob.ID, Size: blob.Size, Base: st.Rev, How: how, Source: source}}
	body, err := e.revised(ctx, out.revision, p)
	if err != nil {
		return out, err
	}
	if release, err := e.Holder.Hold(name); err == nil {
		release()
		abandonAttempts(st)
	}
	if out.Impact, err = st.Impact(body); err != nil {
		return out, err
	}
	err = e.cost(ctx, name, &out)
	return out, err
}

// abandonAttempts takes in memory what is known when nobody carries a plan out: nothing is under way.
func abandonAttempts(st *lifecycle.State) {
	if st.Phase.Over() {
		return
	}
	cutOff := append([]lifecycle.Effect(nil), st.Unfinished()...)
	if st.Tended {
		_, _ = st.Take(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}})
	}
	for _, ef := range cutOff {
		_, _ = st.Take(lifecycle.Fact{Kind: lifecycle.TaskInterrupted, Task: ef.Task, Attempt: ef.Attempt, Body: &lifecycle.Interrupted{Then: lifecycle.Repeat}})
	}
}

// cost sums up what the tasks that run again took the last time.
func (e *Engine) cost(ctx context.Context, name string, out *Foreseen) error {
	if len(out.Again) == 0 {
		return nil
	}
	last := make(map[string]*lifecycle.Ended, len(out.Again))
	for _, a := range out.Again {
		last[a.Task] = nil
	}
	for r, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return err
		}
		if _, asked := last[r.Task]; !asked || r.Kind != lifecycle.TaskEnded {
			continue
		}
		f, err := lifecycle.FactOf(r)
		if err != nil {
			return err
		}
		last[r.Task] = f.Body.(*lifecycle.Ended)
	}
	for _, a := range out.Again {
		if ended := last[a.Task]; ended != nil {
			out.Took += ended.Took
			if ended.Spent != nil {
				out.Cost = out.Cost.Plus(*ended.Spent)
			}
		}
	}
	return nil
}

// Revise puts a run onto the revision that was foreseen. If the plan was revised meanwhile it is refused.
func (e *Engine) Revise(ctx context.Context, name, actor string, f Foreseen, why string) error {
	return e.Do(ctx, name, actor, Command{Name: Replan, Why: why, Revision: &f.revision})
}

// revised is the body of the fact that a revision comes to.
func (e *Engine) revised(ctx context.Context, v Revision, p *plan.Plan) (*lifecycle.Revised, error) {
	b := &lifecycle.Revised{Spec: v.Spec, Size: v.Size, Base: v.Base, How: v.How, Source: v.Source, Tasks: len(p.Tasks), Plan: p,
		Capabilities: e.installed(p.Tasks, map[string]lifecycle.Installed{}), Once: e.once("", p.Tasks, nil)}
	var err error
	b.Guarded, err = e.guarded(ctx, p)
	return b, err
}

// revision makes the fact of a command.
func (r *Run) revision(f lifecycle.Fact, c Command) (lifecycle.Fact, error) {
	ctx := context.Background()
	if c.Revision == nil {
		return f, fault.New(fault.Invalid, "a revision comes without its plan")
	}
	p, err := r.engine.Spec(ctx, &lifecycle.Submitted{Spec: c.Revision.Spec, Size: c.Revision.Size})
	if err != nil {
		return f, err
	}
	b, err := r.engine.revised(ctx, *c.Revision, p)
	if err != nil {
		return f, err
	}
	b.Why = c.Why
	f.Kind, f.Body = lifecycle.PlanRevised, b
	return f, nil
}

// once lists the tasks that must not run twice, as authored.
func (e *Engine) once(in string, tasks []plan.Task, ids []string) []string {
	for i := range tasks {
		t := &tasks[i]
		if t.Subplan != nil {
			ids = e.once(in+t.ID+"/", t.Subplan.Tasks, ids)
			continue
		}
		if t.Uses != "" && e.classOf(t) == capability.Once {
			ids = append(ids, in+t.ID)
		}
	}
	return ids
}

// classOf says what repeating a task would do, as far as what is written tells.
func (e *Engine) classOf(t *plan.Task) capability.Class {
	if t.Repeat != "" {
		return capability.Class(t.Repeat)
	}
	contract, runner, _ := e.Capabilities.Lookup(t.Uses)
	c, ok := runner.(capability.Classifier)
	if !ok {
		return contract.Repeat
	}
	with := map[string]json.RawMessage{}
	if len(t.With) > 0 && json.Unmarshal(t.With, &with) != nil {
		return contract.Repeat
	}
	if t.Run != "" {
		with["run"] = mustJSON(t.Run)
	}
	return c.Class(mustJSON(with))
}

// forsake finds out what became of the attempts that whoever held the plan left behind. Nothing starts.
func (r *Run) forsake(ctx context.Context) error {
	_, err := r.clear(ctx, append([]lifecycle.Effect(nil), r.State.Unfinished()...))
	return err
}

// published writes the revision that holds now where people find it.
func (r *Run) published(ctx context.Context, b *lifecycle.Revised) error {
	if r.engine.Publish == nil {
		return nil
	}
	spec, err := artifact.ReadAll(ctx, r.engine.Artifacts, b.Spec, maxSpec)
	if err != nil {
		return err
	}
	return r.engine.Publish(r.State.Name, spec)
}

// reused is what the same pure work came to before a revision. Inputs that hold a secret have the hash of another text, so
// they are computed; and so is what would lack an output that is asked for by now.
func reused(w Work, inputs digest.ID, with json.RawMessage) (capability.Result, bool) {
	if w.reuse == nil || inputs.IsZero() || inputs != digest.Sum(with) {
		return capability.Result{}, false
	}
	r := w.reuse(inputs)
	if r == nil || missing(w.Spec, &lifecycle.Ended{Outputs: r.Outputs, Artifacts: r.Artifacts}) != nil {
		return capability.Result{}, false
	}
	return capability.Result{Outputs: r.Outputs, Artifacts: r.Artifacts, Exit: r.Exit}, true
}
