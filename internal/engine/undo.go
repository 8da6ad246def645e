package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// undo takes back what a task did: by the rollback that the plan names, by what its capability had kept, or by the
// state of the files that it found. What could not be put back is told, never passed over.
func (r *Run) undo(ctx context.Context, w Work, rep Reporter) lifecycle.Fact {
	u := &lifecycle.Undone{}
	how, err := r.takeBack(ctx, w, rep)
	if u.How = how; err != nil {
		u.Error = told(err)
	}
	return lifecycle.Fact{Kind: lifecycle.TaskUndone, Task: w.Task, Body: u}
}

func (r *Run) takeBack(ctx context.Context, w Work, rep Reporter) ([]string, error) {
	if rb := w.Spec.Rollback; rb != nil {
		return r.runRollback(ctx, w, rep, rb)
	}
	k, err := r.engine.kept(ctx, r.State.Name, w.Task)
	if err != nil {
		return nil, err
	}
	ws, err := r.workspace(ctx)
	if err != nil {
		return nil, err
	}
	var how []string
	switch {
	case len(k.spans) > 0 && ws == nil:
		return nil, fault.New(fault.NotFound, "the files that it changed were kept, and there is no git here that could put them back").
			Remedy("install git and see that it is in PATH")
	case len(k.spans) > 0:
		if how, err = r.revert(ctx, w, ws, k); err != nil || len(k.backup) == 0 || !r.reaches(w) {
			break
		}
		var more []string
		more, err = r.putBack(ctx, w, rep, k.backup)
		how = append(how, more...)
	case len(k.backup) > 0:
		how, err = r.putBack(ctx, w, rep, k.backup)
	case !k.looked:
		how = []string{"nothing was put back: " + r.unkept(w)}
	}
	if len(k.left) > 0 && err == nil {
		how = append(how, "not put back, because it was not kept: "+clip(strings.Join(k.left, ", ")))
	}
	return how, err
}

// reaches reports whether a task may have changed what is in no file of the workspace.
func (r *Run) reaches(w Work) bool {
	contract, _, _ := r.engine.Capabilities.Lookup(w.Spec.Uses)
	return contract.Needs.Network
}

// unkept says why nothing of what a task did was kept.
func (r *Run) unkept(w Work) string {
	contract, _, _ := r.engine.Capabilities.Lookup(w.Spec.Uses)
	if contract.Needs.Write && (w.Spec.Writes == nil || *w.Spec.Writes) {
		return "the files that it found were not kept"
	}
	return w.Spec.Uses + " keeps nothing, and the plan names no rollback for it"
}

// revert puts the files back that a task changed.
func (r *Run) revert(ctx context.Context, w Work, ws Workspace, k keepsake) ([]string, error) {
	got, err := ws.Revert(ctx, Back{Spans: k.spans, Spared: k.spared, Force: r.space.force, Message: r.goingBack(w)})
	if err != nil {
		return nil, err
	}
	var how []string
	tell := func(what string, files []string) {
		if len(files) > 0 {
			how = append(how, what+clip(strings.Join(files, ", ")))
		}
	}
	if len(got.Files) == 0 && len(got.Spared) == 0 {
		return []string{"its files were as they had been already"}, nil
	}
	tell("put "+files(len(got.Files))+" back: ", got.Files)
	tell("what was changed since stays in ", got.Joined)
	tell("left to another task that was at work too: ", got.Spared)
	tell("overwrote what was changed since (see it with: "+got.Recall+"): ", got.Overwritten)
	return how, nil
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}

// putBack hands a capability what it had kept, where it would work now, and keeps what that does to the files.
func (r *Run) putBack(ctx context.Context, w Work, rep Reporter, backup json.RawMessage) ([]string, error) {
	call, runner, err := r.call(ctx, w)
	if err != nil {
		return nil, err
	}
	k, ok := runner.(capability.Keeper)
	if !ok {
		return nil, fault.New(fault.Failed, "%s cannot put back what it kept any more", w.Spec.Uses)
	}
	ws, err := r.workspace(ctx)
	if err != nil {
		return nil, err
	}
	keep := func() error { return nil }
	if ws != nil {
		place, err := ws.Enter(ctx, w.Task, true)
		if err != nil {
			return nil, err
		}
		defer place.Leave()
		call.Dir = r.inside(place, call.Dir)
		keep = func() error {
			_, err := place.Keep(context.WithoutCancel(ctx), r.goingBack(w))
			return err
		}
	}
	// The files may have brought it back already: an SQLite database is one of them.
	call.Host = &host{run: r, work: w, rep: refuseReports{}}
	if now, err := k.Backup(ctx, call); err == nil && alike(now, backup) {
		return nil, nil
	}
	call.Host = &host{run: r, work: w, rep: rep}
	if err := k.Restore(ctx, call, backup); err != nil {
		return nil, err
	}
	return []string{"put back what " + w.Spec.Uses + " had kept"}, keep()
}

// goingBack is the message of the commit that puts back what a task did.
func (r *Run) goingBack(w Work) string { return GoingBack + message(r.State.Name, w.Task, w.Spec) }

// alike reports whether two texts are the same JSON.
func alike(a, b json.RawMessage) bool {
	x, err1 := digest.Canonicalize(a)
	y, err2 := digest.Canonicalize(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// dirOf is where a folder of the project is in the last state of the workspace.
func (r *Run) dirOf(ctx context.Context, w Work, dir string) (string, error) {
	ws, err := r.workspace(ctx)
	if err != nil || ws == nil {
		return dir, err
	}
	place, err := ws.Enter(ctx, w.Task, false)
	if err != nil {
		return "", err
	}
	defer place.Leave()
	return r.inside(place, dir), nil
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

// keepsake is what was kept of a task's execution, and of those that stay when it is undone.
type keepsake struct {
	backup json.RawMessage // what its capability kept before its first attempt: a later one found what that one left
	looked bool            // the files were looked at when it ended
	spans  []Span          // what its attempts did to them, one after the other
	left   []string        // what of it was not kept, each with why
	last   journal.Seq     // the record that ended it
	spared []Span          // what others did that ended before it and are not undone
}

// kept finds what was kept of a task.
func (e *Engine) kept(ctx context.Context, name, task string) (keepsake, error) {
	all := map[string]*keepsake{}
	for rec, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return keepsake{}, err
		}
		if rec.Task == "" || !lifecycle.IsFact(rec.Kind) && rec.Kind != lifecycle.TaskReopened {
			continue
		}
		if rec.Kind == lifecycle.TaskReopened {
			delete(all, rec.Task)
			continue
		}
		if rec.Kind != lifecycle.TaskUndone && rec.Kind != lifecycle.TaskSaved && rec.Kind != lifecycle.TaskEnded {
			continue
		}
		f, err := lifecycle.FactOf(rec)
		if err != nil {
			return keepsake{}, err
		}
		if u, ok := f.Body.(*lifecycle.Undone); ok && u.Error == "" {
			delete(all, rec.Task)
			continue
		}
		if all[rec.Task] == nil {
			all[rec.Task] = &keepsake{}
		}
		all[rec.Task].add(f.Body)
		all[rec.Task].last = rec.Seq
	}
	k := all[task]
	if k == nil {
		return keepsake{}, nil
	}
	delete(all, task)
	others := slices.SortedFunc(maps.Values(all), func(a, b *keepsake) int { return cmp.Compare(a.last, b.last) })
	for _, o := range others {
		k.spared = append(k.spared, o.spans...)
	}
	return *k, nil
}

// add takes what a record says was kept.
func (k *keepsake) add(body any) {
	switch b := body.(type) {
	case *lifecycle.Saved:
		if k.backup == nil {
			k.backup = b.Backup
		}
	case *lifecycle.Ended:
		if b.Tree == nil {
			return
		}
		k.looked = true
		k.left = append(k.left, b.Tree.Left...)
		if b.Tree.Before != b.Tree.After {
			k.spans = append(k.spans, Span{b.Tree.Before, b.Tree.After})
		}
	}
}
