package planner

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/fault"
)

// The bounds of a goal.
const (
	MinGoal        = 10
	MaxGoal        = 10_000
	MaxConstraints = 20
)

// Goal is what somebody wants, in words, with what limits the way there.
type Goal struct {
	Text        string
	Constraints []Constraint
	Context     map[string]string // facts, such as project: go
	Done        []string          // how one will know that it is reached
}

// NewGoal reads a goal. What cannot be planned for is refused with what to do about it.
func NewGoal(text string, constraints []string, facts map[string]string, done []string) (Goal, error) {
	g := Goal{Text: strings.Join(strings.Fields(text), " "), Context: maps.Clone(facts)}
	if !utf8.ValidString(text) {
		return g, fault.New(fault.Invalid, "the goal is not UTF-8").Remedy("write it as UTF-8")
	}
	// The bounds are those of the text without the space around it; inside it, space is the author's.
	switch n := utf8.RuneCountInString(strings.TrimSpace(text)); {
	case n < MinGoal:
		return g, fault.New(fault.Invalid, "the goal has %d characters, which is too few to plan from", n).
			Remedy("say in at least %d what is to be reached, such as: summarise the incident of last week", MinGoal)
	case n > MaxGoal:
		return g, fault.New(fault.Invalid, "the goal has %d characters, and may have %d", n, MaxGoal).
			Remedy("say in a few sentences what is to be reached, and put the rest into a file that it names")
	}
	if len(constraints) > MaxConstraints {
		return g, fault.New(fault.Invalid, "there are %d constraints, and may be %d", len(constraints), MaxConstraints).
			Remedy("join those that belong together, and leave out what follows from others")
	}
	for _, c := range constraints {
		if c = strings.TrimSpace(c); c == "" {
			return g, fault.New(fault.Invalid, "a constraint is blank").Remedy("leave it out, or say what limits the plan")
		}
		g.Constraints = append(g.Constraints, ParseConstraint(c))
	}
	for _, d := range done {
		if d = strings.TrimSpace(d); d == "" {
			return g, fault.New(fault.Invalid, "a criterion of done is blank").Remedy("leave it out, or say what must hold at the end")
		}
		g.Done = append(g.Done, d)
	}
	return g, Contradiction(g.Constraints)
}

// Facts lists the context as name=value, sorted.
func (g Goal) Facts() []string {
	out := make([]string, 0, len(g.Context))
	for _, k := range slices.Sorted(maps.Keys(g.Context)) {
		out = append(out, k+"="+g.Context[k])
	}
	return out
}
