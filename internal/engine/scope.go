package engine

import (
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// scope is what one piece of work can see of the run. Results never change once they are there, so holding
// them needs no lock.
type scope struct {
	tasks map[string]seen
	inner string    // the each that this is an instance of, if it is
	items digest.ID // its list
	index int       // 0-based place in it

	goal   []plan.Criterion
	inputs json.RawMessage // the plan's, with what people answered since

	matter  *matter // what is to be approved, where something is
	carried carried // labels of what the work hands on
}

// seen is what one name means: a task's result, one for each item of a fan-out, or those of the tasks of a subplan.
type seen struct {
	status lifecycle.Status
	result *lifecycle.Result
	items  []seen // in the order of the list
	parts  []seen
	fan    bool
	named  map[string]passed // outputs that a subplan passes on from its tasks
}

// passed is where an output of a subplan comes from.
type passed struct {
	from seen
	path []string
}

// gather collects what an effect reads.
func (r *Run) gather(ef lifecycle.Effect) scope {
	sc := scope{carried: r.carried(ef), matter: r.matterOf(ef), inputs: r.givenInputs()}
	r.within(ef, &sc)
	names, all := reads(ef)
	if ef.Task == "" {
		sc.goal, all = r.State.Plan.Goal.Done, true // a goal may be about anything
	}
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
	s := seen{status: t.Status, result: t.Result, fan: t.Group && t.Spec.Each != "" && t.Item == 0}
	if !t.Group {
		return s
	}
	for c := range r.State.Children(t.ID) {
		if s.fan {
			s.items = append(s.items, r.see(c))
		} else {
			s.parts = append(s.parts, r.see(c))
		}
	}
	if !s.fan {
		s.named = r.passes(t)
	}
	return s
}

// passes finds what a subplan says it gives: outputs whose from names one of its tasks.
func (r *Run) passes(t lifecycle.Task) map[string]passed {
	named := map[string]passed{}
	for _, o := range t.Spec.Outputs {
		for _, ref := range expr.Refs(o.From) {
			if child, ok := r.State.Task(t.ID + "/" + ref.Root); ok {
				named[o.Name] = passed{r.see(child), ref.Path}
			}
		}
	}
	return named
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
		outputs, _ := t.SchemaOf()
		for _, out := range outputs {
			id, _, _ := strings.Cut(out, ".")
			names = append(names, id)
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
	if len(p.Env)+len(t.Env) == 0 && t.Run == "" {
		return nil // a command may need it for its secrets
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
