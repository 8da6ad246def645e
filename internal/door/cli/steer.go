package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// done is what a command to a plan came to.
type done struct {
	Plan    string              `json:"plan"`
	Task    string              `json:"task,omitempty"`
	Did     string              `json:"did"`
	State   lifecycle.PlanState `json:"state,omitempty"`
	Running bool                `json:"running"` // a process carries the plan out at this moment
}

// steering makes a command that asks something of a plan.
func (a *app) steering(c *cobra.Command, did string, ask func(args []string) (engine.Command, error)) *cobra.Command {
	c.ValidArgsFunction = a.completePlan
	c.RunE = func(c *cobra.Command, args []string) error {
		command, err := ask(args)
		if err != nil {
			return err
		}
		return a.changing(c.Context(), func(p place, h *House) error {
			return runSteer(c.Context(), h, order{args[0], p.actor, did, command}, a.out())
		})
	}
	return c
}

// order is a command to a plan, who gives it, and the word for having done so.
type order struct {
	plan, actor, did string
	engine.Command
}

// runSteer gives a plan a command and says how it stands then.
func runSteer(ctx context.Context, h *House, c order, out Out) error {
	name := c.plan
	if c.Task != "" {
		st, _, err := h.Engine.Load(ctx, name)
		if err != nil {
			return err
		}
		if _, ok := st.Task(c.Task); !ok && !aboutGoal(st, c.Task) && !aboutReplan(c.Command) {
			return noTask(st, c.Task)
		}
	}
	did := h.Engine.Do(ctx, name, c.actor, c.Command)
	st, _, err := h.Engine.Load(ctx, name)
	if did != nil && err == nil {
		return unfit(st, c, did)
	}
	if err != nil {
		return err
	}
	return tellDone(out, done{Plan: name, Task: c.Task, Did: c.did, State: st.State(), Running: !st.Phase.Over() && held(h, name)})
}

// aboutReplan reports whether a decision is about what is proposed, if there is no task of that id.
func aboutReplan(c engine.Command) bool {
	return c.Task == lifecycle.ReplanTask && (c.Name == engine.Approve || c.Name == engine.Reject)
}

func tellDone(out Out, d done) error {
	if out.JSON {
		return out.print(d)
	}
	what := "plan " + d.Plan
	if d.Task != "" {
		what = fmt.Sprintf("task %s of plan %s", d.Task, d.Plan)
	}
	fmt.Fprintf(out, "%s: %s\n", what, d.Did)
	switch {
	case d.State.Over():
	case d.Running:
		fmt.Fprintf(out, "follow it with: cairn watch %s\n", d.Plan)
	default:
		fmt.Fprintf(out, "go on with: cairn resume %s\n", d.Plan)
	}
	return nil
}

// addWhy adds the reason that a decision is recorded with.
func addWhy(c *cobra.Command, why *string) {
	c.Flags().StringVar(why, "why", "", "the reason, which is recorded")
}

// reason refuses a decision without one.
func reason(why, command string) error {
	if strings.TrimSpace(why) == "" {
		return fault.New(fault.Invalid, "%s wants a reason", command).Remedy("add --why TEXT; it is kept in the journal")
	}
	return nil
}

// aboutGoal reports whether a name means the goal of a plan that waits for word of it.
func aboutGoal(st *lifecycle.State, name string) bool {
	_, waits := st.Goal()
	return waits && name == lifecycle.GoalTask
}
