// Package workspace keeps every state of a plan's files as a commit, made by the git program.
//
// There are two kinds. Here works in the project root itself and keeps its states in a shadow repository in the home:
// the user's own repository, if there is one, is not touched. All tasks share the one folder, so those that end while a
// commit is being made share the next one. Branch gives every writing task a work tree of its own, taken from a pool,
// and joins what it left behind into the branch plan/<id>, one commit a task, in the order in which the tasks ended.
//
// A state is the name of a commit. States form one line: going back to an earlier state is a new commit on top, so
// nothing that was kept is lost by it. The home owns the shadow repository, the pooled trees and their locks; the branch
// and the objects of Branch live in the user's repository, as those of any work tree do.
//
// What is kept is decided before git sees it: a changed file that holds a known secret, is too large or cannot be read
// is left out of the commit, and the change says so. A crash leaves at most a lock file or a half written tree, which
// the next Open removes: whoever holds the lock of the operating system knows that no other git of ours is at work.
// States are as durable as commits are by git's defaults: a power failure may take the last ones, as it may the files.
package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

var (
	_ engine.Workspace = (*Here)(nil)
	_ engine.Workspace = (*Branch)(nil)
)

// Options say what is kept. The zero value keeps all but large files.
type Options struct {
	// Holds names the known secrets that are in content; a file that holds one is never kept. Nil: nothing is secret.
	Holds func(content []byte) []string
	// Limit is the size in bytes above which a file is not kept; 0 means DefaultLimit.
	Limit int64
	// Git is the git program; empty means the one in PATH.
	Git string
}

// DefaultLimit is the size of the largest file that is kept.
const DefaultLimit = 100 << 20

func (o Options) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

// places resolves root and home, so that paths which git prints can be compared with them.
func places(root, home string) (realRoot, realHome string, err error) {
	realRoot, err = filepath.Abs(root)
	if err == nil {
		realRoot, err = filepath.EvalSymlinks(realRoot)
	}
	if info, statErr := os.Stat(root); err != nil || statErr != nil || !info.IsDir() {
		return "", "", fault.New(fault.NotFound, "the project root %s is not a folder", root).
			Remedy("name an existing folder")
	}
	folder := filepath.Join(home, "workspaces")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", fault.Wrap(fault.Invalid, err, "the home %s cannot be written", home).
			Remedy("make it writable for you, or name another home with --home or CAIRN_HOME")
	}
	realHome, err = filepath.Abs(home)
	if err == nil {
		realHome, err = filepath.EvalSymlinks(realHome)
	}
	if err != nil {
		return "", "", fault.Wrap(fault.Internal, err, "find the home %s", home)
	}
	if rel, inside := within(realHome, realRoot); inside {
		return "", "", fault.New(fault.Invalid, "the project root %s is inside the home %s (%s)", root, home, rel).
			Remedy("work in a folder outside the home")
	}
	return realRoot, realHome, nil
}

// within gives path relative to folder, with slashes, if it is folder or inside it.
func within(folder, path string) (string, bool) {
	rel, err := filepath.Rel(folder, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// inRoot refuses a name that does not stay inside the root.
func inRoot(name string) error {
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fault.New(fault.Denied, "the path %q is outside the project root", name).
			Remedy("name a file by its path from the project root")
	}
	return nil
}

// checkState refuses what cannot be the name of a commit, which git might take for an option or a revision.
func checkState(state string) error {
	ok := len(state) == 40 || len(state) == 64
	if !ok || strings.Trim(state, "0123456789abcdef") != "" {
		return fault.New(fault.NotFound, "%q is no state of this workspace", state).
			Remedy("name a commit that a task of the plan left behind: `cairn log PLAN` lists them")
	}
	return nil
}

// exists refuses a commit that the repository does not have.
func (g git) exists(ctx context.Context, state string) error {
	if err := checkState(state); err != nil {
		return err
	}
	if _, err := g.line(ctx, "rev-parse", "-q", "--verify", state+"^{commit}"); err != nil {
		if failedWith(err, 1) || failedWith(err, 128) {
			return fault.New(fault.NotFound, "the workspace has no state %s", state).
				Remedy("name a commit that a task of the plan left behind: `cairn log PLAN` lists them")
		}
		return err
	}
	return nil
}
