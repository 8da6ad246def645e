package lifecycle

import (
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Archived is the body of plan.archived: the plan is put away, with what whoever comes after should read.
type Archived struct {
	Why       string           `json:"why,omitempty"`
	Artifacts []capability.Ref `json:"artifacts,omitempty"`
	Claimer   string           `json:"claimer,omitempty"`
}

// PlanIsArchived is shown of a plan that was put away.
const PlanIsArchived PlanState = "archived"

// archive puts a plan away that is over. Nothing follows but that content expires.
func (s *State) archive(f Fact) error {
	if !s.Phase.Over() || s.Archived {
		return s.refuse(f)
	}
	s.Archived = true
	return nil
}

// closed refuses what comes after a plan was put away.
func (s *State) closed(f Fact) error {
	if !s.Archived || f.Kind == ArtifactExpired {
		return nil
	}
	return fault.New(fault.Conflict, "plan %s is archived, so %s cannot follow", s.Name, f.Kind).
		Remedy("begin another with what it did: cairn fork %s --at CHECKPOINT", s.Name)
}
