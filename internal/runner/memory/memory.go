// Package memory performs memory.get, memory.set, memory.search and memory.forget: a task learns something, or asks what was
// learnt before.
//
// What a task reads becomes its recorded output, so that a replay sees what the run saw and never asks again. What a task
// writes carries its plan, task and execution as the source, and its effect key: tried again it is there already. A home lends
// its memory while it is open; without one every call is refused. A call that fails has written nothing.
package memory

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
)

// Lend gives the memory of the home that is open; nil: there is none.
type Lend func() *memory.Memory

// All lists the capabilities.
func All(lend Lend) []capability.Entry {
	entry := func(c capability.Contract, do func(context.Context, *memory.Memory, capability.Call) (map[string]any, error)) capability.Entry {
		return capability.Entry{Contract: c, Runner: capability.RunnerFunc(func(ctx context.Context, call capability.Call) (capability.Result, error) {
			return perform(ctx, lend, call, do)
		})}
	}
	return []capability.Entry{entry(Get(), get), entry(Set(), set), entry(Search(), search), entry(Forget(), forget)}
}

func perform(ctx context.Context, lend Lend, call capability.Call, do func(context.Context, *memory.Memory, capability.Call) (map[string]any, error)) (capability.Result, error) {
	if ctx.Err() != nil {
		return capability.Result{}, context.Cause(ctx)
	}
	m := lend()
	if m == nil {
		return capability.Result{}, fault.New(fault.Invalid, "memory belongs to a home, and none is open here").
			Remedy("use it in a plan, or with: cairn memory")
	}
	out, err := do(ctx, m, call)
	if err != nil {
		return capability.Result{}, err
	}
	res := capability.Result{Outputs: make(map[string]json.RawMessage, len(out))}
	for name, v := range out {
		if res.Outputs[name], err = json.Marshal(v); err != nil {
			return capability.Result{}, fault.Wrap(fault.Internal, err, "write %s", name)
		}
	}
	return res, nil
}

func get(ctx context.Context, m *memory.Memory, call capability.Call) (map[string]any, error) {
	var in struct {
		Key     string
		Default json.RawMessage
	}
	if err := decode(call, &in); err != nil {
		return nil, err
	}
	a, err := m.Get(ctx, in.Key, m.Seen(call.Plan))
	if fault.Is(err, fault.NotFound) && in.Default != nil {
		return map[string]any{"value": in.Default, "found": false}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"value": a.Value, "found": true, "scope": a.Scope, "confidence": a.Confidence, "source": a.Source.String(), "stale": a.Stale}, nil
}

func set(ctx context.Context, m *memory.Memory, call capability.Call) (map[string]any, error) {
	var in struct {
		Key        string
		Value      json.RawMessage
		Scope      string
		Expires    string
		Confidence *float64
		Source     string
	}
	if err := decode(call, &in); err != nil {
		return nil, err
	}
	place, err := m.Place(in.Scope, call.Plan)
	if err != nil {
		return nil, err
	}
	f := memory.Fact{Key: in.Key, Value: in.Value, Place: place, Confidence: 1, Author: "plan:" + call.Plan, Effect: effect("set", call, place, in.Key),
		Source: memory.Source{Plan: call.Plan, Task: call.Task, Execution: call.Execution}}
	if in.Confidence != nil {
		f.Confidence = *in.Confidence
	}
	if in.Source != "" {
		if f.Source, err = m.Source(ctx, in.Source); err != nil {
			return nil, err
		}
	}
	if f.Expires, err = memory.After(m.Now(), in.Expires); err != nil {
		return nil, err
	}
	f, err = m.Set(ctx, f)
	return map[string]any{"id": f.ID, "supersedes": f.Supersedes}, err
}

// found is what a search tells of a fact.
type found struct {
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Scope      memory.Scope    `json:"scope"`
	Confidence float64         `json:"confidence"`
	Source     string          `json:"source,omitempty"`
	Why        string          `json:"why"`
}

func search(ctx context.Context, m *memory.Memory, call capability.Call) (map[string]any, error) {
	var in struct {
		Text  string
		Limit int
	}
	if err := decode(call, &in); err != nil {
		return nil, err
	}
	hits, err := m.Recall(ctx, memory.Ask{Text: in.Text, In: m.Seen(call.Plan), Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	all := make([]found, len(hits))
	for i, h := range hits {
		all[i] = found{h.Key, h.Value, h.Scope, h.Confidence, h.Source.String(), h.Found.Text()}
	}
	return map[string]any{"facts": all, "count": len(all)}, nil
}

func forget(ctx context.Context, m *memory.Memory, call capability.Call) (map[string]any, error) {
	var in struct{ Key, Why, Scope string }
	if err := decode(call, &in); err != nil {
		return nil, err
	}
	place, err := m.Place(in.Scope, call.Plan)
	if err != nil {
		return nil, err
	}
	f, err := m.Forget(ctx, memory.Fact{Key: in.Key, Why: in.Why, Place: place, Author: "plan:" + call.Plan, Effect: effect("forget", call, place, in.Key),
		Source: memory.Source{Plan: call.Plan, Task: call.Task, Execution: call.Execution}})
	return map[string]any{"id": f.ID, "supersedes": f.Supersedes}, err
}

// effect names what a call does to a key. The key of a call is its task's, and a chain of capabilities makes many calls.
func effect(verb string, call capability.Call, p memory.Place, key string) string {
	if call.Key.IsZero() {
		return ""
	}
	return digest.Parts("cairn memory", call.Key.String(), verb, string(p.Scope), p.Of, key).String()
}

func decode(call capability.Call, in any) error {
	if err := json.Unmarshal(call.With, in); err != nil {
		return fault.Wrap(fault.Invalid, err, "the inputs cannot be read").Remedy("see what it takes with: cairn capability show memory.set")
	}
	return nil
}
