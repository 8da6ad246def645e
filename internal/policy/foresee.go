package policy

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Foreseen is what a rule will ask of a task, as far as the plan's text tells.
type Foreseen struct {
	Task string
	Ruling
}

// Lookup finds the contract of a capability.
type Lookup func(id string) (capability.Contract, bool)

// Foresee says which tasks of a plan will be held, or refused, and by which rule.
func (s *Set) Foresee(ctx context.Context, p *plan.Plan, lookup Lookup) ([]Foreseen, error) {
	var out []Foreseen
	err := s.walk(p, lookup, func(c Case) error {
		r, err := s.Judge(ctx, c)
		if c.Task.Kind == plan.Gate && c.Task.Uses != "" && c.Task.Approve != nil {
			r.Demands = append(r.Demands, Asks(c.Task.Approve)) // when its work is done
		}
		if err == nil && (len(r.Demands) > 0 || r.Denied != "") && !(c.Task.Kind == plan.Gate && c.Task.Uses == "") {
			out = append(out, Foreseen{c.ID, r})
		}
		return err
	})
	return out, err
}

// Guarded lists the tasks that a rule may hold: those that it does by what is written, and those whose command is not
// known before they begin.
func (s *Set) Guarded(ctx context.Context, p *plan.Plan, lookup Lookup) ([]string, error) {
	var out []string
	err := s.walk(p, lookup, func(c Case) error {
		if c.Task.IsGroup() && c.Task.Each == "" || c.Task.Uses == "" {
			return nil
		}
		r, err := s.Judge(ctx, c)
		if err != nil || len(r.Demands) > 0 || r.Denied != "" || s.open(c) {
			out = append(out, c.ID)
		}
		return nil // what cannot be judged yet will be when everything is known
	})
	return out, err
}

// open reports whether what a task does is not known before it begins, and could be held then.
func (s *Set) open(c Case) bool {
	if c.Contract.Repeat == capability.Pure {
		return false
	}
	refers := strings.Contains(c.Run, "${") || strings.Contains(string(c.With), "${")
	if refers && slices.ContainsFunc(s.rules, func(r rule) bool { return r.when != "" }) {
		return true
	}
	return refers && !s.plain && (c.Task.Uses == "sql.exec" || brought.MatchString(c.Run))
}

// brought finds a reference whose value is itself a command. Anywhere else a value is one quoted word of a command that
// can be read.
var brought = regexp.MustCompile(`(?m)(^|[;&|({` + "`" + `]|\b(do|then|else|eval|exec|sudo|xargs|env)\b|\s-c)\s*["']?\$\{`)

// walk visits every task with what is known of it from the text.
func (s *Set) walk(p *plan.Plan, lookup Lookup, visit func(Case) error) error {
	var scope func(prefix string, tasks []plan.Task, gated bool) error
	scope = func(prefix string, tasks []plan.Task, gated bool) error {
		after := afterGates(tasks)
		for i := range tasks {
			t := &tasks[i]
			c := Case{Task: t, ID: prefix + t.ID, Run: t.Run, With: t.With, Gated: gated || after[t.ID]}
			c.Contract, _ = lookup(t.Uses)
			if err := visit(c); err != nil {
				return err
			}
			if t.Subplan != nil {
				if err := scope(c.ID+"/", t.Subplan.Tasks, c.Gated || t.Approve != nil); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return scope("", p.Tasks, false)
}

// Roles lists the roles that a plan waits for, each with a task that does. One that others may stand in for is
// not among them.
func (s *Set) Roles(p *plan.Plan) map[string]string {
	out := map[string]string{}
	ask := func(d gate.Demand, who string) {
		if len(d.Roles) == 1 && len(d.Escalate) == 0 {
			out[d.Roles[0]] = who
		}
	}
	_ = s.walk(p, func(string) (c capability.Contract, ok bool) { return }, func(c Case) error {
		if c.Task.Approve != nil {
			ask(Asks(c.Task.Approve), "task "+c.ID)
		}
		return nil
	})
	for _, r := range s.rules {
		if r.demand != nil {
			ask(*r.demand, r.name)
		}
	}
	return out
}

// Gated finds the tasks of a plan, by their authored paths, that a gate which wants people stands before.
func Gated(p *plan.Plan) map[string]bool {
	gated := map[string]bool{}
	_ = (&Set{}).walk(p, func(string) (c capability.Contract, ok bool) { return }, func(c Case) error {
		if c.Gated {
			gated[c.ID] = true
		}
		return nil
	})
	return gated
}

// afterGates finds the tasks of a scope that follow from a gate which wants people.
func afterGates(tasks []plan.Task) map[string]bool {
	after := map[string]bool{}
	next := map[string][]string{}
	var work []string
	for i := range tasks {
		t := &tasks[i]
		for _, id := range t.Needs {
			next[id] = append(next[id], t.ID)
		}
		if t.Next != nil {
			next[t.ID] = append(next[t.ID], t.Next.Success...)
		}
		if t.Kind == plan.Gate && (t.Approve != nil || t.Uses == "" && len(t.Checks)+len(t.Schemas) == 0) {
			work = append(work, t.ID)
		}
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range next[id] {
			if !after[to] {
				after[to] = true
				work = append(work, to)
			}
		}
	}
	return after
}
