package cli

import (
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// taskJSON is one task under --json: as the plan has it, with where it stands beside.
type taskJSON struct {
	ID    string     `json:"id"`
	Spec  *plan.Task `json:"task"`
	State taskState  `json:"state"`
}

type taskState struct {
	Status    lifecycle.Status           `json:"status"`
	Wait      lifecycle.Wait             `json:"wait,omitempty"`
	Execution int                        `json:"execution,omitempty"`
	Attempt   int                        `json:"attempt,omitempty"`
	Retries   int                        `json:"retries,omitempty"`
	Item      int                        `json:"item,omitempty"`
	Due       time.Time                  `json:"due,omitzero"`
	Error     string                     `json:"error,omitempty"`
	Exit      *int                       `json:"exit,omitempty"`
	Outputs   map[string]json.RawMessage `json:"outputs,omitempty"`
	Artifacts []capability.Ref           `json:"artifacts,omitempty"`
}

func writeTask(st *lifecycle.State, id string, out Out) error {
	t, _ := st.Task(id)
	s := taskState{Status: t.Status, Wait: t.Wait, Execution: t.Execution, Attempt: t.Attempt, Retries: t.Retries, Item: t.Item,
		Due: t.Due, Error: t.Error}
	if r := t.Result; r != nil {
		s.Exit, s.Outputs, s.Artifacts = r.Exit, r.Outputs, r.Artifacts
	}
	return out.print(taskJSON{ID: t.ID, Spec: t.Spec, State: s})
}
