package engine

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Workspace is where the files of a plan change. An implementation keeps every state that a task left behind as a
// commit of a git repository, so that checkpoints, diffs and rollback have a tree to point to.
type Workspace interface {
	// Enter gives a task a folder to work in. Tasks that do not write may share one.
	Enter(ctx context.Context, task string, writes bool) (Place, error)
	// Diff shows what changed between two kept states, as a unified diff.
	Diff(ctx context.Context, from, to string) ([]byte, error)
	// Revert takes back what a task did to the files, and nothing else: what was changed since stays. Where the two meet
	// it is refused, with the names of the files, and all is left as it is. Doing it again after it was interrupted
	// finishes it; doing it twice changes nothing.
	Revert(ctx context.Context, back Back) (Reverted, error)
}

// Span is what happened from one kept state to a later one.
type Span struct{ Before, After string }

// GoingBack begins the message of a commit that puts something back.
const GoingBack = "revert(plan): "

// Back is what shall be taken back.
type Back struct {
	Spans   []Span // of the task, one an attempt, in order
	Spared  []Span // of tasks that stay, in the order in which they ended: what they may have done too is left to them
	Message string // of the commit; it begins with GoingBack
	Force   bool   // overwrite what was changed since
}

// Reverted is what became of the files.
type Reverted struct {
	Files       []string // those that changed
	Joined      []string // those of them in which later changes stay
	Spared      []string // those that are left, because a task that stays may have changed them
	Overwritten []string // those that had been changed since; refused, unless it was forced
	Recall      string   // the command that shows what an overwritten FILE was
}

// Place is the folder of one attempt.
type Place interface {
	Dir() string
	// Keep keeps the state that the task left behind. In a shared folder several tasks may share one state.
	Keep(ctx context.Context, message string) (Change, error)
	// Leave gives the folder back. What was not kept is lost where the folder was the task's own.
	Leave()
}

// Change is what a task did to the files.
type Change struct {
	Before string   `json:"before"`           // the state it found
	After  string   `json:"after"`            // the state it left; equal when it changed nothing
	Files  int      `json:"files"`            // how many changed
	Left   []string `json:"left,omitempty"`   // files that were not kept, each with why
	Merged bool     `json:"merged,omitempty"` // it was joined with what others did meanwhile
}

// space opens a run's workspace when the first task needs it.
type space struct {
	once  sync.Once
	ws    Workspace
	err   error
	force bool // a rollback overwrites what was changed since
}

// workspace is the plan's, or nil where the engine has none.
func (r *Run) workspace(ctx context.Context) (Workspace, error) {
	if r.engine.Workspace == nil {
		return nil, nil
	}
	r.space.once.Do(func() {
		r.space.ws, r.space.err = r.engine.Workspace(context.WithoutCancel(ctx), r.State.Name, kindOf(r.State.Plan))
	})
	return r.space.ws, r.space.err
}

// kindOf is the workspace that a plan asks for.
func kindOf(p *plan.Plan) string {
	if p.Policy != nil && p.Policy.Workspace != "" {
		return p.Policy.Workspace
	}
	return "here"
}

// inPlace runs a capability in its place of the workspace and keeps what it leaves there. Two tasks that changed the same
// lines cannot be joined; then the later one is done again, once, on top of the other.
func (r *Run) inPlace(ctx context.Context, w Work, runner capability.Runner, call capability.Call, e *lifecycle.Ended) (capability.Result, error) {
	contract, _, _ := r.engine.Capabilities.Lookup(w.Spec.Uses)
	writes := contract.Needs.Write && (w.Spec.Writes == nil || *w.Spec.Writes)
	ws, err := r.workspace(ctx)
	if err != nil {
		return capability.Result{}, err
	}
	if ws == nil || !writes && contract.Repeat == capability.Pure {
		return act(ctx, runner, call)
	}
	for again := false; ; again = true {
		res, err := r.once(ctx, w, stay{ws, writes, runner, call}, e)
		if again || !fault.Is(err, fault.Conflict) || r.Class(w.Effect, call, runner) == capability.Once {
			return res, err
		}
	}
}

// act keeps what a call is about to change, where its capability can, and carries it out.
func act(ctx context.Context, runner capability.Runner, call capability.Call) (capability.Result, error) {
	if h, ok := call.Host.(*host); ok {
		if err := h.save(ctx, runner, call); err != nil {
			return capability.Result{}, err
		}
	}
	return runner.Run(ctx, call)
}

// stay is one call in one workspace.
type stay struct {
	ws     Workspace
	writes bool
	runner capability.Runner
	call   capability.Call
}

func (r *Run) once(ctx context.Context, w Work, s stay, e *lifecycle.Ended) (capability.Result, error) {
	place, err := s.ws.Enter(ctx, w.Task, s.writes)
	if err != nil {
		return capability.Result{}, err
	}
	s.call.Limits.Root = place.Dir()
	defer place.Leave()
	s.call.Dir = r.inside(place, s.call.Dir)
	res, err := act(ctx, s.runner, s.call)
	if !s.writes {
		return res, err
	}
	// What a failed attempt left in a shared folder is there all the same: kept, it does not show as the next one's.
	if shared := place.Dir() == r.engine.Root; err != nil && !shared {
		return res, err
	}
	change, kerr := place.Keep(context.WithoutCancel(ctx), message(r.State.Name, w.Task, w.Spec))
	if kerr == nil && change.Before != "" {
		e.Tree = &lifecycle.Tree{Before: change.Before, After: change.After, Files: change.Files, Left: change.Left, Merged: change.Merged}
	}
	if err == nil {
		err = kerr
	}
	return res, err
}

// inside is where a folder of the project is in a place.
func (r *Run) inside(place Place, dir string) string {
	if rel, err := filepath.Rel(r.engine.Root, dir); err == nil {
		return filepath.Join(place.Dir(), rel)
	}
	return dir
}

// message is the commit message of a task: its sort, its title, and where it comes from.
func message(name, id string, t *plan.Task) string {
	title := t.Title
	if title == "" {
		title = id
	}
	return sortOf(t.Kind) + "(plan): " + title + "\n\nPlan: " + name + "\nTask: " + id + "\n"
}

func sortOf(k plan.Kind) string {
	switch k {
	case plan.Implement, plan.Design, plan.Synthesize:
		return "feat"
	case plan.Debug:
		return "fix"
	case plan.Refactor:
		return "refactor"
	case plan.Document:
		return "docs"
	case plan.Validate:
		return "test"
	}
	return "chore"
}
