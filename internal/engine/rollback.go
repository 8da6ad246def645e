package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Checkpoint is a point of a run to which it can go back: the end of a task.
type Checkpoint struct {
	Name string `json:"name"` // cp-<task>-<time>
	Task string `json:"task"`
	Seq  uint64 `json:"seq"`
	Tree string `json:"tree,omitempty"` // the state of the workspace then
}

// Checkpoints lists those of a plan, oldest first.
func (e *Engine) Checkpoints(ctx context.Context, name string) ([]Checkpoint, error) {
	var out []Checkpoint
	for r, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		if r.Kind != lifecycle.TaskEnded {
			continue
		}
		f, err := lifecycle.FactOf(r)
		if err != nil {
			return nil, err
		}
		b := f.Body.(*lifecycle.Ended)
		if b.Outcome != lifecycle.Succeeded {
			continue
		}
		c := Checkpoint{Name: "cp-" + r.Task + "-" + r.Time.UTC().Format("20060102T150405.000000000Z"), Task: r.Task, Seq: uint64(r.Seq)}
		if b.Tree != nil {
			c.Tree = b.Tree.After
		}
		out = append(out, c)
	}
	return out, nil
}

// checkpointTask finds the task that a checkpoint's name, or a task's own, means.
func (r *Run) checkpointTask(ctx context.Context, to string) (string, error) {
	if _, ok := r.State.Task(to); ok || to == "" {
		return to, nil
	}
	all, err := r.engine.Checkpoints(ctx, r.State.Name)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if c.Name == to {
			return c.Task, nil
		}
	}
	return "", fault.New(fault.NotFound, "plan %s has no checkpoint %s", r.State.Name, to).
		Remedy("see them with: cairn show %s --checkpoints", r.State.Name)
}

// Rollback begins to undo what ended after a checkpoint, or everything. A rollback that was cut off is taken up again.
func (r *Run) Rollback(ctx context.Context, to, why, actor string) ([]Work, error) {
	if out := r.work(append([]lifecycle.Effect(nil), r.State.Outstanding()...)); r.State.Undoing() {
		return out, nil
	}
	task, err := r.checkpointTask(ctx, to)
	if err != nil {
		return nil, err
	}
	if r.State.Tended && !r.State.Phase.Over() {
		if _, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}}); err != nil {
			return nil, err
		}
	}
	if _, err := r.clear(ctx, append([]lifecycle.Effect(nil), r.State.Unfinished()...)); err != nil {
		return nil, err
	}
	w, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.RollbackAsked, Actor: actor, Body: &lifecycle.Asked{To: task, Why: why}})
	return w, err
}

// undo takes back what a task did: by the rollback that the plan names, by what its capability had kept, or by the
// state of the files that it found.
func (r *Run) undo(ctx context.Context, w Work, rep Reporter) lifecycle.Fact {
	u := &lifecycle.Undone{}
	how, err := r.takeBack(ctx, w, rep)
	if u.How = how; err != nil {
		u.Error = clip(err.Error())
	}
	return lifecycle.Fact{Kind: lifecycle.TaskUndone, Task: w.Task, Body: u}
}

func (r *Run) takeBack(ctx context.Context, w Work, rep Reporter) ([]string, error) {
	if rb := w.Spec.Rollback; rb != nil {
		return r.runRollback(ctx, w, rep, rb)
	}
	backup, tree, err := r.engine.kept(ctx, r.State.Name, w.Task)
	if err != nil {
		return nil, err
	}
	ws, err := r.workspace(ctx)
	if err != nil {
		return nil, err
	}
	if ws != nil && tree != nil && tree.Before != tree.After {
		files, err := ws.Restore(ctx, tree.Before)
		return []string{"put " + strconv.Itoa(len(files)) + " files back: " + clip(strings.Join(files, ", "))}, err
	}
	if len(backup) == 0 {
		return nil, nil
	}
	return r.putBack(ctx, w, rep, backup)
}

// putBack hands a capability what it had kept.
func (r *Run) putBack(ctx context.Context, w Work, rep Reporter, backup json.RawMessage) ([]string, error) {
	call, runner, err := r.call(ctx, w)
	if err != nil {
		return nil, err
	}
	k, ok := runner.(capability.Keeper)
	if !ok {
		return nil, fault.New(fault.Failed, "%s cannot put back what it kept any more", w.Spec.Uses)
	}
	call.Host = &host{run: r, work: w, rep: rep}
	if call.Dir, err = r.dirOf(ctx, w); err != nil {
		return nil, err
	}
	return []string{"put back what " + w.Spec.Uses + " had kept"}, k.Restore(ctx, call, backup)
}

// dirOf is where a task's files are now.
func (r *Run) dirOf(ctx context.Context, w Work) (string, error) {
	ws, err := r.workspace(ctx)
	if err != nil || ws == nil {
		return r.engine.Root, err
	}
	place, err := ws.Enter(ctx, w.Task, false)
	if err != nil {
		return "", err
	}
	defer place.Leave()
	return place.Dir(), nil
}

// runRollback carries out the rollback that the plan names for a task.
func (r *Run) runRollback(ctx context.Context, w Work, rep Reporter, rb *plan.Rollback) ([]string, error) {
	t := plan.Task{ID: w.Spec.ID, Uses: rb.Uses, Run: rb.Run, With: rb.With, Env: w.Spec.Env, Dir: w.Spec.Dir, Timeout: w.Spec.Timeout}
	if t.Uses == "" {
		t.Uses = "shell"
	}
	undo := w
	undo.Spec, undo.Kind = &t, lifecycle.Start
	e := &lifecycle.Ended{}
	_, err := r.carryOut(ctx, undo, rep, e)
	said := rb.Run
	if said == "" {
		said = rb.Uses
	}
	return []string{"ran its rollback: " + clip(said)}, err
}

// kept finds what was kept before a task changed anything, and the files it found: of its first attempt in this
// execution, because a later one found what that one left.
func (e *Engine) kept(ctx context.Context, name, task string) (backup json.RawMessage, tree *lifecycle.Tree, err error) {
	for rec, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return nil, nil, err
		}
		if rec.Task != task || !lifecycle.IsFact(rec.Kind) && rec.Kind != lifecycle.TaskReopened {
			continue
		}
		if rec.Kind == lifecycle.TaskReopened {
			backup, tree = nil, nil
			continue
		}
		f, err := lifecycle.FactOf(rec)
		if err != nil {
			return nil, nil, err
		}
		switch b := f.Body.(type) {
		case *lifecycle.Undone:
			if b.Error == "" {
				backup, tree = nil, nil
			}
		case *lifecycle.Saved:
			if backup == nil {
				backup = b.Backup
			}
		case *lifecycle.Ended:
			if tree == nil {
				tree = b.Tree
			} else if b.Tree != nil {
				tree = &lifecycle.Tree{Before: tree.Before, After: b.Tree.After}
			}
		}
	}
	return backup, tree, nil
}

// TaskDiff shows what a task changed in the files of its workspace; nothing when it changed none.
func (e *Engine) TaskDiff(ctx context.Context, name, task string) ([]byte, error) {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if _, ok := st.Task(task); !ok {
		return nil, fault.New(fault.NotFound, "plan %s has no task %s", name, task).Remedy("see its tasks with: cairn show %s", name)
	}
	_, tree, err := e.kept(ctx, name, task)
	if err != nil || tree == nil || tree.Before == tree.After || e.Workspace == nil {
		return nil, err
	}
	ws, err := e.Workspace(ctx, name, kindOf(st.Plan))
	if err != nil || ws == nil {
		return nil, err
	}
	return ws.Diff(ctx, tree.Before, tree.After)
}
