package engine

import (
	"context"

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

// Force lets the rollback overwrite what was changed since in the files that it puts back.
func (r *Run) Force() { r.space.force = true }

// WouldUndo lists the tasks that a rollback would undo, in the order in which it would: the state says so itself.
func (e *Engine) WouldUndo(ctx context.Context, name, to string) ([]string, error) {
	st, head, err := e.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	r := newRun(e, st, head, func() {})
	task, err := r.checkpointTask(ctx, to)
	if err != nil {
		return nil, err
	}
	if st.Tended && !st.Phase.Over() {
		if _, err := st.Take(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}}); err != nil {
			return nil, err
		}
	}
	f := lifecycle.Fact{Kind: lifecycle.RollbackAsked, Body: &lifecycle.Asked{To: task}}
	var tasks []string
	for {
		derived, err := st.Take(f)
		if err != nil || !st.Undoing() {
			return tasks, err
		}
		for _, d := range derived {
			if d.Kind == lifecycle.TaskUndoing {
				tasks = append(tasks, d.Task)
			}
		}
		f = lifecycle.Fact{Kind: lifecycle.TaskUndone, Task: tasks[len(tasks)-1], Body: &lifecycle.Undone{}}
	}
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
	from, to := st.Trees() // of a gate: what is to be approved
	if t, _ := st.Task(task); t.Spec.Kind != plan.Gate {
		k, err := e.kept(ctx, name, task)
		if err != nil || len(k.spans) == 0 {
			return nil, err
		}
		from, to = k.spans[0].Before, k.spans[len(k.spans)-1].After
	}
	if e.Workspace == nil || from == "" {
		return nil, nil
	}
	ws, err := e.Workspace(ctx, name, kindOf(st.Plan))
	if err != nil || ws == nil {
		return nil, err
	}
	return ws.Diff(ctx, from, to)
}
