package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Forker is a workspace that can begin another plan from a state that it kept.
type Forker interface {
	Fork(ctx context.Context, plan, state string) error
}

// Split is a fork that is asked for.
type Split struct {
	Plan   string
	At     string                     // a checkpoint, or a task: its last end
	Name   string                     // of the new plan; empty: PLAN-fork, or the next that is free
	Inputs map[string]json.RawMessage // of the plan, that shall be others
}

// Forked is the plan that a fork made.
type Forked struct {
	Plan    string     `json:"plan"`
	From    Checkpoint `json:"from"`
	Carried []string   `json:"carried"` // tasks that it does not have to do
}

// Fork begins a new plan with what another had done at a checkpoint. Its journal holds the results that it takes over, each with
// the record that it came from; what was under way then, and what reads an input that was changed, is still to be done.
func (e *Engine) Fork(ctx context.Context, s Split, actor string) (Forked, error) {
	at, err := e.checkpoint(ctx, s.Plan, s.At)
	if err != nil {
		return Forked{}, err
	}
	st, ends, err := e.stateAt(ctx, s.Plan, journal.Seq(at.Seq))
	if err != nil {
		return Forked{}, err
	}
	out := Forked{From: at, Carried: []string{}}
	if out.Plan, err = e.forkName(ctx, s); err != nil {
		return out, err
	}
	p := *st.Plan
	p.Name = out.Plan
	if p.Inputs, err = overlaid(p.Inputs, s.Inputs); err != nil {
		return out, err
	}
	body, spec, err := e.forkBody(ctx, &p, ends[""])
	if err != nil {
		return out, err
	}
	revised, err := e.revised(ctx, Revision{Spec: body.Spec, Size: body.Size, Base: st.Rev}, &p)
	if err != nil {
		return out, err
	}
	carries, err := st.Fork(revised)
	if err != nil {
		return out, err
	}
	for i := range carries {
		c := &carries[i]
		if c.Status != "" {
			out.Carried = append(out.Carried, c.Task)
		}
		if c.From = ends[c.Task]; c.From.Plan == "" {
			c.From = *body.Fork // a group, whose end no record tells
		}
	}
	if at.Tree != "" {
		if err := e.forkTree(ctx, s.Plan, out.Plan, at.Tree, st.Plan); err != nil {
			return out, err
		}
	}
	if err := e.begin(ctx, &p, body, carries, actor); err != nil {
		return out, err
	}
	if e.Publish != nil {
		return out, e.Publish(out.Plan, spec)
	}
	return out, nil
}

// checkpoint finds the one that was named; the last end of a task where a task was.
func (e *Engine) checkpoint(ctx context.Context, name, at string) (Checkpoint, error) {
	if _, _, err := e.Load(ctx, name); err != nil {
		return Checkpoint{}, err
	}
	all, err := e.Checkpoints(ctx, name)
	if err != nil {
		return Checkpoint{}, err
	}
	var names []string
	for i := len(all) - 1; i >= 0; i-- {
		if c := all[i]; c.Name == at || c.Task == at {
			return c, nil
		}
		names = append(names, all[i].Name)
	}
	missing := fault.New(fault.NotFound, "plan %s has no checkpoint %s", name, at)
	switch {
	case len(names) == 0:
		return Checkpoint{}, missing.Remedy("there are none yet: none of its tasks is done")
	case len(names) > 5:
		return Checkpoint{}, missing.Remedy("the last are: %s; see all with: cairn show %s --checkpoints", strings.Join(names[:5], ", "), name)
	}
	return Checkpoint{}, missing.Remedy("there are: %s", strings.Join(names, ", "))
}

// stateAt folds a run up to a record, and finds for each task the record that tells how it came out. That of no task is the
// checkpoint itself.
func (e *Engine) stateAt(ctx context.Context, name string, seq journal.Seq) (*lifecycle.State, map[string]lifecycle.Origin, error) {
	st := lifecycle.New(name)
	fold := lifecycle.Fold{State: st, Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) { return e.Spec(ctx, b) }}
	ends := map[string]lifecycle.Origin{}
	for entry, err := range e.Journal.Read(ctx, name, 0) {
		if err != nil {
			return nil, nil, err
		}
		r, err := journal.Decode(entry)
		if err != nil {
			return nil, nil, err
		}
		// What follows from the checkpoint's own record belongs to it.
		if r.Seq > seq && r.Cause != seq {
			break
		}
		if _, err := fold.Next(entry); err != nil {
			return nil, nil, err
		}
		from := lifecycle.Origin{Plan: name, Seq: r.Seq, Hash: entry.Hash}
		switch r.Kind {
		case lifecycle.TaskEnded, lifecycle.TaskSettled, lifecycle.TaskJudged, lifecycle.TaskCarried, lifecycle.GateDecided, lifecycle.TaskAssessed:
			ends[r.Task] = from
		}
		if r.Seq == seq {
			ends[""] = from
		}
	}
	return st, ends, nil
}

func (e *Engine) forkName(ctx context.Context, s Split) (string, error) {
	base := s.Name
	if strings.ContainsAny(base, "/\\@ \t\n") || strings.HasPrefix(base, ".") {
		return "", fault.New(fault.Invalid, "a plan cannot be called %q", base).Remedy("use letters, digits and dashes")
	}
	if base == "" {
		base = s.Plan + "-fork"
	}
	for n := 2; ; n++ {
		name := base
		if n > 2 {
			name = base + "-" + itoa(n-1)
		}
		head, err := e.Journal.Head(ctx, name)
		switch {
		case err != nil:
			return "", err
		case head.Seq == 0:
			return name, nil
		case s.Name != "":
			return "", fault.New(fault.Conflict, "there is a plan %s already", name).Remedy("choose another name")
		}
	}
}

// overlaid lays inputs over those that a plan has.
func overlaid(inputs json.RawMessage, over map[string]json.RawMessage) (json.RawMessage, error) {
	if len(over) == 0 {
		return inputs, nil
	}
	all := map[string]json.RawMessage{}
	if len(inputs) > 0 {
		if err := json.Unmarshal(inputs, &all); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "read the inputs of a plan")
		}
	}
	for k, v := range over {
		all[k] = v
	}
	return json.Marshal(all)
}

// forkBody stores the plan and makes the fact that hands it in.
func (e *Engine) forkBody(ctx context.Context, p *plan.Plan, from lifecycle.Origin) (*lifecycle.Submitted, []byte, error) {
	spec, err := p.Encode()
	if err != nil {
		return nil, nil, err
	}
	blob, err := artifact.PutBytes(ctx, e.Artifacts, spec)
	if err != nil {
		return nil, nil, err
	}
	body := &lifecycle.Submitted{Spec: blob.ID, Size: blob.Size, Title: p.Title, Tasks: len(p.Tasks), Law: lifecycle.Law, Fork: &from,
		Capabilities: e.installed(p.Tasks, map[string]lifecycle.Installed{})}
	body.Guarded, err = e.guarded(ctx, p)
	return body, spec, err
}

// forkTree has the files of a fork on a branch begin where the checkpoint left them.
func (e *Engine) forkTree(ctx context.Context, from, to, tree string, p *plan.Plan) error {
	if e.Workspace == nil {
		return nil
	}
	ws, err := e.Workspace(ctx, from, kindOf(p))
	if err != nil {
		return err
	}
	if f, ok := ws.(Forker); ok {
		return f.Fork(ctx, to, tree)
	}
	return nil // in place: the files are where they are
}

// begin writes the journal that a fork begins with, all at once.
func (e *Engine) begin(ctx context.Context, p *plan.Plan, body *lifecycle.Submitted, carries []lifecycle.Carry, actor string) error {
	release, err := e.Holder.Hold(p.Name)
	if err != nil {
		return err
	}
	defer release()
	r := newRun(e, lifecycle.New(p.Name), journal.Head{}, release)
	person, claimer := gate.Claimed(actor)
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Body: body, Time: r.clock()}
	f.By(person, claimer, e.trusts())
	derived, err := r.State.Submit(f, p)
	if err != nil {
		return err
	}
	if err := r.record(f, derived); err != nil {
		return err
	}
	for i := range carries {
		if _, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.TaskCarried, Task: carries[i].Task, Body: &carries[i].Carried}); err != nil {
			return err
		}
	}
	return e.Journal.Append(ctx, r.TakePending())
}
