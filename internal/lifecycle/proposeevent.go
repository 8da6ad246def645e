package lifecycle

import (
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/journal"
)

// The kinds of record that tell what is proposed when a task has failed for good.
const (
	ReplanProposed journal.Kind = "replan.proposed" // fact: a way to go on was proposed
	ReplanDecided  journal.Kind = "replan.decided"  // fact: somebody agreed to it, or did not
)

// What may be proposed.
const (
	ProposeRetry    = "retry"    // try the task again
	ProposeRecover  = "recover"  // try it again after the recovery of one of its failure modes
	ProposeQuestion = "question" // nothing is known that would help: somebody has to say
	ProposeRevision = "revision" // go on under another revision of the plan
)

// Proposed is the body of replan.proposed. Its task is the one that failed for good.
type Proposed struct {
	Kind    string    `json:"kind"`
	Why     string    `json:"why,omitempty"`
	By      string    `json:"by,omitempty"`      // what proposes it; absent: the rules that are built in
	Mode    string    `json:"mode,omitempty"`    // of recover: the failure mode
	Asks    string    `json:"asks,omitempty"`    // of question
	Options []Option  `json:"options,omitempty"` // of question
	Spec    digest.ID `json:"spec,omitzero"`     // of revision: its canonical JSON, in the artifact store
	Size    int64     `json:"size,omitempty"`    // likewise
	Auto    bool      `json:"auto,omitempty"`    // the policy lets it be done without asking anybody
}

// ReplanVerdict is the body of replan.decided. That somebody agreed to a revision is told by plan.revised instead.
type ReplanVerdict struct {
	Accepted bool     `json:"accepted"`
	Why      string   `json:"why,omitempty"`
	Roles    []string `json:"roles,omitempty"` // that the actor had
	Claimer  string   `json:"claimer,omitempty"`
	Trusted  bool     `json:"trusted,omitempty"`
}
