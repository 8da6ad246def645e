package lifecycle

import "github.com/cairn-plan/cairn/internal/journal"

// DeadlineMissed is derived: a deadline has come and the task, or the plan, was not over.
const DeadlineMissed journal.Kind = "deadline.missed"

// missedBody is the body of deadline.missed.
type missedBody struct {
	Due  string `json:"due"`
	Then string `json:"then"`         // fail, warn or escalate
	To   string `json:"to,omitempty"` // the role that is told
}
