package cli

import (
	"context"
	"fmt"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// reviewed is what one approval of a whole window came to.
type reviewed struct {
	Plan     string   `json:"plan"`
	Approved []string `json:"approved"`
	Left     []left   `json:"left"`
}

// left is a decision that somebody has to take by itself.
type left struct {
	Task   string `json:"task"`
	Why    string `json:"why"`
	Remedy string `json:"remedy,omitempty"`
}

// runWindow approves every decision of a plan that waits, each by a record of its own with the same reason. What the
// caller may not decide, or has to look at first, is left; the engine says so, as it would for one alone.
func runWindow(ctx context.Context, h *House, by order, out Out) error {
	name := by.plan
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	r := reviewed{Plan: name, Approved: []string{}, Left: []left{}}
	var last error
	for t := range st.Tasks() {
		if t.Wait != lifecycle.ForDecision {
			continue
		}
		err := h.Engine.Do(ctx, name, by.actor, engine.Command{Name: engine.Approve, Task: t.ID, Why: by.Why})
		switch {
		case err == nil:
			r.Approved = append(r.Approved, t.ID)
		case fault.Is(err, fault.Denied) || fault.Is(err, fault.Conflict):
			r.Left, last = append(r.Left, left{t.ID, err.Error(), fault.HintOf(err)}), err
		default:
			return err
		}
	}
	if len(r.Approved)+len(r.Left) == 0 {
		return fault.New(fault.Conflict, "no decision of plan %s waits", name).Remedy("see what does: cairn inbox")
	}
	if err := r.tell(out); err != nil {
		return err
	}
	if len(r.Approved) == 0 {
		return outcome{fault.CodeOf(last)}
	}
	return nil
}

func (r reviewed) tell(out Out) error {
	if out.JSON {
		return out.print(r)
	}
	fmt.Fprintf(out, "plan %s: %s approved\n", r.Plan, count(len(r.Approved), "change"))
	for _, id := range r.Approved {
		fmt.Fprintf(out, "  %s\n", id)
	}
	for _, l := range r.Left {
		fmt.Fprintf(out, "left: %s: %s\n", l.Task, l.Why)
		if l.Remedy != "" {
			fmt.Fprintf(out, "  %s\n", l.Remedy)
		}
	}
	if len(r.Approved) > 0 {
		fmt.Fprintf(out, "go on with: cairn resume %s\n", r.Plan)
	}
	return nil
}

// whole refuses what belongs to one decision where a whole window is approved.
func (o approveOptions) whole(gates []string) error {
	switch {
	case !o.window && len(gates) == 0:
		return fault.New(fault.Invalid, "no gate is named").Remedy("name gates, or approve all that wait with --window")
	case o.window && len(gates) > 0:
		return fault.New(fault.Invalid, "--window is all gates of the plan, and %s is one", gates[0]).Remedy("keep one of them")
	case o.window && (o.seen != "" || o.override || len(o.evidence) > 0):
		return fault.New(fault.Invalid, "--seen, --override and --evidence are about one gate").Remedy("approve that gate by itself")
	}
	return nil
}
