package planner

import (
	"github.com/cairn-plan/cairn/internal/risk"
)

// Signals is what a goal says, as far as it was understood.
type Signals struct {
	Text         string
	Lang         string // en or ko
	Clauses      []Clause
	Constraints  []Constraint // those that were given, then those that the text holds
	Deadline     string       // a date, where one is named
	Risks        []Risk
	Outputs      []string // things that must be there in the end
	URLs         []string
	Files        []string
	Requirements []Requirement
}

// Clause is one thing that the goal asks for.
type Clause struct {
	Text   string
	Verb   string
	Object string
	Work   string // the method that fits it; empty: none does
	Match  float64
	Effect risk.Effect // what of it cannot be taken back
	Word   string      // the word that says so
}

// Risk is something in a goal that cannot be taken back.
type Risk struct {
	Effect risk.Effect `json:"effect"`
	Word   string      `json:"word"`
}

// Need says what sort of thing a requirement asks for.
type Need string

// The kinds of requirement.
const (
	MustCall    Need = "must_call_capability"
	MustSatisfy Need = "must_satisfy_class"
	MustProduce Need = "must_produce_output"
	MustFilter  Need = "must_filter"
	Custom      Need = "custom"
)

// Priority says what becomes of a plan that does not meet a requirement: without a Must it is not covered.
type Priority string

// The priorities.
const (
	Must   Priority = "must"
	Should Priority = "should"
	Nice   Priority = "nice_to_have"
)

// Readiness says how far a requirement is provided for.
type Readiness int

// The readinesses, each better than the one before.
const (
	Unknown Readiness = iota
	Identified
	Incomplete
	PendingExternal
	Available
)

func (r Readiness) String() string {
	return [...]string{"unknown", "identified", "incomplete", "pending_external", "available"}[r]
}

// MarshalText implements encoding.TextMarshaler.
func (r Readiness) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Requirement is one thing that a plan has to do for its goal.
type Requirement struct {
	ID        string    `json:"id"`
	Kind      Need      `json:"kind"`
	Priority  Priority  `json:"priority"`
	Says      string    `json:"says"`
	Readiness Readiness `json:"readiness"`
	Source    string    `json:"provision_source,omitempty"` // the step, or whoever provides for it
}

// Raise notes that a requirement is provided for by source. It never falls back: what was once available stays so.
func (r *Requirement) Raise(to Readiness, source string) {
	if to > r.Readiness {
		r.Readiness, r.Source = to, source
	}
}
