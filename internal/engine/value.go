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
)

// maxText is how much of an artifact is taken into memory where an expression or an input reads it.
const maxText = 1 << 20

// lookup finds the value of a ${...} reference.
func (r *Run) lookup(ctx context.Context, sc scope) expr.Lookup {
	return func(ref expr.Ref) (any, error) {
		switch ref.Root {
		case expr.Inputs:
			return expr.Walk(sc.inputs, ref.Path)
		case expr.Item:
			v, err := r.item(ctx, sc)
			if err != nil {
				return nil, err
			}
			return expr.Walk(v, ref.Path)
		case expr.Index:
			return sc.index, nil
		case expr.Secret:
			return r.secret(ctx, ref.Path[0])
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

// output reads one output: of a fan-out the list over its items, of a subplan what it passes on under that name, or
// whichever of its tasks made it last.
func (r *Run) output(ctx context.Context, s seen, name string) (any, error) {
	if s.fan {
		list := make([]any, len(s.items))
		for i, item := range s.items {
			v, err := r.output(ctx, item, name)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	if p, ok := s.named[name]; ok {
		v, err := r.output(ctx, p.from, p.path[0])
		if err != nil {
			return nil, err
		}
		return expr.Walk(v, p.path[1:])
	}
	for i := len(s.parts) - 1; i >= 0; i-- {
		if v, err := r.output(ctx, s.parts[i], name); err == nil || !fault.Is(err, fault.NotFound) {
			return v, err
		}
	}
	return r.value(ctx, s.result, name)
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
	if s.fan {
		list := make([]any, len(s.items))
		for i, item := range s.items {
			one, err := r.all(ctx, item)
			if err != nil {
				return nil, err
			}
			list[i] = one
		}
		return list, nil
	}
	m := map[string]any{}
	if err := r.collect(ctx, s, m); err != nil {
		return nil, err
	}
	for name, p := range s.named {
		v, err := r.output(ctx, p.from, p.path[0])
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return m, nil
}

// collect adds the outputs of a task, and of all that a subplan holds.
func (r *Run) collect(ctx context.Context, s seen, m map[string]any) error {
	for _, part := range s.parts {
		if err := r.collect(ctx, part, m); err != nil {
			return err
		}
	}
	if s.result == nil {
		return nil
	}
	for name, raw := range s.result.Outputs {
		m[name] = raw
	}
	for _, a := range s.result.Artifacts {
		if a.Size > maxText {
			continue
		}
		v, err := r.content(ctx, a)
		if err != nil {
			return err
		}
		m[a.Name] = v
	}
	return nil
}

// vars are the variables that an expression finds before a task has run.
func (r *Run) vars(ctx context.Context, w Work, needed []string) (map[string]any, error) {
	vars := map[string]any{"attempt": w.Attempt, "inputs": rawOr(w.scope.inputs), "env": r.State.Plan.Env,
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
