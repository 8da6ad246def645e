package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// The bounds of a draft.
const (
	MinSteps  = 3
	MaxSteps  = 7
	MinAction = 10
	MaxAction = 500
	MaxAccept = 5
	MaxCheck  = 300
)

// Validate tells everything that is wrong with a draft.
func (d *Draft) Validate() []error {
	var out []error
	wrong := func(remedy, format string, args ...any) {
		out = append(out, fault.New(fault.Invalid, format, args...).Remedy("%s", remedy))
	}
	if n := len(d.Steps); n < MinSteps || n > MaxSteps {
		wrong("join steps, or part them", "the plan has %d steps, and must have %d to %d", n, MinSteps, MaxSteps)
	}
	if !slices.ContainsFunc(d.Steps, func(s Step) bool { return s.Verifies }) {
		wrong("add a step of kind validate", "no step verifies the result")
	}
	if n := utf8.RuneCountInString(d.Rationale); n < MinAction || n > 1000 {
		wrong("say in a few sentences why the plan is as it is", "the rationale has %d characters, and must have 10 to 1000", n)
	}
	place := map[string]int{}
	for i, s := range d.Steps {
		if before, taken := place[s.ID]; taken {
			wrong("give one of them another id", "steps %d and %d have the id %q", before+1, i+1, s.ID)
			continue
		}
		place[s.ID] = i
	}
	for i, s := range d.Steps {
		s.check(i+1, wrong)
		for _, need := range s.Needs {
			switch at, known := place[need]; {
			case !known:
				wrong("name a step of the plan", "step %d needs %q, which is no step", i+1, need)
			case at == i:
				wrong("take it out", "step %d needs itself", i+1)
			case at > i:
				wrong("put what is needed first", "step %d needs step %d, which comes after it", i+1, at+1)
			}
		}
	}
	return out
}

func (s Step) check(n int, wrong func(remedy, format string, args ...any)) {
	if !slices.Contains(plan.Kinds, s.Kind) {
		wrong("name a kind of the plan language", "step %d is of kind %q, which there is not", n, s.Kind)
	}
	if c := utf8.RuneCountInString(strings.TrimSpace(s.Action)); c < MinAction || c > MaxAction {
		wrong("say what is to be done in 10 to 500 characters", "the action of step %d has %d characters", n, c)
	}
	if c := len(s.Accept); c < 1 || c > MaxAccept {
		wrong("write 1 to 5 acceptance criteria", "step %d has %d acceptance criteria", n, c)
	}
	for _, a := range s.Accept {
		if c := utf8.RuneCountInString(strings.TrimSpace(a.Says)); c == 0 || c > MaxCheck {
			wrong("say in at most 300 characters what must hold", "an acceptance criterion of step %d has %d characters", n, c)
		}
	}
	if s.Tier < 1 || s.Tier > 5 {
		wrong("name a cost tier from 1 to 5", "the cost tier of step %d is %d", n, s.Tier)
	}
	if s.Lasts.Seconds() < 1 {
		wrong("estimate at least a second", "step %d is to last %s", n, s.Lasts)
	}
}
