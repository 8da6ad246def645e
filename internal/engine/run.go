package engine

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Run is a plan that this process holds. One goroutine, its owner, calls its methods; Perform alone may be
// called from others.
type Run struct {
	State *lifecycle.State

	engine  *Engine
	head    journal.Head // of what was recorded, durable or not
	last    time.Time    // of the last record: time does not run backwards in a journal
	pending []journal.Entry
	release func()
	items   itemCache
	space   space
	vault   vault
	rules   rulebook
	day     budget.Amount                  // what all plans may spend in one, as policies had it when the run began
	paces   func() ([]*plan.Policy, error) // what of the project and the home limits how often, read once
	flow    flow
}

// Work is an effect with all that it needs from the state, so that it can be performed away from it.
type Work struct {
	lifecycle.Effect
	After journal.Seq // begin only when this record is durable; 0: at once

	key   digest.ID
	scope scope
	reuse func(inputs digest.ID) *lifecycle.Result // of pure work that was done before a revision
	epoch int                                      // of the session that hands it out
}

func newRun(e *Engine, st *lifecycle.State, head journal.Head, release func()) *Run {
	return &Run{State: st, engine: e, head: head, release: release, paces: sync.OnceValues(e.paces), items: itemCache{engine: e, lists: map[digest.ID][]json.RawMessage{}}}
}

// openWait is how long Open waits for a claim: a command that is being taken holds the plan for a moment.
const openWait = 500 * time.Millisecond

// Open claims a plan and folds it. The claim ends with Close, or with the process.
func (e *Engine) Open(ctx context.Context, name string) (*Run, error) {
	for deadline := time.Now().Add(openWait); ; {
		r, err := e.open(ctx, name)
		if !fault.Is(err, fault.Conflict) || time.Now().After(deadline) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (e *Engine) open(ctx context.Context, name string) (*Run, error) {
	head, err := e.Journal.Head(ctx, name)
	if err != nil {
		return nil, err
	}
	if head.Seq == 0 {
		return nil, e.noPlan(ctx, name)
	}
	release, err := e.Holder.Hold(name)
	if err != nil {
		return nil, err
	}
	st := lifecycle.New(name)
	fold := lifecycle.Fold{State: st, Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) { return e.Spec(ctx, b) }}
	if err := fold.All(e.Journal.Read(ctx, name, 0)); err != nil {
		release()
		return nil, err
	}
	r := newRun(e, st, fold.Head, release)
	r.last = fold.Cause.Time
	return r, nil
}

// Close gives the claim up. What is pending and was not committed is lost: it was never acknowledged.
func (r *Run) Close() { r.release() }

// Engine is the engine that the run belongs to.
func (r *Run) Engine() *Engine { return r.engine }

// Step takes a fact: the law derives, both are sealed into the chain and queued for the disk, and what has to be
// done is returned. A fact that the law refuses changes nothing.
func (r *Run) Step(f lifecycle.Fact) ([]Work, []lifecycle.Derived, error) {
	f.Time = r.clock()
	if f.Actor == "" {
		f.Actor = lifecycle.Engine
	}
	if actor, claimer := gate.Claimed(f.Actor); claimer != "" {
		f.By(actor, claimer, r.engine.trusts())
	}
	derived, err := r.State.Take(f)
	if err != nil {
		return nil, nil, err
	}
	if err := r.record(f, derived); err != nil {
		return nil, nil, err
	}
	return r.work(r.State.Effects()), derived, nil
}

// clock reads the time, never before the last record: a clock that was set back must not reorder history.
func (r *Run) clock() time.Time {
	now := r.engine.Now().UTC().Round(0)
	if now.Before(r.last) {
		return r.last
	}
	r.last = now
	return now
}

func (r *Run) record(f lifecycle.Fact, derived []lifecycle.Derived) error {
	b, err := f.Encode()
	if err != nil {
		return err
	}
	rec := journal.Record{Plan: r.State.Name, Rev: r.State.Rev, Kind: f.Kind, Time: f.Time, Actor: f.Actor, Task: f.Task,
		Attempt: f.Attempt, Body: b}
	r.append(rec)
	cause := r.head.Seq
	for _, d := range derived {
		r.append(journal.Record{Plan: r.State.Name, Rev: r.State.Rev, Kind: d.Kind, Time: f.Time, Actor: lifecycle.Engine, Cause: cause,
			Task: d.Task, Attempt: d.Attempt, Body: d.Body})
	}
	return nil
}

func (r *Run) append(rec journal.Record) {
	e := journal.Seal(rec, r.head)
	r.pending = append(r.pending, e)
	r.head = e.Head()
}

// work prepares effects: whatever they read of the state is gathered now, by its owner.
func (r *Run) work(effects []lifecycle.Effect) []Work {
	if len(effects) == 0 {
		return nil
	}
	out := make([]Work, 0, len(effects))
	for _, ef := range effects {
		w := Work{Effect: ef, epoch: r.State.Epoch}
		if ef.Kind == lifecycle.Start || ef.Kind == lifecycle.Assess || ef.Kind == lifecycle.Undo {
			w.scope = r.gather(ef)
			if ef.Kind == lifecycle.Start && ef.Pure {
				w.reuse = r.State.Reuse(ef.Spec.Uses)
			}
			if ef.Kind == lifecycle.Undo || ef.Kind == lifecycle.Start && !ef.Pure {
				w.After, w.key = r.head.Seq, r.State.Key(ef.Task, ef.Execution)
			}
		}
		out = append(out, w)
	}
	return out
}

// Pending is how many records wait for TakePending.
func (r *Run) Pending() int { return len(r.pending) }

// Head is the end of what was recorded, durable or not.
func (r *Run) Head() journal.Head { return r.head }

// TakePending hands out what has to be written next. The caller appends it to the journal, in this order and all
// at once, so that a fact and what follows from it are never apart.
func (r *Run) TakePending() []journal.Entry {
	p := r.pending
	r.pending = make([]journal.Entry, 0, len(p))
	return p
}

// Begin starts a submitted run, or takes up one that another process left: what its attempts came to is
// found out, by asking the capability where it can be asked, and the rest is repeated or put to a person.
func (r *Run) Begin(ctx context.Context, workers int) ([]Work, error) {
	var err error
	if _, r.day, err = r.engine.limits(r.State.Plan); err != nil {
		return nil, err
	}
	s := &lifecycle.Session{Epoch: r.State.Epoch + 1, Engine: r.engine.Version, Host: r.engine.Host, PID: r.engine.PID, Workers: workers}
	switch r.State.Phase {
	case lifecycle.PlanPending:
		w, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.PlanStarted, Body: s})
		if err != nil {
			return nil, err
		}
		return r.fireDue(w)
	case lifecycle.PlanRunning, lifecycle.PlanIsPaused:
	default:
		return nil, fault.New(fault.Conflict, "plan %s is %s: there is nothing to go on with", r.State.Name, r.State.Phase)
	}
	cutOff := append([]lifecycle.Effect(nil), r.State.Unfinished()...)
	out := r.work(append([]lifecycle.Effect(nil), r.State.Outstanding()...))
	if s.Guarded, err = r.newlyGuarded(ctx); err != nil {
		return nil, err
	}
	more, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.PlanResumed, Body: s})
	if err != nil {
		return nil, err
	}
	cleared, err := r.clear(ctx, cutOff)
	if err != nil {
		return nil, err
	}
	freed, err := r.reread(ctx)
	if err != nil {
		return nil, err
	}
	return r.fireDue(append(append(append(out, more...), cleared...), freed...))
}

// itemCache keeps the lists that fan-outs range over.
type itemCache struct {
	engine *Engine
	mu     sync.Mutex
	lists  map[digest.ID][]json.RawMessage
}
