package engine

import (
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// fireDue lets every timer fire whose time has come while nobody was there, before anybody decides that there is nothing to do:
// a plan in which all waits for people may have been overtaken by a deadline. Timers of retries fire as they always do.
func (r *Run) fireDue(work []Work) ([]Work, error) {
	now := r.clock()
	for k := 0; k < len(work); k++ {
		w := work[k]
		if w.Kind != lifecycle.Arm || w.For == "" || w.Due.After(now) {
			continue
		}
		more, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.TimerFired, Task: w.Task, Attempt: w.Attempt, Body: &lifecycle.Fired{For: w.For}})
		if err != nil && !fault.Is(err, fault.Conflict) {
			return nil, err
		}
		work = append(work, more...)
	}
	return work, nil
}
