package engine

import (
	"context"
	"slices"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Replan proposes how to go on where a task has failed for good. Where the policy lets trying again happen by itself it is
// carried out at once, and what there is to do is returned; else it waits for somebody. Its owner calls it when the run is
// idle.
func (r *Run) Replan(ctx context.Context) ([]Work, error) {
	tasks := r.State.Diverged()
	if len(tasks) == 0 || r.engine.Agreed {
		return nil, nil
	}
	mode, err := r.engine.replanning(r.State.Plan)
	if err != nil || mode == plan.ReplanOff {
		return nil, err
	}
	act := mode == plan.ReplanAuto && r.State.MayAct()
	if !act {
		tasks = tasks[:1]
	}
	var first *lifecycle.Fact
	for _, id := range tasks {
		d := r.divergence(id)
		b, err := r.proposal(ctx, d)
		if err != nil {
			return nil, err
		}
		simple := b.Kind == lifecycle.ProposeRetry || b.Kind == lifecycle.ProposeRecover
		b.Auto = act && simple && !d.Once
		if f := (lifecycle.Fact{Kind: lifecycle.ReplanProposed, Task: id, Body: b}); b.Auto || first == nil {
			first = &f
		}
		if b.Auto {
			break
		}
	}
	work, _, err := r.Step(*first)
	return work, err
}

// proposal asks the replanner. What it does not know, or proposes and cannot be, is put to a person by the built-in rules.
func (r *Run) proposal(ctx context.Context, d Divergence) (*lifecycle.Proposed, error) {
	if own := r.engine.Replanner; own != nil {
		p, err := own.Propose(ctx, d)
		if err == nil {
			var b *lifecycle.Proposed
			if b, err = r.proposed(ctx, d, p); err == nil {
				return b, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return r.proposed(ctx, d, ask(d, d.Error+" (and nothing better was proposed: "+err.Error()+")"))
	}
	p, err := ruleReplanner{}.Propose(ctx, d)
	if err != nil {
		return nil, err
	}
	return r.proposed(ctx, d, p)
}

// proposed is the body of the fact that a proposal comes to.
func (r *Run) proposed(ctx context.Context, d Divergence, p Proposal) (*lifecycle.Proposed, error) {
	b := &lifecycle.Proposed{Kind: p.Kind, Why: clip(p.Why), By: p.By}
	switch p.Kind {
	case lifecycle.ProposeRetry:
	case lifecycle.ProposeRecover:
		if b.Mode = p.Mode; !slices.Contains(r.State.Recoveries(d.Task.ID), p.Mode) {
			return nil, fault.New(fault.Invalid, "task %s cannot recover by %q", d.Task.ID, p.Mode)
		}
	case lifecycle.ProposeQuestion:
		b.Asks, b.Options = clip(p.Question), p.Options
	case lifecycle.ProposeRevision:
		return b, r.proposedRevision(ctx, p, b)
	default:
		return nil, fault.New(fault.Invalid, "%q is no proposal", p.Kind)
	}
	return b, nil
}

// proposedRevision keeps a revision that is proposed, if the run could go on under it.
func (r *Run) proposedRevision(ctx context.Context, p Proposal, b *lifecycle.Proposed) error {
	if p.Plan == nil || p.Plan.Name != r.State.Plan.Name {
		return fault.New(fault.Invalid, "what is proposed is no revision of plan %s", r.State.Plan.Name)
	}
	spec, err := r.engine.normal(p.Plan).Encode()
	if err != nil {
		return err
	}
	revision, faults := plan.Read(r.State.Name+".json", spec, plan.Options{})
	if err := faults.Err(); err != nil {
		return err
	}
	blob, err := artifact.PutBytes(ctx, r.engine.Artifacts, spec)
	if err != nil {
		return err
	}
	if blob.ID == r.State.Spec {
		return fault.New(fault.Invalid, "the revision is what the plan is already")
	}
	b.Spec, b.Size = blob.ID, blob.Size
	body, err := r.engine.revised(ctx, Revision{Spec: blob.ID, Size: blob.Size, Base: r.State.Rev, How: lifecycle.ByRule}, revision)
	if err != nil {
		return err
	}
	_, err = r.State.Impact(body)
	return err
}

// aboutReplan reports whether a decision is about what is proposed: a task of that id comes first.
func (r *Run) aboutReplan(c Command) bool {
	_, taken := r.State.Task(c.Task)
	return c.Task == lifecycle.ReplanTask && !taken
}

// decideReplan makes the fact of somebody's word on the open proposal. To agree to a revision is to revise the plan.
func (r *Run) decideReplan(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	p := r.State.Proposal()
	if p == nil {
		return f, fault.New(fault.Conflict, "nothing is proposed for plan %s", r.State.Name).Remedy("see where it stands with: cairn show %s", r.State.Name)
	}
	agrees := c.Name == Approve
	roles := r.engine.roles(actor)
	if err := r.engine.mayReplan(r.State, gate.Who{Actor: actor, Roles: roles}, agrees); err != nil {
		return f, err
	}
	if agrees && p.Kind == lifecycle.ProposeRevision {
		f.Task = ""
		c.Revision = &Revision{Spec: p.Spec, Size: p.Size, Base: p.Rev, How: lifecycle.ByRule}
		return r.revision(f, c)
	}
	f.Kind, f.Task, f.Body = lifecycle.ReplanDecided, p.Task, &lifecycle.ReplanVerdict{Accepted: agrees, Why: clip(c.Why), Roles: roles}
	return f, nil
}

// mayReplan refuses who lacks the roles that policies name for proposals, under approve: the plan's, the project's and the
// home's, each by the rule that gates go by.
func (e *Engine) mayReplan(st *lifecycle.State, w gate.Who, agrees bool) error {
	policies := []*plan.Policy{st.Plan.Policy}
	if e.Policies != nil {
		sources, err := e.Policies()
		if err != nil {
			return err
		}
		for _, s := range sources {
			policies = append(policies, s.Policy)
		}
	}
	for _, p := range policies {
		if p == nil || len(p.Approve[plan.Replans]) == 0 {
			continue
		}
		h := gate.Hold{Authors: st.Authors(), Demands: []gate.Demand{{Roles: p.Approve[plan.Replans]}}}
		if err := h.May(w, agrees); err != nil {
			return err
		}
	}
	return nil
}
