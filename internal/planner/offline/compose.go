package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
)

// compose joins the methods of all clauses: the first gives its steps, each of the others what acts in it, put before the
// step that verifies. A step that does the part of a clause already is named after it.
//
// What may be left out if there are too many steps is told by its ids.
func (p *Planner) compose(parts []part, s *planner.Signals) (steps []planner.Step, optional []string) {
	first := parts[0]
	fill := filler{s.Lang, first.clause}
	for i := range first.method.Steps {
		t := &first.method.Steps[i]
		step := fill.step(t, previous(steps))
		if t.Acts {
			step.Meets = append(step.Meets, first.id)
		}
		if t.Optional {
			optional = append(optional, step.ID)
		}
		steps = append(steps, step)
	}
	for _, other := range parts[1:] {
		if i := serving(first.method, other); i >= 0 {
			take(&steps[i], other, s.Lang)
			optional = slices.DeleteFunc(optional, func(id string) bool { return id == steps[i].ID })
			continue
		}
		steps = insert(steps, other.steps(s.Lang))
	}
	for len(optional) > 0 && len(steps) > planner.MaxSteps {
		steps = without(steps, optional[len(optional)-1])
		optional = optional[:len(optional)-1]
	}
	return merge(steps, s.Lang), optional
}

// lead puts the part first whose method does most of the others' parts: to write the notes and publish a release is a
// release. Of equals the first stays.
func lead(parts []part) []part {
	best, most := 0, 0
	for i, p := range parts {
		if p.method == nil {
			continue
		}
		n := 0
		for j, other := range parts {
			if j != i && serving(p.method, other) >= 0 {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	out := []part{parts[best]}
	return append(append(out, parts[:best]...), parts[best+1:]...)
}

// serving finds the step of the first method that does another's part.
func serving(m *method, other part) int {
	if other.method == nil {
		return -1
	}
	return slices.IndexFunc(m.Steps, func(t template) bool {
		return slices.Contains(t.Serves, other.method.ID) || t.Acts && other.method == m && other.same()
	})
}

// same reports whether a clause speaks of what another named: "and fix it".
func (p part) same() bool {
	return slices.ContainsFunc(planner.Words(p.clause.Object), func(w string) bool {
		return slices.Contains([]string{"them", "cause", "problem", "issue", "원인", "문제"}, w)
	}) || slices.Contains([]string{"it", "this", "that", "these"}, strings.ToLower(p.clause.Object))
}

// take makes a step that would do the part of a clause anyway say so.
func take(step *planner.Step, other part, lang string) {
	step.Title = upper(shorten(other.clause.Text, 90))
	step.Meets = append(step.Meets, other.id)
	step.Rationale += fill(lang, " The goal asks for it.", " 목표가 직접 요구한다.")
}

// steps are those that do the part of a clause in a plan that another carries.
func (p part) steps(lang string) []planner.Step {
	if p.method == nil {
		return []planner.Step{p.plainly(lang)}
	}
	f := filler{lang, p.clause}
	var out []planner.Step
	for i := range p.method.Steps {
		t := &p.method.Steps[i]
		if !t.Acts && t.Kind != plan.Gate {
			continue
		}
		step := f.step(t, previous(out))
		step.Needs = previous(out)
		if t.Acts {
			step.Title = upper(shorten(p.clause.Text, 90))
			step.Meets = append(step.Meets, p.id)
		}
		out = append(out, step)
	}
	return out
}

// plainly is the step for a clause that no method fits.
func (p part) plainly(lang string) planner.Step {
	text := upper(shorten(p.clause.Text, 90))
	id := slug(p.clause.Verb, 20)
	if id == "" {
		id = "also"
	}
	return planner.Step{ID: id, Kind: plan.Implement, Title: text, Meets: []string{p.id}, Tier: 2, Lasts: usual,
		Action:    fill(lang, "Do this part of the goal: ", "목표의 이 부분을 수행한다: ") + shorten(p.clause.Text, 400),
		Accept:    planner.Judged(fill(lang, "Done and seen to work: ", "완료되고 확인됨: ") + shorten(p.clause.Text, 200)),
		Rationale: fill(lang, "The goal asks for it.", "목표가 직접 요구한다.")}
}

// insert puts steps before the one that verifies, which then waits for them.
func insert(steps, more []planner.Step) []planner.Step {
	at := slices.IndexFunc(steps, func(s planner.Step) bool { return s.Verifies })
	if at < 0 {
		at = len(steps)
	}
	for i := range more {
		for n := 2; slices.ContainsFunc(steps, func(s planner.Step) bool { return s.ID == more[i].ID }); n++ {
			was := more[i].ID
			more[i].ID = fmt.Sprintf("%s-%d", strings.TrimSuffix(was, fmt.Sprintf("-%d", n-1)), n)
			for k := range more {
				for j, need := range more[k].Needs {
					if need == was {
						more[k].Needs[j] = more[i].ID
					}
				}
			}
		}
	}
	if at > 0 && len(more) > 0 && len(more[0].Needs) == 0 {
		more[0].Needs = []string{steps[at-1].ID}
	}
	if at < len(steps) && len(more) > 0 {
		steps[at].Needs = []string{more[len(more)-1].ID}
	}
	return slices.Insert(steps, at, more...)
}

// without takes a step out; what needed it needs what it needed.
func without(steps []planner.Step, id string) []planner.Step {
	at := slices.IndexFunc(steps, func(s planner.Step) bool { return s.ID == id })
	gone := steps[at]
	steps = slices.Delete(steps, at, at+1)
	for i := range steps {
		if !slices.Contains(steps[i].Needs, id) {
			continue
		}
		needs := slices.DeleteFunc(slices.Clone(steps[i].Needs), func(n string) bool { return n == id })
		for _, n := range gone.Needs {
			if !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
		steps[i].Needs = needs
	}
	return steps
}

// merge joins neighbours until there are few enough steps: no part of a goal is dropped because there are many.
func merge(steps []planner.Step, lang string) []planner.Step {
	for len(steps) > planner.MaxSteps {
		at := -1
		for i := 1; i < len(steps); i++ { // the last two that do something and are alike
			a, b := steps[i-1], steps[i]
			if a.Kind != plan.Gate && b.Kind != plan.Gate && !a.Verifies && !b.Verifies && slices.Contains(b.Needs, a.ID) && (at < 0 || len(b.Meets) > 0) {
				at = i
			}
		}
		if at < 0 {
			return steps
		}
		a, b := &steps[at-1], steps[at]
		a.Title = shorten(a.Title+fill(lang, "; then ", " 그리고 ")+b.Title, 110)
		a.Action = shorten(a.Action+" "+b.Action, planner.MaxAction)
		a.Accept = slices.Concat(a.Accept, b.Accept)[:min(len(a.Accept)+len(b.Accept), planner.MaxAccept)]
		a.Meets, a.Gives, a.Risks = slices.Concat(a.Meets, b.Meets), slices.Concat(a.Gives, b.Gives), slices.Concat(a.Risks, b.Risks)
		a.Lasts += b.Lasts
		a.Tier = max(a.Tier, b.Tier)
		if a.Effect == "" {
			a.Effect = b.Effect
		}
		id, kept := b.ID, a.ID
		steps = slices.Delete(steps, at, at+1)
		for i := range steps {
			for j, n := range steps[i].Needs {
				if n == id {
					steps[i].Needs[j] = kept
				}
			}
		}
	}
	return steps
}

func previous(steps []planner.Step) []string {
	if len(steps) == 0 {
		return nil
	}
	return []string{steps[len(steps)-1].ID}
}
