package cli

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// unlawful ends what the law says of a fact that does not fit. It speaks of records; people asked for something else.
const unlawful = "cannot follow"

// unfit tells in the words of whoever gave a command why the plan does not take it, and what can be done instead.
func unfit(st *lifecycle.State, c order, err error) error {
	if !fault.Is(err, fault.Conflict) || !strings.HasSuffix(err.Error(), unlawful) {
		return err
	}
	if c.Task != "" { // what is asked of people is looked at before it is asked of the plan
		return unfitTask(st, c)
	}
	no := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, "plan "+c.plan+" "+format, args...)
	}
	switch {
	case c.Name == engine.Pause && st.Phase == lifecycle.PlanIsPaused:
		return no("is paused already").Remedy("go on with: cairn resume %s", c.plan)
	case st.Phase == lifecycle.PlanAbandoned:
		return no("was cancelled").Remedy("for a new run: cairn run FILE")
	case c.Name == engine.Pause && st.Phase.Over():
		return no("is %s: there is nothing left to pause", st.Phase).Remedy("see what became of it with: cairn show %s", c.plan)
	case c.Name == engine.Cancel:
		return no("is %s: there is nothing left to give up", st.Phase).Remedy("take back what it did with: cairn rollback %s --why TEXT", c.plan)
	case st.Phase == lifecycle.PlanCompleted:
		return no("is completed: nothing of it failed").Remedy("for a new run: cairn run FILE")
	case st.Phase == lifecycle.PlanPending:
		return no("has not begun").Remedy("begin it with: cairn resume %s", c.plan)
	}
	return no("is %s, and has not failed", st.Phase).Remedy("go on with: cairn resume %s", c.plan)
}

// unfitTask is for a task that is to be tried again alone.
func unfitTask(st *lifecycle.State, c order) error {
	t, _ := st.Task(c.Task)
	if st.Phase == lifecycle.PlanFailed {
		return fault.New(fault.Conflict, "task %s is %s: alone, only a task is tried again that was cut off and may have taken effect", c.Task, t.Status).
			Remedy("try again all that failed with: cairn retry %s", c.plan)
	}
	return fault.New(fault.Conflict, "task %s is %s: it was not cut off", c.Task, t.Status).Remedy("see how it came to that with: cairn why %s %s", c.plan, c.Task)
}
