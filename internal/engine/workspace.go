package engine

import "context"

// Workspace is where the files of a plan change. An implementation keeps every state that a task left behind as a
// commit of a git repository, so that checkpoints, diffs and rollback have a tree to point to.
type Workspace interface {
	// Enter gives a task a folder to work in. Tasks that do not write may share one.
	Enter(ctx context.Context, task string, writes bool) (Place, error)
	// Diff shows what changed between two kept states, as a unified diff.
	Diff(ctx context.Context, from, to string) ([]byte, error)
	// Restore puts the files back as they were in a kept state, and names those that changed. Doing it again after it was
	// interrupted finishes it; doing it twice changes nothing.
	Restore(ctx context.Context, state string) ([]string, error)
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
