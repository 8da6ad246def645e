package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

type rollbackOptions struct {
	to    string // a checkpoint, or a task; empty: everything
	why   string
	yes   bool
	force bool // overwrite what was changed since
}

func (a *app) rollbackCommand() *cobra.Command {
	var o rollbackOptions
	c := &cobra.Command{
		Use:   "rollback PLAN [--to CHECKPOINT|TASK] --why TEXT [--force] [--yes] [--plain]",
		Short: "undo what a plan did after a checkpoint, or all of it, last things first",
		Example: "  cairn rollback release --to build --why 'the wrong branch'\n" +
			"  cairn rollback release --why 'not needed' --yes",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(p place, h *House) error { return a.rollback(c.Context(), h, p, args[0], o) })
		},
	}
	c.Flags().StringVar(&o.to, "to", "", "the checkpoint, or the task, after which all is undone (default: everything)")
	c.Flags().BoolVar(&o.force, "force", false, "put files back even where they were changed since; what is overwritten stays in git")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask first")
	c.Flags().BoolVar(&a.plain, "plain", false, "print lines instead of a live tree")
	addWhy(c, &o.why)
	return c
}

// rollback undoes, shows it, and says how far it came. One that was cut off goes on, whatever is asked.
func (a *app) rollback(ctx context.Context, h *House, p place, name string, o rollbackOptions) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	if !st.Undoing() {
		if err := reason(o.why, "rollback"); err != nil {
			return err
		}
		if err := a.confirm(ctx, h, st, o); err != nil {
			return err
		}
	}
	run, err := h.Engine.Open(ctx, name)
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "%s", err).Remedy("stop it first: cairn pause %s, then end that process", name)
	}
	if err != nil {
		return err
	}
	defer run.Close()
	if err := h.Seal(ctx); err != nil {
		return err
	}
	show, err := a.follower(ctx, h, name)
	if err != nil {
		return err
	}
	before := run.Head().Seq
	err = h.Driver(Drive{Hard: a.parts.Hard, Watch: show.take, Begin: func(ctx context.Context, r *engine.Run) ([]engine.Work, error) {
		if o.force {
			r.Force()
		}
		return r.Rollback(ctx, o.to, o.why, p.actor)
	}}).Drive(ctx, run)
	show.close()
	err = errors.Join(err, h.Seal(context.WithoutCancel(ctx)))
	if fault.Is(err, fault.Interrupted) || err == nil && run.State.Undoing() {
		return fault.New(fault.Interrupted, "the rollback of plan %s was interrupted; how far it came is saved", name).
			Remedy("go on with: cairn rollback %s", name)
	}
	if err != nil {
		return err
	}
	return tellRollback(ctx, h, run.State, undone{after: before, to: o.to}, a.out())
}

// confirm asks a person at a terminal, who is shown what would be undone. Elsewhere the command is the consent.
func (a *app) confirm(ctx context.Context, h *House, st *lifecycle.State, o rollbackOptions) error {
	f, ok := a.io.In.(*os.File)
	if o.yes || a.json || !ok || !term.IsTerminal(int(f.Fd())) || !a.out().Terminal {
		return nil
	}
	tasks, err := h.Engine.WouldUndo(ctx, st.Name, o.to)
	if err != nil {
		return err
	}
	what := "everything that plan " + st.Name + " did"
	if o.to != "" {
		what = "what plan " + st.Name + " did after " + o.to
	}
	fmt.Fprintf(a.io.Out, "This undoes %s, last things first: %s.\n", what, undoes(st, tasks))
	if o.force {
		fmt.Fprintln(a.io.Out, "Files that they changed go back to what they were, and what was changed in them since is overwritten; it stays in git.")
	} else {
		fmt.Fprintln(a.io.Out, "Only what they changed goes back; what was changed since stays, and where the two meet it stops (see --force).")
	}
	fmt.Fprint(a.io.Out, "Go on? [y/N] ")
	answer, err := bufio.NewReader(f).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err == nil && (word == "y" || word == "yes") {
		return nil
	}
	return fault.New(fault.Denied, "nothing was undone").Remedy("answer y, or use --yes")
}

// undoes names tasks in the order in which they are undone, and says which had failed.
func undoes(st *lifecycle.State, tasks []string) string {
	if len(tasks) == 0 {
		return "none of its tasks did anything"
	}
	const most = 20
	var names []string
	for _, id := range tasks[:min(len(tasks), most)] {
		if t, _ := st.Task(id); t.Status == lifecycle.FailedTask {
			id += " (failed)"
		}
		names = append(names, id)
	}
	if more := len(tasks) - len(names); more > 0 {
		names = append(names, "and "+count(more, "task")+" more")
	}
	return strings.Join(names, ", ")
}

// undoing is how far a rollback came.
type undoing struct {
	Plan   string              `json:"plan"`
	State  lifecycle.PlanState `json:"state"`
	Undone int                 `json:"undone"`           // tasks, this time
	Left   int                 `json:"left"`             // tasks that are still to be undone
	Failed string              `json:"failed,omitempty"` // the one that could not be
	Why    string              `json:"why,omitempty"`
	Next   []string            `json:"next,omitempty"`
	Exit   int                 `json:"exit"`
}

// undone is what was asked for, and the record after which it was done.
type undone struct {
	after journal.Seq
	to    string
}

// tellRollback says how far a rollback came, and fails where it stopped half way.
func tellRollback(ctx context.Context, h *House, st *lifecycle.State, of undone, out Out) error {
	u := undoing{Plan: st.Name, Next: view.Next(st)}
	for r, err := range h.Engine.Records(ctx, st.Name, of.after) {
		if err != nil {
			return err
		}
		if r.Kind == lifecycle.RollbackEnded {
			if err := json.Unmarshal(r.Body, &u); err != nil {
				return fault.Wrap(fault.Tampered, err, "record %s#%d", r.Plan, r.Seq)
			}
		}
	}
	u.State = st.State()
	var code error
	if u.Failed != "" {
		u.Exit, code = fault.Failed.Exit(), outcome{fault.Failed}
		again := "cairn rollback " + st.Name
		if of.to != "" {
			again += " --to " + of.to
		}
		u.Next = []string{"cairn why " + st.Name + " " + u.Failed, again + " --why TEXT"}
	}
	if out.JSON {
		if err := out.line(map[string]undoing{"summary": u}); err != nil {
			return err
		}
		return code
	}
	fmt.Fprintf(out, "\nplan %s: %s undone", st.Name, count(u.Undone, "task"))
	if u.Failed != "" {
		fmt.Fprintf(out, ", then %s could not be: %s\n%s left to undo; mend what is wrong, and a second try goes on from there", u.Failed, oneLine(u.Why), count(u.Left, "task"))
	}
	fmt.Fprintf(out, "\nthe plan is %s\nnext:\n", u.State)
	for _, n := range u.Next {
		fmt.Fprintln(out, "  "+n)
	}
	return code
}
