package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// maxText is how much of an artifact is taken into memory where an expression or an input reads it.
const maxText = 1 << 20

// scope is what one piece of work can see of the run. Results never change once they are there, so holding
// them needs no lock.
type scope struct {
	tasks map[string]seen
	inner string    // the each that this is an instance of, if it is
	items digest.ID // its list
	index int       // 0-based place in it
}

// seen is what one name means: a task's result, or the list of results of a fan-out.
type seen struct {
	status  lifecycle.Status
	results []*lifecycle.Result
	list    bool
}

// gather collects what an effect reads.
func (r *Run) gather(ef lifecycle.Effect) scope {
	var sc scope
	r.within(ef, &sc)
	names, all := reads(ef)
	if all {
		for other := range r.State.Tasks() {
			if other.Depth == 0 {
				names = append(names, other.ID)
			}
		}
	}
	for _, name := range names {
		other, ok := r.State.Resolve(ef.Task, name)
		if !ok {
			continue
		}
		if sc.tasks == nil {
			sc.tasks = make(map[string]seen, len(names))
		}
		sc.tasks[name] = r.see(other)
	}
	return sc
}

// within finds the item that a task works on: its own, or that of the instance it is inside of.
func (r *Run) within(ef lifecycle.Effect, sc *scope) {
	if ef.Spec.Each == "" && !strings.Contains(ef.Task, "/") {
		return
	}
	for t, ok := r.State.Task(ef.Task); ok; t, ok = r.State.Task(t.Parent) {
		if t.Item > 0 {
			parent, _ := r.State.Task(t.Parent)
			sc.inner, sc.items, sc.index = t.Parent, parent.Items, t.Item-1
			return
		}
	}
}

func (r *Run) see(t lifecycle.Task) seen {
	s := seen{status: t.Status}
	if !t.Group {
		s.results = []*lifecycle.Result{t.Result}
		return s
	}
	s.list = t.Spec.Each != "" && t.Item == 0
	for c := range r.State.Children(t.ID) {
		s.results = append(s.results, r.see(c).results...)
	}
	return s
}

// reads names the tasks that a piece of work refers to; all when an expression may read any.
func reads(ef lifecycle.Effect) (names []string, all bool) {
	t := ef.Spec
	if ef.Kind == lifecycle.Undo {
		if t.Rollback != nil {
			t = &plan.Task{Run: t.Rollback.Run, With: t.Rollback.With}
		}
		return t.Reads(), false
	}
	names = t.Reads()
	add := func(src string) {
		if p, err := expr.Compile(src); err == nil {
			ids, open := p.Tasks()
			names, all = append(names, ids...), all || open
		}
	}
	if ef.Kind == lifecycle.Assess {
		for _, src := range []string{t.When, t.Each} {
			if src != "" && !strings.HasPrefix(src, "${") {
				add(src)
			}
		}
		for _, c := range t.Checks {
			if !c.Judge {
				add(c.Says)
			}
		}
		return names, all
	}
	for _, src := range t.Pre {
		add(src)
	}
	for _, c := range t.Expect {
		if !c.Judge {
			add(c.Says)
		}
	}
	for _, m := range t.Failure {
		add(m.Detect)
	}
	return names, all
}

// lookup finds the value of a ${...} reference.
func (r *Run) lookup(ctx context.Context, sc scope) expr.Lookup {
	return func(ref expr.Ref) (any, error) {
		switch ref.Root {
		case expr.Inputs:
			return expr.Walk(r.State.Plan.Inputs, ref.Path)
		case expr.Item:
			v, err := r.item(ctx, sc)
			if err != nil {
				return nil, err
			}
			return expr.Walk(v, ref.Path)
		case expr.Index:
			return sc.index, nil
		case expr.Secret:
			return nil, fault.New(fault.Invalid, "%s names a secret, and this engine has no store of secrets", ref.Text)
		}
		s, ok := sc.tasks[ref.Root]
		if !ok {
			return nil, fault.New(fault.Invalid, "%s reads task %s, which is not in the plan", ref.Text, ref.Root)
		}
		v, err := r.output(ctx, s, ref.Path[0])
		if err != nil {
			return nil, fault.Wrap(fault.CodeOf(err), err, "%s", ref.Text).Remedy("%s", fault.HintOf(err))
		}
		return expr.Walk(v, ref.Path[1:])
	}
}

// output reads one output: of a fan-out the list over its items, of a subplan whichever of its tasks made it last.
func (r *Run) output(ctx context.Context, s seen, name string) (any, error) {
	if s.list {
		list := make([]any, len(s.results))
		for i, res := range s.results {
			v, err := r.value(ctx, res, name)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	err := error(fault.New(fault.NotFound, "it has no output %s", name))
	for i := len(s.results) - 1; i >= 0; i-- {
		var v any
		if v, err = r.value(ctx, s.results[i], name); err == nil || !fault.Is(err, fault.NotFound) {
			return v, err
		}
	}
	return nil, err
}

func (r *Run) value(ctx context.Context, res *lifecycle.Result, name string) (any, error) {
	if res == nil {
		return nil, fault.New(fault.NotFound, "it has no output %s: it left none", name)
	}
	if raw, ok := res.Outputs[name]; ok {
		return raw, nil
	}
	for _, a := range res.Artifacts {
		if a.Name == name {
			return r.content(ctx, a)
		}
	}
	return nil, fault.New(fault.NotFound, "it has no output %s; it has %s", name, outputNames(res))
}

// content reads an artifact as a value: JSON where it says so, else text.
func (r *Run) content(ctx context.Context, a capability.Ref) (any, error) {
	b, err := artifact.ReadAll(ctx, r.engine.Artifacts, a.Hash, maxText)
	if err != nil {
		return nil, err
	}
	if isJSON(a.Type) && json.Valid(b) {
		return json.RawMessage(b), nil
	}
	return string(b), nil
}

func isJSON(typ string) bool {
	return typ == "json" || typ == "list" || typ == "number" || typ == "bool" || strings.HasPrefix(typ, "list[") || typ == "application/json"
}

func outputNames(res *lifecycle.Result) string {
	var names []string
	for n := range res.Outputs {
		names = append(names, n)
	}
	for _, a := range res.Artifacts {
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return join(sorted(names))
}

// all reads every output of a task, for expressions.
func (r *Run) all(ctx context.Context, s seen) (any, error) {
	if s.list {
		list := make([]any, len(s.results))
		for i, res := range s.results {
			one, err := r.all(ctx, seen{results: []*lifecycle.Result{res}})
			if err != nil {
				return nil, err
			}
			list[i] = one
		}
		return list, nil
	}
	m := map[string]any{}
	for _, res := range s.results {
		if res == nil {
			continue
		}
		for name, raw := range res.Outputs {
			m[name] = raw
		}
		for _, a := range res.Artifacts {
			if a.Size > maxText {
				continue
			}
			v, err := r.content(ctx, a)
			if err != nil {
				return nil, err
			}
			m[a.Name] = v
		}
	}
	return m, nil
}

// vars are the variables that an expression finds before a task has run.
func (r *Run) vars(ctx context.Context, w Work, needed []string) (map[string]any, error) {
	vars := map[string]any{"attempt": w.Attempt, "inputs": rawOr(r.State.Plan.Inputs), "env": r.State.Plan.Env,
		"plan": map[string]any{"name": r.State.Name, "title": r.State.Plan.Title}}
	for _, name := range needed {
		var err error
		switch name {
		case "outputs_of":
			vars[name], err = r.outputsOf(ctx, w.scope)
		case "item":
			vars[name], err = r.item(ctx, w.scope)
		case "index":
			vars[name] = w.scope.index
		case "network", "disk", "memory":
			vars[name] = r.engine.Machine()[name]
		}
		if err != nil {
			return nil, err
		}
	}
	return vars, nil
}

func (r *Run) outputsOf(ctx context.Context, sc scope) (any, error) {
	of := map[string]any{}
	for name, s := range sc.tasks {
		v, err := r.all(ctx, s)
		if err != nil {
			return nil, err
		}
		of[name] = v
	}
	return of, nil
}

func rawOr(raw json.RawMessage) any {
	if len(raw) == 0 {
		return map[string]any{}
	}
	return raw
}

// item reads the item of an instance.
func (r *Run) item(ctx context.Context, sc scope) (any, error) {
	if sc.inner == "" {
		return nil, fault.New(fault.Invalid, "only a task with each has an item")
	}
	list, err := r.items.get(ctx, sc.items)
	if err != nil {
		return nil, err
	}
	if sc.index >= len(list) {
		return nil, fault.New(fault.Internal, "item %d of %s is missing", sc.index+1, sc.inner)
	}
	return list[sc.index], nil
}

func (c *itemCache) get(ctx context.Context, id digest.ID) ([]json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if list, ok := c.lists[id]; ok {
		return list, nil
	}
	b, err := artifact.ReadAll(ctx, c.engine.Artifacts, id, maxSpec)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fault.Wrap(fault.Tampered, err, "the items of a fan-out")
	}
	c.lists[id] = list
	return list, nil
}

// skipped finds a task that was skipped among those that a piece of work reads.
func (sc scope) skipped() string {
	for name, s := range sc.tasks {
		if s.status == lifecycle.Skipped {
			return name
		}
	}
	return ""
}

// mergedEnv is the plan's environment with the task's over it.
func mergedEnv(p *plan.Plan, t *plan.Task) map[string]string {
	if len(p.Env)+len(t.Env) == 0 {
		return nil
	}
	env := make(map[string]string, len(p.Env)+len(t.Env))
	for k, v := range p.Env {
		env[k] = v
	}
	for k, v := range t.Env {
		env[k] = v
	}
	return env
}
