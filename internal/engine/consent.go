package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// People says who is what, as this home knows it today.
type People interface {
	// Roles lists those of an actor.
	Roles(actor string) []string
	// Trusts reports whether somebody who acts under another's name is taken for them.
	Trusts() bool
}

// roles are those of an actor, none where nobody is known.
func (e *Engine) roles(actor string) []string {
	if e.People == nil {
		return nil
	}
	return e.People.Roles(actor)
}

func (e *Engine) trusts() bool { return e.People != nil && e.People.Trusts() }

// rules are all that hold for a plan: its own, the project's, the home's, and those that are built in.
func (e *Engine) rules(p *plan.Plan) (*policy.Set, error) {
	sources := []policy.Source{{Name: "the plan", Policy: p.Policy}}
	if e.Policies != nil {
		more, err := e.Policies()
		if err != nil {
			return nil, err
		}
		sources = append(sources, more...)
	}
	return policy.New(sources...)
}

// rulebook keeps what a policy makes of a plan for as long as both stay.
type rulebook struct {
	mu    sync.Mutex
	plan  *plan.Plan
	set   *policy.Set
	gated map[string]bool
}

func (b *rulebook) of(e *Engine, p *plan.Plan) (*policy.Set, map[string]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.plan == p {
		return b.set, b.gated, nil
	}
	set, err := e.rules(p)
	if err != nil {
		return nil, nil, err
	}
	b.plan, b.set, b.gated = p, set, policy.Gated(p)
	return b.set, b.gated, nil
}

// contract finds one for the policy to read.
func (e *Engine) contract(id string) (capability.Contract, bool) {
	c, _, ok := e.Capabilities.Lookup(id)
	return c, ok
}

// guarded lists the tasks of a plan that a policy may hold.
func (e *Engine) guarded(ctx context.Context, p *plan.Plan) ([]string, error) {
	set, err := e.rules(p)
	if err != nil {
		return nil, err
	}
	return set.Guarded(ctx, p, e.contract)
}

// newlyGuarded lists those that were not known when the plan was handed in: policies change.
func (r *Run) newlyGuarded(ctx context.Context) ([]string, error) {
	ids, err := r.engine.guarded(ctx, r.State.Plan)
	return slices.DeleteFunc(ids, r.State.IsGuarded), err
}

// matter is what is to be approved, as far as the state tells; its owner collects it.
type matter struct {
	plan     *plan.Plan
	path     string
	releases []*plan.Task
	diff     bool   // what changed must be seen
	from, to string // between these states of the files
}

func (r *Run) matterOf(ef lifecycle.Effect) *matter {
	if ef.Kind != lifecycle.Assess || !ef.Hold {
		return nil
	}
	m := &matter{plan: r.State.Plan, path: r.State.Path(ef.Task), releases: r.State.Releases(ef.Task)}
	if m.diff = ef.Spec.Approve != nil && slices.Contains(ef.Spec.Approve.Evidence, EvidenceDiff); m.diff {
		m.from, m.to = r.State.Trees()
	}
	return m
}

// EvidenceDiff is the evidence of having seen what changed.
const EvidenceDiff = "diff"

// hold finds out who has to agree before a task goes on, and to what.
func (r *Run) hold(ctx context.Context, w Work, a *lifecycle.Assessed) error {
	set, gated, err := r.rules.of(r.engine, w.scope.matter.plan)
	if err != nil {
		return err
	}
	c := policy.Case{Task: w.Spec, ID: w.Task, Now: r.engine.Now().UTC(), Gated: gated[w.scope.matter.path], Tested: w.Tested}
	if w.Spec.Each == "" { // what its items bring is seen when each begins
		c.With, c.Run, err = r.foreseen(ctx, w)
		if err != nil {
			return err
		}
	}
	c.Contract, _ = r.engine.contract(w.Spec.Uses)
	ruling, err := set.Judge(ctx, c)
	if err != nil {
		return err
	}
	if a.Denied = ruling.Denied; !r.engine.Agreed {
		a.Demands = ruling.Demands
	}
	a.Subject, err = r.subject(ctx, w, c)
	return err
}

// foreseen is what a task hands to its capability, with secrets by name.
func (r *Run) foreseen(ctx context.Context, w Work) (with json.RawMessage, run string, err error) {
	look := r.lookup(ctx, w.scope)
	named := func(ref expr.Ref) (any, error) {
		if ref.Root == expr.Secret {
			return ref.Text, nil
		}
		return look(ref)
	}
	if with, err = expr.Resolve(w.Spec.With, named); err != nil || w.Spec.Run == "" || w.Spec.Uses == Pipeline {
		return with, w.Spec.Run, err
	}
	run, err = expr.Text(w.Spec.Run, w.scope.inner != "", named)
	return with, run, err
}

// subject names what is to be approved: what it sets free, without its prose, and what has changed so far where that
// must be seen. The same subject is not asked for twice.
func (r *Run) subject(ctx context.Context, w Work, c policy.Case) (digest.ID, error) {
	parts := []string{"cairn subject", c.Run, string(c.With)}
	for _, t := range w.scope.matter.releases {
		e := t.Essence()
		b, err := json.Marshal(e)
		if err != nil {
			return digest.ID{}, err
		}
		parts = append(parts, string(b))
	}
	if m := w.scope.matter; m.diff {
		diff, err := r.changes(ctx, m)
		if err != nil {
			return digest.ID{}, err
		}
		parts = append(parts, digest.Sum(diff).String())
	}
	return digest.Parts(parts...), nil
}

// changes is the difference that the plan's tasks have made to the files so far.
func (r *Run) changes(ctx context.Context, m *matter) ([]byte, error) {
	ws, err := r.workspace(ctx)
	if ws == nil || err != nil || m.from == "" || m.from == m.to {
		return nil, err
	}
	return ws.Diff(ctx, m.from, m.to)
}

// decision decides a gate, or a task that is held.
func (r *Run) decision(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	t, err := r.task(c.Task)
	if err != nil {
		return f, err
	}
	g, held := r.State.Gate(t.ID)
	if t.Wait != lifecycle.ForDecision {
		return r.tooLate(f, c, t, g, held)
	}
	if !held {
		return r.oldGate(f, c, t, actor)
	}
	if !g.Due.IsZero() && !r.engine.Now().Before(g.Due) { // nobody was there to see that its time is up
		f.Kind, f.Body = lifecycle.TimerFired, &lifecycle.Fired{For: lifecycle.TimerGate}
		return f, nil
	}
	ctx := context.Background()
	if now, err := r.reassess(ctx, t); err == nil && !now.Subject.IsZero() && now.Subject != g.Subject {
		f.Kind, f.Body = lifecycle.TaskAssessed, now
		return f, nil
	}
	b := &lifecycle.Decided{Approved: c.Name == Approve, Why: clip(c.Why), Roles: r.engine.roles(actor), Subject: g.Subject, Override: c.Override,
		Back: c.Back, Evidence: c.Artifacts}
	f.Kind, f.Body = lifecycle.GateDecided, b
	if c.Seen != "" && !strings.HasPrefix(g.Subject.String(), c.Seen) {
		return f, r.another(t.ID)
	}
	if err := g.May(gate.Who{Actor: actor, Roles: b.Roles}, b.Approved); err != nil {
		return f, err // before what they would have to look at
	}
	if b.Approved {
		return f, r.evidence(t, c)
	}
	b.Answers, err = answers(t.Spec.Approve, c.Answers)
	return f, err
}

// oldGate decides a gate of the first edition of the law, which counts one vote and knows nobody's role.
func (r *Run) oldGate(f lifecycle.Fact, c Command, t lifecycle.Task, actor string) (lifecycle.Fact, error) {
	f.Kind, f.Body = lifecycle.GateDecided, &lifecycle.Decided{Approved: c.Name == Approve, Why: c.Why}
	if t.Spec.Approve == nil || c.Name != Approve {
		return f, nil
	}
	h := gate.Hold{Demands: []gate.Demand{policy.Asks(t.Spec.Approve)}, Authors: r.State.Authors()}
	return f, h.May(gate.Who{Actor: actor, Roles: r.engine.roles(actor)}, true)
}

// reassess looks again at what is to be approved.
func (r *Run) reassess(ctx context.Context, t lifecycle.Task) (*lifecycle.Assessed, error) {
	w := Work{Effect: lifecycle.Effect{Kind: lifecycle.Assess, Task: t.ID, Spec: t.Spec, Hold: true, Tested: t.Tested}}
	w.scope = r.gather(w.Effect)
	return r.assessed(ctx, w)
}

func (r *Run) another(id string) error {
	return fault.New(fault.Conflict, "what %s is to let through has changed since it was seen", id).
		Remedy("look at it again: cairn show %s %s", r.State.Name, id)
}

// tooLate answers for a gate that is not open. A decision that came second is kept beside the first.
func (r *Run) tooLate(f lifecycle.Fact, c Command, t lifecycle.Task, g lifecycle.Gate, held bool) (lifecycle.Fact, error) {
	switch {
	case !held && t.Spec.Kind != plan.Gate && t.Spec.Approve == nil:
		return f, fault.New(fault.Invalid, "task %s is no gate", t.ID).
			Remedy("for a task that waits for a person: cairn complete %s %s", r.State.Name, t.ID)
	case !held && t.Status.Terminal():
		return f, fault.New(fault.Conflict, "gate %s is decided: it is %s", t.ID, t.Status).Remedy("see how: cairn why %s %s", r.State.Name, t.ID)
	case !held:
		return f, fault.New(fault.Conflict, "gate %s is not open yet: it is %s", t.ID, t.Status).
			Remedy("see what it waits for: cairn why %s %s", r.State.Name, t.ID)
	case g.Expired:
		return f, r.timeIsUp(t.ID)
	case r.State.Phase != lifecycle.PlanRunning && r.State.Phase != lifecycle.PlanIsPaused:
		return f, r.decided(t.ID)
	}
	f.Kind, f.Body = lifecycle.GateDecided, &lifecycle.Decided{Approved: c.Name == Approve, Why: clip(c.Why), Roles: r.engine.roles(f.Actor), Late: true}
	return f, nil
}

// timeIsUp says what became of a gate that was not decided in time.
func (r *Run) timeIsUp(id string) error {
	if g, _ := r.State.Gate(id); !g.Expired {
		return fault.New(fault.Conflict, "nobody decided gate %s in time, so others may by now: it waits for %s", id, g.Lacks()).
			Remedy("decide it again, if you may: cairn approve %s %s", r.State.Name, id)
	}
	return fault.New(fault.Conflict, "gate %s expired: nobody decided in time", id).Remedy("open it again: cairn retry %s", r.State.Name)
}

// decided says how a gate was decided before.
func (r *Run) decided(id string) error {
	g, _ := r.State.Gate(id)
	how := "decided"
	if n := len(g.Votes); n > 0 {
		v := g.Votes[n-1]
		how = map[bool]string{true: "approved", false: "rejected"}[v.Approved] + " by " + v.Actor + " at " + v.Time.UTC().Format("2006-01-02 15:04:05Z")
	}
	return fault.New(fault.Conflict, "gate %s is %s already", id, how).Remedy("see: cairn why %s %s", r.State.Name, id)
}

// Outcome is what whoever asked for a fact is told once it was taken; nil: what they asked for was done.
func (r *Run) Outcome(f lifecycle.Fact) error {
	switch b := f.Body.(type) {
	case *lifecycle.Decided:
		if b.Late {
			return r.decided(f.Task)
		}
	case *lifecycle.Fired:
		if f.Actor != lifecycle.Engine {
			return r.timeIsUp(f.Task)
		}
	case *lifecycle.Assessed:
		if f.Actor != lifecycle.Engine {
			return r.another(f.Task)
		}
	case *lifecycle.Revised:
		return r.published(context.Background(), b)
	}
	return nil
}

// evidence refuses an approval without what has to be looked at.
func (r *Run) evidence(t lifecycle.Task, c Command) error {
	if t.Spec.Approve == nil {
		return nil
	}
	for _, name := range t.Spec.Approve.Evidence {
		switch {
		case name == EvidenceDiff && c.Seen == "":
			return fault.New(fault.Denied, "gate %s wants the diff to be seen first", t.ID).
				Remedy("look at it with: cairn diff %s %s; then approve with the --seen that cairn show names", r.State.Name, t.ID)
		case name == EvidenceDiff || slices.ContainsFunc(c.Artifacts, func(a capability.Ref) bool { return a.Name == name }):
		case !r.produced(t.ID, name):
			return fault.New(fault.Denied, "gate %s wants evidence that is not there: %s", t.ID, name).
				Remedy("hand it in with the approval: --evidence %s=@FILE", name)
		}
	}
	return nil
}

// produced reports whether a task.output is there.
func (r *Run) produced(scope, name string) bool {
	id, output, ok := strings.Cut(name, ".")
	other, found := r.State.Resolve(scope, id)
	if !ok || !found || other.Result == nil {
		return false
	}
	_, inline := other.Result.Outputs[output]
	return inline || slices.ContainsFunc(other.Result.Artifacts, func(a capability.Ref) bool { return a.Name == output })
}

// answers reads what was filled in, as the gate's form types it.
func answers(a *plan.Approval, given map[string]string) (map[string]json.RawMessage, error) {
	if len(given) == 0 {
		return nil, nil
	}
	out := make(map[string]json.RawMessage, len(given))
	for name, text := range given {
		typ, ok := "", false
		if a != nil {
			typ, ok = a.Form[name]
		}
		if !ok {
			return nil, fault.New(fault.Invalid, "the gate does not ask for %s", name).Remedy("its form is under approve.form in the plan")
		}
		raw := json.RawMessage(text)
		fits := json.Valid(raw)
		var number json.Number
		var list []any
		switch typ {
		case "text":
			raw, fits = mustJSON(text), true
		case "number":
			fits = fits && json.Unmarshal(raw, &number) == nil && !strings.HasPrefix(text, `"`)
		case "bool":
			fits = text == "true" || text == "false"
		case "list":
			fits = fits && json.Unmarshal(raw, &list) == nil && list != nil
		}
		if !fits {
			return nil, fault.New(fault.Invalid, "the form wants %s to be a %s, and %q is none", name, typ, text).Remedy("write it as JSON has it")
		}
		out[name] = raw
	}
	return out, nil
}

// givenInputs are the plan's inputs, with what people answered since over them.
func (r *Run) givenInputs() json.RawMessage {
	given := r.State.Answers()
	if len(given) == 0 {
		return r.State.Plan.Inputs
	}
	all := map[string]json.RawMessage{}
	if len(r.State.Plan.Inputs) > 0 && json.Unmarshal(r.State.Plan.Inputs, &all) != nil {
		return r.State.Plan.Inputs
	}
	for name, v := range given {
		all[name] = v
	}
	return mustJSON(all)
}

// delegation hands the right to decide to somebody else.
func (r *Run) delegation(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	t, err := r.task(c.Task)
	if err != nil {
		return f, err
	}
	if t.Wait != lifecycle.ForDecision {
		return f, fault.New(fault.Conflict, "task %s does not wait for a decision", t.ID).Remedy("see what does: cairn inbox")
	}
	f.Kind, f.Body = lifecycle.GateDelegated, &lifecycle.Delegated{To: c.To, Why: clip(c.Why), Roles: r.engine.roles(actor)}
	return f, nil
}

// mayNod reports whether a gate can be approved without looking: its author asked for nobody in particular, and for
// nothing to be looked at.
func (r *Run) mayNod(task lifecycle.Task) bool {
	g, _ := r.State.Gate(task.ID)
	t := task.Spec
	if t.Kind != plan.Gate || len(g.Failing) > 0 || t.Approve != nil && len(t.Approve.Evidence) > 0 {
		return false
	}
	for _, d := range g.Demands {
		if d.Rule != "" || len(d.Roles) > 0 || d.Quorum > 1 || d.Not != "" {
			return false
		}
	}
	return true
}
