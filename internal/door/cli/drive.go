package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

// drive carries a plan out in this process, shows how it goes and says how it ended. The journal is sealed
// every second meanwhile and once more at the end, whatever the end is.
func (a *app) drive(ctx context.Context, h *House, p place, name string, o runOptions) error {
	run, err := h.Engine.Open(ctx, name)
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "%s", err).Remedy("follow it with: cairn watch %s", name)
	}
	if err != nil {
		return err
	}
	defer run.Close()
	if o.until != "" {
		if _, ok := run.State.Task(o.until); !ok {
			return noTask(run.State, o.until)
		}
	}
	// A home that cannot be sealed, or was cut back, is found out before anything is done in it.
	if err := h.Seal(ctx); err != nil {
		return err
	}
	show, err := a.follower(ctx, h, name)
	if err != nil {
		return err
	}
	if run.State.Phase == lifecycle.PlanPending {
		if err := begin(ctx, h, name, show); err != nil {
			return err
		}
	}
	watch, told, err := h.telling(ctx, name, show, (&watchful{follower: show}).take)
	if err != nil {
		show.close()
		return err
	}
	d := Drive{Workers: o.workers, Until: o.until, Hard: a.parts.Hard, Watch: watch}
	if d.Workers == 0 {
		d.Workers = p.workers
	}
	if o.yes {
		d.Yes = p.actor
	}
	sealing, stop := context.WithCancel(context.WithoutCancel(ctx))
	sealed := make(chan error, 1)
	go func() { sealed <- h.Sealing(sealing) }()
	over := make(chan struct{})
	go warn(ctx, over, show)
	err = h.Driver(d).Drive(ctx, run)
	told()
	close(over)
	stop()
	err = errors.Join(err, <-sealed)
	show.close()
	if err != nil {
		return err
	}
	return conclude(run.State, o.until, a.out())
}

// begin shows what was journaled before the run: that the plan was handed in.
func begin(ctx context.Context, h *House, name string, show follower) error {
	for e, err := range h.Engine.Journal.Read(ctx, name, 0) {
		if err != nil {
			return err
		}
		show.take([]journal.Entry{e})
	}
	return nil
}

// patience is how long a run may take to stop before the person who stopped it is told what it waits for.
const patience = 200 * time.Millisecond

// warn tells somebody who interrupted a run why it does not end at once.
func warn(ctx context.Context, over <-chan struct{}, show follower) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	select {
	case <-over:
	case <-time.After(patience):
		show.notice("stopping; what must not run twice is let finish (interrupt again to cut it off)")
	}
}

// summary is the last line of a run under --json.
type summary struct {
	Plan    string              `json:"plan"`
	State   lifecycle.PlanState `json:"state"`
	Exit    int                 `json:"exit"`
	Hash    string              `json:"hash"`
	Waiting []string            `json:"waiting,omitempty"` // tasks that wait for a person
	Next    []string            `json:"next,omitempty"`
}

// conclude says how a plan stands, where to look next, and answers with the exit status.
func conclude(st *lifecycle.State, until string, out Out) error {
	code := verdict(st, until)
	next := view.Next(st)
	if out.JSON {
		s := summary{Plan: st.Name, State: st.State(), Hash: st.Hash().String(), Next: next}
		if code != nil {
			s.Exit = code.code.Exit()
		}
		for t := range st.Tasks() {
			if t.Wait.NeedsPerson() {
				s.Waiting = append(s.Waiting, t.ID)
			}
		}
		if err := out.line(map[string]summary{"summary": s}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "\nplan %s: %s\n", st.Name, sums(st))
		if len(next) > 0 {
			fmt.Fprintln(out, "next:")
		}
		for _, n := range next {
			fmt.Fprintln(out, "  "+n)
		}
	}
	if code != nil {
		return *code
	}
	return nil
}

// sums counts the tasks by where they stand.
func sums(st *lifecycle.State) string {
	row := view.RowOf(st, journal.Head{}, time.Time{})
	s := fmt.Sprintf("%s, %d of %s done", row.State, row.Done, count(row.Total, "task"))
	if row.Failed > 0 {
		s += fmt.Sprintf(", %d failed", row.Failed)
	}
	if row.Routed > 0 {
		s += fmt.Sprintf(", %d failed and routed", row.Routed)
	}
	if n := len(row.Waiting); n > 0 {
		s += fmt.Sprintf(", %d waiting for a person", n)
	}
	return s
}

// verdict is the exit status of where a plan stands; nil when it is done.
func verdict(st *lifecycle.State, until string) *outcome {
	if t, ok := st.Task(until); ok && until != "" && t.Status.Terminal() && t.Status != lifecycle.FailedTask {
		return nil
	}
	switch {
	case st.Phase == lifecycle.PlanCompleted:
		return nil
	case st.Phase == lifecycle.PlanFailed && refused(st):
		return &outcome{fault.Denied}
	case st.Phase.Over():
		return &outcome{fault.Failed}
	}
	return &outcome{fault.Waiting}
}

// refused reports whether gates and budgets alone kept a plan from its end.
func refused(st *lifecycle.State) bool {
	gates := 0
	for t := range st.Tasks() {
		if t.Status != lifecycle.FailedTask || t.Group {
			continue
		}
		if t.Spec.Approve == nil && t.Spec.Kind != "gate" && !st.Denied(t.ID) {
			return false
		}
		gates++
	}
	return gates > 0
}

// noTask says that a plan has no such task, and which one was probably meant.
func noTask(st *lifecycle.State, id string) error {
	err := fault.New(fault.NotFound, "plan %s has no task %s", st.Name, id)
	var ids []string
	for t := range st.Tasks() {
		ids = append(ids, t.ID)
	}
	if near := nearest(id, ids); near != "" {
		return err.Remedy("did you mean %s?", near)
	}
	return err.Remedy("see its tasks with: cairn show %s", st.Name)
}
