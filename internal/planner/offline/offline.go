// Package offline plans without a model and without a network: it reads what a goal asks for, chooses methods from a
// library, fills them in and joins them.
//
// A method is data (methods/*.yaml): the words by which it is recognised, and steps with slots. A goal is parted into
// clauses, each with a verb and an object; the method of the first clause carries the plan, the others add the steps that
// do their part. What cannot be taken back gets a gate before it. A step is bound to a capability only where every input
// of it is known from the goal or its context; everything else is left to a person or an agent, never to an invented tool.
//
// The same goal, context and menu give the same draft: nothing here reads a clock, a store or chance.
package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/planner"
)

// Planner plans by methods.
type Planner struct {
	Experience planner.Experience // nil: none

	library *library
}

// New reads the library of methods.
func New() (*Planner, error) {
	l, err := standard()
	return &Planner{library: l}, err
}

// Draft makes a plan for a goal. A draft that is returned has passed every rule.
func (p *Planner) Draft(ctx context.Context, goal planner.Goal, menu planner.Menu) (*planner.Draft, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	signals := p.library.signals(goal, menu)
	if err := planner.Contradiction(signals.Constraints); err != nil {
		return nil, err
	}
	parts := lead(p.library.assign(&signals))
	d := &planner.Draft{Goal: goal, Signals: signals}
	steps, optional := p.compose(parts, &signals)
	d.Steps = p.library.guard(steps, optional, parts, signals)
	bind(d.Steps, goal, signals, menu.Without(signals.Constraints))
	d.Done = done(parts, goal)
	promise(d)
	d.Name, d.Title = name(parts, signals), title(goal.Text)
	for _, part := range parts {
		if part.method != nil && !slices.Contains(d.Methods, part.method.ID) {
			d.Methods = append(d.Methods, part.method.ID)
		}
	}
	d.Rationale = rationale(parts, signals)
	if err := d.Fit(); err != nil {
		return nil, err
	}
	d.Prepare()
	d.Cover()
	d.Rate(match(parts), clarity(signals), hands(d.Steps))
	if wrong := d.Validate(); len(wrong) > 0 {
		return nil, fault.Wrap(fault.Internal, errors.Join(wrong...), "the plan that was made breaks the rules of plans")
	}
	return d, nil
}

// match says how well the methods fit the clauses.
func match(parts []part) planner.Part {
	var sum float64
	for _, p := range parts {
		sum += p.clause.Match
	}
	value := sum / float64(len(parts))
	says := "the goal fits no method, so the general one was taken"
	if known := parts[0].method; known != nil && known.ID != general {
		says = fmt.Sprintf("the goal fits the method %q", known.ID)
	}
	return planner.Part{Name: "method", Weight: 0.35, Value: value, Says: says}
}

// clarity says whether the goal names what it is about and how one will know that it is reached.
func clarity(s planner.Signals) planner.Part {
	value, says := 0.4, []string{}
	if slices.ContainsFunc(s.Clauses, func(c planner.Clause) bool { return len(strings.Fields(c.Object)) > 1 }) {
		value += 0.4
	} else {
		says = append(says, "it hardly says what it is about")
	}
	if len(s.Constraints)+len(s.Outputs) > 0 {
		value += 0.2
	} else {
		says = append(says, "it names no output and no constraint")
	}
	if len(says) == 0 {
		says = append(says, "it says what it is about and what is wanted")
	}
	return planner.Part{Name: "clarity", Weight: 0.2, Value: value, Says: strings.Join(says, "; ")}
}

// hands says how much of the work is bound to a capability. It weighs little: people do work well.
func hands(steps []planner.Step) planner.Part {
	bound := 0
	for _, s := range steps {
		if s.Uses != "" {
			bound++
		}
	}
	return planner.Part{Name: "capabilities", Weight: 0.05, Value: float64(bound) / float64(len(steps)),
		Says: fmt.Sprintf("%d of %d steps have a capability, the rest is left to people or agents", bound, len(steps))}
}

func rationale(parts []part, s planner.Signals) string {
	var out []string
	seen := map[string]bool{}
	for _, p := range parts {
		if p.method != nil && !seen[p.method.ID] {
			seen[p.method.ID] = true
			out = append(out, p.method.why(s.Lang))
		}
	}
	return strings.Join(out, " ")
}

func title(goal string) string {
	text := []rune(strings.TrimRight(goal, ".!? "))
	if len(text) > 100 {
		text = []rune(shorten(string(text), 100))
	}
	return strings.ToUpper(string(text[:1])) + string(text[1:])
}
