// Package planner says what a plan for a goal must be, whoever makes it: what a goal asks for (Signals, Requirement), what
// there is to do it with (Menu), and when a Draft of steps is good enough to be written down.
//
// A planner is a source of drafts: the offline one here, a model elsewhere. All of them are judged by Validate, Cover and
// Rate, so that none can pass with less than another. Nothing here reads a clock, a store or the network: the same goal,
// context and menu give the same bytes.
//
// What is wrong with a goal is told to whoever gave it (Invalid); a draft that breaks the rules is never written.
package planner

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/risk"
)

// Planner makes a draft for a goal with what the menu offers.
type Planner interface {
	Draft(ctx context.Context, goal Goal, menu Menu) (*Draft, error)
}

// Experience recalls how goals like this one were reached before, the nearest first. A planner without any has nil.
type Experience interface {
	Recall(ctx context.Context, goal Goal, signals Signals, menu Menu) ([]Case, error)
}

// Case is a goal that was reached before, and how.
type Case struct {
	Goal  string
	Steps []string    // capabilities, in order
	Links [][2]string // from, to
	Near  float64     // how like the goal it is, 0 to 1
	Won   float64     // how it went, 0 to 1
}

// Step is one step of a draft.
type Step struct {
	ID          string
	Kind        plan.Kind
	Title       string
	Action      string // what is to be done, 10 to 500 characters
	Arm         string // who would do it, as the planner arm has it
	Uses        string // a capability; empty: a person or an agent
	Run         string
	With        json.RawMessage
	Accept      []Check
	Needs       []string
	Gives       []string
	Tier        int // of cost, 1 to 5
	Lasts       time.Duration
	Effect      risk.Effect // what of it cannot be taken back
	Criticality string
	Verifies    bool
	Risks       []string
	Rationale   string
	Meets       []string // ids of requirements
}

// Check is one acceptance criterion: an expression, or words that somebody judges.
type Check struct {
	Says string
	CEL  bool
}

// Judged makes criteria of words.
func Judged(says ...string) []Check {
	out := make([]Check, len(says))
	for i, s := range says {
		out[i] = Check{Says: s}
	}
	return out
}

// Draft is a plan before it is written down.
type Draft struct {
	Name       string
	Title      string
	Goal       Goal
	Signals    Signals
	Methods    []string
	Steps      []Step
	Done       []string
	Rationale  string
	Coverage   Coverage
	Confidence Confidence
}

// Arms are those of the planner arm, by the kind of work.
func armOf(kind plan.Kind) string {
	switch kind {
	case plan.Research:
		return "retriever"
	case plan.Implement, plan.Refactor, plan.Debug, plan.Document:
		return "coder"
	case plan.Validate:
		return "judge"
	case plan.Gate:
		return "guardian"
	case plan.Deploy, plan.Manual:
		return "executor"
	}
	return "planner"
}

// Prepare gives every step its arm where it has none.
func (d *Draft) Prepare() {
	for i := range d.Steps {
		if s := &d.Steps[i]; s.Arm == "" {
			s.Arm = armOf(s.Kind)
		}
	}
}
