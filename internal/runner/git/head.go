package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// head is where a work tree stands.
type head struct {
	commit string // empty before the first
	branch string // empty when detached
}

func (r repo) head(ctx context.Context) (head, error) {
	var h head
	a, err := r.run(ctx, "", "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return h, err
	}
	h.branch = strings.TrimSpace(string(a.out))
	a, err = r.run(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return h, err
	}
	h.commit = strings.TrimSpace(string(a.out))
	return h, nil
}

// born is a head that has a commit.
func (r repo) born(ctx context.Context, to string) (head, error) {
	h, err := r.head(ctx)
	if err == nil && h.commit == "" {
		return h, fault.New(fault.Failed, "the repository has no commit yet, so there is nothing to %s", to).
			Remedy("make one first: git commit --allow-empty -m start, or the task git.commit")
	}
	return h, err
}

// attached is a head that is on a branch.
func (r repo) attached(ctx context.Context, to string) (head, error) {
	h, err := r.head(ctx)
	if err == nil && h.branch == "" {
		return h, fault.New(fault.Conflict, "the head is detached at %.12s, so there is no branch to %s", h.commit, to).
			Remedy("make one with the task git.branch and switch: true, or: git switch -c NAME")
	}
	return h, err
}

// commit finds the commit that a person's words mean.
func (r repo) commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", fault.New(fault.Invalid, "%q is no revision", rev).Remedy("name a branch, a tag or a commit")
	}
	a, err := r.run(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return "", err
	}
	if a.exit != 0 {
		return "", fault.New(fault.NotFound, "there is no commit %s in this repository", rev).
			Remedy("name a branch, a tag or a commit that is here; a shallow clone lacks the older ones: git fetch --unshallow")
	}
	return strings.TrimSpace(string(a.out)), nil
}

// underway are the files by which git remembers what it is in the middle of.
var underway = map[string]string{
	"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "rebase-merge": "rebase", "rebase-apply": "rebase",
}

// settled refuses a repository in the middle of something: a commit there would be taken for its end.
func (r repo) settled(ctx context.Context) error {
	out, err := r.ask(ctx, "diff", "--name-only", "--diff-filter=U", "-z")
	if err != nil {
		return err
	}
	if files := split(out); len(files) > 0 {
		return fault.New(fault.Conflict, "there are conflicts in %s", several(files)).
			Remedy("resolve them and git add the files, or call it off: git merge --abort")
	}
	for file, what := range underway {
		if _, err := os.Lstat(filepath.Join(r.git, file)); err == nil {
			return fault.New(fault.Conflict, "a %s is under way in this repository", what).
				Remedy("finish it with git %[1]s --continue, or call it off with git %[1]s --abort", what)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Failed, err, "cannot look into %s", r.git)
		}
	}
	return nil
}

// local checks paths as a call has them, relative to the task's directory.
func local(paths []string) error {
	for _, p := range paths {
		if p == "" || strings.ContainsRune(p, 0) || !filepath.IsLocal(filepath.FromSlash(p)) {
			return fault.New(fault.Invalid, "%q is no path inside the task's directory", p).
				Remedy("give a path from there, without a leading / and without ..")
		}
	}
	return nil
}

// split takes apart what git ends with NUL.
func split(out string) []string {
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
}

// several names a few of many.
func several(names []string) string {
	const few = 5
	if len(names) > few {
		return strings.Join(names[:few], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// nobody is the host of a call that has none, as a preview may.
type nobody struct{}

func (nobody) Spawned(capability.Process) error { return nil }
func (nobody) Beat()                            {}
func (nobody) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	return capability.Ref{}, fault.New(fault.Internal, "there is no host to keep anything")
}
