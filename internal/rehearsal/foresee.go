package rehearsal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// someItems is how many items a fan-out is taken to have when nothing tells.
const someItems = 3

// maxItems bounds a fan-out as the engine does.
const maxItems = 100_000

// known are the variables whose values stand in the plan.
var known = []string{"inputs", "env", "plan"}

// foresee evaluates what can be told from the plan alone, once for all rehearsals: when, each, and the checks of a gate.
// What only a run can tell is assumed to hold, and noted.
func (sc *script) foresee(ctx context.Context, id string, t *plan.Task) *lifecycle.Assessed {
	a := &lifecycle.Assessed{Run: true}
	if t.When != "" {
		holds, told, err := sc.holds(ctx, t.When)
		switch {
		case err != nil:
			return &lifecycle.Assessed{Failed: true, Why: err.Error()}
		case !told:
			sc.assume(assumedWhen, id)
		case !holds:
			return &lifecycle.Assessed{Why: "not the case: " + t.When}
		}
	}
	for _, c := range t.Checks {
		v := lifecycle.Verdict{Says: c.Says, Judge: c.Judge, OK: !c.Judge}
		if !c.Judge {
			holds, told, err := sc.holds(ctx, c.Says)
			if told {
				v.OK = holds && err == nil
			} else {
				sc.assume(assumedChecks, id)
			}
		}
		a.Checks = append(a.Checks, v)
	}
	if t.Each != "" {
		n := sc.count(ctx, id, t.Each)
		a.Count = &n
	}
	return a
}

// holds evaluates a condition; told is false when only a run could.
func (sc *script) holds(ctx context.Context, src string) (holds, told bool, err error) {
	p, err := expr.Compile(src)
	if err != nil {
		return false, true, err
	}
	if !fromPlan(p) {
		return false, false, nil
	}
	holds, err = p.Bool(ctx, sc.vars())
	return holds, true, err
}

func fromPlan(p *expr.Program) bool {
	return !slices.ContainsFunc(p.Vars(), func(v string) bool { return !slices.Contains(known, v) })
}

func (sc *script) vars() map[string]any {
	var inputs any = map[string]any{}
	if len(sc.plan.Inputs) > 0 {
		inputs = sc.plan.Inputs
	}
	return map[string]any{"inputs": inputs, "env": sc.plan.Env, "plan": map[string]any{"name": sc.plan.Name, "title": sc.plan.Title}}
}

// count is how many items a fan-out has: as the plan says, as it was in the past, or some.
func (sc *script) count(ctx context.Context, id, each string) int {
	if n, ok := sc.listed(ctx, each); ok && n <= maxItems {
		return n
	}
	if n, ok := sc.History.count(id); ok {
		sc.assume(learnedItems, id)
		return n
	}
	sc.assume(assumedItems, id)
	return someItems
}

// listed counts a list that stands in the plan.
func (sc *script) listed(ctx context.Context, each string) (int, bool) {
	if strings.HasPrefix(each, "${") {
		for _, r := range expr.Refs(each) {
			if r.Root != expr.Inputs {
				return 0, false
			}
		}
		quoted, err := json.Marshal(each)
		if err != nil {
			return 0, false
		}
		raw, err := expr.Resolve(quoted, func(r expr.Ref) (any, error) { return expr.Walk(sc.plan.Inputs, r.Path) })
		var list []json.RawMessage
		if err != nil || json.Unmarshal(raw, &list) != nil {
			return 0, false
		}
		return len(list), true
	}
	p, err := expr.Compile(each)
	if err != nil || !fromPlan(p) {
		return 0, false
	}
	v, err := p.Eval(ctx, sc.vars())
	list, ok := v.([]any)
	return len(list), ok && err == nil
}

// conditions lists the tasks whose outputs the conditions of a task read.
func conditions(t *plan.Task) (ids []string) {
	sources := []string{t.When, t.Each}
	for _, c := range t.Checks {
		if !c.Judge {
			sources = append(sources, c.Says)
		}
	}
	for _, src := range sources {
		if src == "" || strings.HasPrefix(src, "${") {
			continue // the law looks at references itself
		}
		if p, err := expr.Compile(src); err == nil {
			names, _ := p.Tasks()
			ids = append(ids, names...)
		}
	}
	return ids
}
