package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func sorted(s []string) []string { slices.Sort(s); return s }

// assess evaluates what has to be known before a task can begin, and reports it as a fact: whether `when` holds,
// over which items `each` ranges, how the checks of a gate turn out.
func (r *Run) assess(ctx context.Context, w Work) lifecycle.Fact {
	a, err := r.assessed(ctx, w)
	if err != nil {
		a = &lifecycle.Assessed{Failed: true, Why: clip(err.Error())}
	}
	return lifecycle.Fact{Kind: lifecycle.TaskAssessed, Task: w.Task, Body: a}
}

func (r *Run) assessed(ctx context.Context, w Work) (*lifecycle.Assessed, error) {
	t := w.Spec
	if name := w.scope.skipped(); name != "" {
		return &lifecycle.Assessed{Why: "it reads the outputs of " + name + ", which was skipped"}, nil
	}
	if t.When != "" {
		ok, err := r.holds(ctx, w, t.When, nil)
		if err != nil {
			return nil, err
		}
		if !ok {
			return &lifecycle.Assessed{Why: "not the case: " + t.When}, nil
		}
	}
	a := &lifecycle.Assessed{Run: true}
	for _, c := range t.Checks {
		v := lifecycle.Verdict{Says: c.Says, Judge: c.Judge}
		if !c.Judge {
			ok, err := r.holds(ctx, w, c.Says, nil)
			if v.OK = ok; err != nil {
				v.Why = clip(err.Error())
			}
		}
		a.Checks = append(a.Checks, v)
	}
	a.Checks = append(a.Checks, r.shapes(ctx, w)...)
	if a.Mode = r.mode(ctx, w, a.Checks); w.scope.matter != nil {
		if err := r.hold(ctx, w, a); err != nil {
			return nil, err
		}
	}
	if t.Each != "" {
		return a, r.listItems(ctx, w, a)
	}
	return a, nil
}

// shapes tries the outputs that a gate has schemas for.
func (r *Run) shapes(ctx context.Context, w Work) (all []lifecycle.Verdict) {
	outputs, schemas := w.Spec.SchemaOf()
	for _, out := range outputs {
		v := lifecycle.Verdict{Says: out + " fits its schema", OK: true}
		if wrong := r.misfit(ctx, w, out, schemas[out]); wrong != "" {
			v.OK, v.Why = false, clip(wrong)
		}
		all = append(all, v)
	}
	return all
}

// misfit says why an output does not fit a schema.
func (r *Run) misfit(ctx context.Context, w Work, out string, schema json.RawMessage) string {
	s, err := capability.ParseSchema(mustJSON(map[string]any{"type": "object", "properties": map[string]any{out: schema}, "required": []string{out}}))
	if err != nil {
		return "the schema is none: " + err.Error()
	}
	id, name, _ := strings.Cut(out, ".")
	v, err := r.output(ctx, w.scope.tasks[id], name)
	if err != nil {
		return err.Error()
	}
	return strings.Join(s.Check(mustJSON(map[string]any{out: v})), "; ")
}

// mode recognises the failure mode of a gate whose checks do not hold.
func (r *Run) mode(ctx context.Context, w Work, checks []lifecycle.Verdict) string {
	k := slices.IndexFunc(checks, func(v lifecycle.Verdict) bool { return !v.OK && !v.Judge })
	if k < 0 {
		return ""
	}
	known := map[string]any{"error": checks[k].Says, "exit": 1, "stdout": "", "stderr": "", "outputs": map[string]any{}}
	for _, m := range w.Spec.Failure {
		if m.Detect == "" {
			return m.Name
		}
		if ok, err := r.holds(ctx, w, m.Detect, known); err == nil && ok {
			return m.Name
		}
	}
	return ""
}

// listItems stores the list that each ranges over.
func (r *Run) listItems(ctx context.Context, w Work, a *lifecycle.Assessed) error {
	v, err := r.ranged(ctx, w)
	if err != nil {
		return err
	}
	if raw, ok := v.(json.RawMessage); ok {
		if v, err = expr.Value(raw); err != nil {
			return err
		}
	}
	list, ok := v.([]any)
	if !ok {
		return fault.New(fault.Failed, "each ranges over %s, which is no list", w.Spec.Each)
	}
	if len(list) > maxItems {
		return fault.New(fault.Failed, "each ranges over %d items, at most %d are allowed", len(list), maxItems)
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	blob, err := artifact.PutBytes(ctx, r.engine.Artifacts, b)
	if err != nil {
		return err
	}
	n := len(list)
	a.Count, a.Items = &n, blob.ID
	return nil
}

// maxItems bounds a fan-out.
const maxItems = 100_000

func (r *Run) ranged(ctx context.Context, w Work) (any, error) {
	src := w.Spec.Each
	if strings.HasPrefix(src, "${") {
		raw, err := expr.Resolve(mustJSON(src), r.lookup(ctx, w.scope))
		return raw, err
	}
	p, err := expr.Compile(src)
	if err != nil {
		return nil, err
	}
	vars, err := r.vars(ctx, w, p.Vars())
	if err != nil {
		return nil, err
	}
	return p.Eval(ctx, vars)
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return b
}

// holds evaluates an expression to true or false; after adds the variables that are known once a task has run.
func (r *Run) holds(ctx context.Context, w Work, src string, after map[string]any) (bool, error) {
	p, err := expr.Compile(src)
	if err != nil {
		return false, err
	}
	vars, err := r.vars(ctx, w, p.Vars())
	if err != nil {
		return false, err
	}
	for k, v := range after {
		vars[k] = v
	}
	return p.Bool(ctx, vars)
}

// maxNote is how much of an error goes into a record.
const maxNote = 1024

func clip(s string) string {
	if len(s) <= maxNote {
		return s
	}
	return strings.ToValidUTF8(s[:maxNote], "") + "..."
}
