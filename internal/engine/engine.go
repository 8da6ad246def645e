// Package engine carries plans out: it takes facts, lets the law derive what follows, writes both to the
// journal and performs what is asked for. It is the only writer of the journal.
//
// A Run is one plan held by this process. Its owner, a driver, is the one goroutine that calls Step; attempts run
// beside it and report by facts. What is in memory may be ahead of the disk, what is done in the world
// never is: an attempt with effects begins when its own start is durable, and nobody is told of anything before it is.
// When a write fails the run is over for this process: the journal has all that was acknowledged, and the next
// one goes on from there.
package engine

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// Capabilities is what the engine asks of a registry.
type Capabilities interface {
	Lookup(id string) (capability.Contract, capability.Runner, bool)
	Check(id string, with json.RawMessage) error
}

// Config is what an engine works with. All fields are required unless they say otherwise.
type Config struct {
	Journal      journal.Store
	Holder       journal.Holder
	Mailbox      journal.Mailbox
	Artifacts    artifact.Store
	Capabilities Capabilities
	Root         string                        // the project's root, where tasks run
	Home         string                        // what tasks are kept from; optional
	Version      string                        // of this engine, recorded with each session
	Host         string                        // name of this machine, recorded with each session
	PID          int                           // of this process, likewise
	Now          func() time.Time              // the one clock
	Machine      func() map[string]any         // what preconditions may ask: network, disk, memory
	End          func(capability.Process) bool // ends a process that a dead engine left; optional
	Publish      func(name string, spec []byte) error
	Replanner    Replanner // optional: without, the rules that are built in propose
	Secrets      Secrets   // optional: without, a plan that names one fails
	People       People    // optional: without, nobody has a role
	Agreed       bool      // everybody is taken to agree, as in a dry run
	// Policies are those of the project and the home, read anew each time; nil: there are none.
	Policies func() ([]policy.Source, error)
	Days     budget.Days  // what all plans spend in a day; nil: nobody counts
	Turns    budget.Turns // when what may be called only so often is; nil: nobody waits
	// Workspace opens the workspace of a plan; nil: tasks run in the root and their changes are not kept.
	Workspace func(ctx context.Context, plan, kind string) (Workspace, error)
}

// Engine carries out the plans of one home.
type Engine struct{ Config }

// New makes an engine.
func New(c Config) *Engine { return &Engine{Config: c} }

// Driver keeps a run moving until it is over, waits for people, or ctx is done.
type Driver interface {
	Drive(ctx context.Context, r *Run) error
}

// Spec reads back the plan that a submission names.
func (e *Engine) Spec(ctx context.Context, b *lifecycle.Submitted) (*plan.Plan, error) {
	raw, err := artifact.ReadAll(ctx, e.Artifacts, b.Spec, maxSpec)
	if err != nil {
		return nil, err
	}
	return plan.Decode(raw)
}

// maxSpec bounds what is read back as a plan; far above what plan.Read accepts.
const maxSpec = 1 << 30

// Load folds a plan's journal. It reads only, so it works whoever holds the plan.
func (e *Engine) Load(ctx context.Context, name string) (*lifecycle.State, journal.Head, error) {
	st := lifecycle.New(name)
	fold := lifecycle.Fold{State: st, Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) { return e.Spec(ctx, b) }}
	if err := fold.All(e.Journal.Read(ctx, name, 0)); err != nil {
		return nil, journal.Head{}, err
	}
	if st.Phase == lifecycle.NoPlan {
		return nil, journal.Head{}, e.noPlan(ctx, name)
	}
	return st, fold.Head, nil
}

func (e *Engine) noPlan(ctx context.Context, name string) error {
	err := fault.New(fault.NotFound, "there is no plan %s here", name)
	names, lerr := e.Journal.Plans(ctx)
	switch {
	case lerr != nil || len(names) == 0:
		return err.Remedy("this home has no plans yet; start one with: cairn run FILE")
	case len(names) <= 5:
		return err.Remedy("the plans are: %s", join(names))
	}
	return err.Remedy("see them with: cairn list")
}

// Records yields a plan's records after a sequence number.
func (e *Engine) Records(ctx context.Context, name string, after journal.Seq) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for entry, err := range e.Journal.Read(ctx, name, after) {
			var r journal.Record
			if err == nil {
				r, err = journal.Decode(entry)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Submit hands a plan in and names its run: the one that is under way when it is the same plan and not finished,
// a new one otherwise. A plan of that name that is not finished and differs is a conflict.
func (e *Engine) Submit(ctx context.Context, p *plan.Plan, source, actor string) (name string, err error) {
	p = e.normal(p)
	spec, err := p.Encode()
	if err != nil {
		return "", err
	}
	name, exists, err := e.nameFor(ctx, p.Name, digest.Sum(spec))
	if err != nil || exists {
		return name, err
	}
	blob, err := artifact.PutBytes(ctx, e.Artifacts, spec)
	if err != nil {
		return "", err
	}
	release, err := e.Holder.Hold(name)
	if err != nil {
		return "", err
	}
	defer release()
	body := &lifecycle.Submitted{Spec: blob.ID, Size: blob.Size, Title: p.Title, Tasks: len(p.Tasks), Source: source, Law: lifecycle.Law,
		Capabilities: e.installed(p.Tasks, map[string]lifecycle.Installed{})}
	r := newRun(e, lifecycle.New(name), journal.Head{}, release)
	if body.Budget, _, err = e.limits(p); err != nil {
		return "", err
	}
	if body.Guarded, err = e.guarded(ctx, p); err != nil {
		return "", err
	}
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Body: body, Time: e.Now()}
	person, claimer := gate.Claimed(actor)
	f.By(person, claimer, e.trusts())
	derived, err := r.State.Submit(f, p)
	if err != nil {
		return "", err
	}
	if err := r.record(f, derived); err != nil {
		return "", err
	}
	if err := e.Journal.Append(ctx, r.TakePending()); err != nil {
		return "", err
	}
	if e.Publish != nil {
		return name, e.Publish(name, spec)
	}
	return name, nil
}

// nameFor finds the run that a plan of this name and content goes on with: NAME, NAME-2, ...
func (e *Engine) nameFor(ctx context.Context, base string, spec digest.ID) (name string, exists bool, err error) {
	name = base
	for n := 2; ; n++ {
		head, err := e.Journal.Head(ctx, name)
		if err != nil {
			return "", false, err
		}
		if head.Seq == 0 {
			return name, false, nil
		}
		st, _, err := e.Load(ctx, name)
		if err != nil {
			return "", false, err
		}
		if !st.Phase.Over() {
			if st.Spec == spec {
				return name, true, nil
			}
			return "", false, fault.New(fault.Conflict, "plan %s is %s and differs from this file", name, st.State()).
				Remedy("finish it first (cairn resume %s), give it up (cairn cancel %s), or change it in place: cairn replan %s --file FILE --why TEXT", name, name, name)
		}
		name = base + "-" + itoa(n)
	}
}

// normal makes explicit what the plan leaves to us: a command that is a pipeline of capabilities we have is one.
func (e *Engine) normal(p *plan.Plan) *plan.Plan {
	q := *p
	q.Tasks = e.normalTasks(p.Tasks)
	return &q
}

func (e *Engine) normalTasks(tasks []plan.Task) []plan.Task {
	out := make([]plan.Task, len(tasks))
	copy(out, tasks)
	for i := range out {
		t := &out[i]
		if t.Uses == "" && t.Run != "" && t.Subplan == nil && e.isPipeline(t.Run) {
			t.Uses = Pipeline
		}
		if t.Subplan != nil {
			s := *t.Subplan
			s.Tasks = e.normalTasks(s.Tasks)
			t.Subplan = &s
		}
	}
	return out
}

// installed records the capabilities that tasks use as they are now.
func (e *Engine) installed(tasks []plan.Task, into map[string]lifecycle.Installed) map[string]lifecycle.Installed {
	for i := range tasks {
		t := &tasks[i]
		if t.Uses != "" {
			if _, known := into[t.Uses]; !known {
				c, _, _ := e.Capabilities.Lookup(t.Uses)
				into[t.Uses] = lifecycle.Installed{Version: c.Version, Repeat: c.Repeat, Spends: c.Spends}
			}
		}
		if t.Subplan != nil {
			e.installed(t.Subplan.Tasks, into)
		}
	}
	return into
}

func itoa(n int) string { return strconv.Itoa(n) }

func join(names []string) string { return strings.Join(names, ", ") }
