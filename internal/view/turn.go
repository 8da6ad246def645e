package view

import "github.com/cairn-plan/cairn/internal/lifecycle"

// Turns are the tasks that wait for their turn, by what may be called only so often. No record tells it: they count as
// begun, and what they wait is over in its time whoever looks.
type Turns map[string]string

// Of tells what a task waits for; empty: it does not.
func (t Turns) Of(task lifecycle.Task) string {
	at := t[task.ID]
	if at == "" || task.Status.Terminal() || task.Status == lifecycle.Waiting {
		return ""
	}
	return "waits for its turn at " + plain(at)
}
