package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Applied is how the result of a plan came home.
type Applied struct {
	Way    string   `json:"way"`    // one of the constants below
	Commit string   `json:"commit"` // what the user's HEAD is at now; empty when nothing is committed there
	Files  []string `json:"files"`  // the files of the user's work tree that changed
}

// The ways in which a result comes home.
const (
	Nothing     = "nothing"      // it is there already
	FastForward = "fast-forward" // the user's branch was moved to the plan's
	Detached    = "detached"     // HEAD was moved to it, and is on no branch
	Merge       = "merge"        // the user's branch got a merge commit
	Files       = "files"        // only files changed, and none is committed
)

// Apply brings the result of the plan into the user's work tree. Where the plan began from a commit, the user's branch is
// moved to its branch, or merges it. Where it began with files that were not committed, those are the user's to commit:
// the result is joined with the files as they are now, and nothing is committed. If that meets what the user has done
// meanwhile it is refused, with the names of the files, and all is left as it was.
func (b *Branch) Apply(ctx context.Context) (Applied, error) {
	wait, done := b.queue()
	defer done()
	if err := wait(ctx); err != nil {
		return Applied{}, err
	}
	if err := b.atRest(ctx); err != nil {
		return Applied{}, err
	}
	now, err := b.present(ctx, "apply.index")
	if err != nil {
		return Applied{}, err
	}
	tip := b.current()
	if b.start.Base == b.start.Head {
		return b.applyCommits(ctx, now, tip)
	}
	return b.applyFiles(ctx, now, tip)
}

// underWay are the files by which git knows what the user has begun, and its name.
var underWay = [][2]string{{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
	{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}}

// atRest refuses to begin while another git changes the user's index, or the user is in the middle of something: what
// they have come to so far is nowhere but in their files and their index.
func (b *Branch) atRest(ctx context.Context) error {
	lock, err := b.user.path(ctx, "index.lock")
	if err != nil {
		return err
	}
	if _, err := os.Lstat(lock); err == nil {
		return fault.New(fault.Conflict, "another git has locked the index of the repository").
			Remedy("wait until it has finished; if no git is running, remove %s", lock)
	}
	for _, u := range underWay {
		file, err := b.user.path(ctx, u[0])
		if err != nil {
			return err
		}
		if _, err := os.Lstat(file); err == nil {
			return fault.New(fault.Conflict, "you are in the middle of a %s", u[1]).
				Remedy("finish it, or give it up with `git %s --abort`, then run `cairn apply %s` again; nothing was changed", u[1], b.plan)
		}
	}
	return nil
}

// applyCommits lets git move or merge the user's branch, once it is sure to succeed.
func (b *Branch) applyCommits(ctx context.Context, now staged, tip known) (Applied, error) {
	if _, err := b.git.line(ctx, "merge-base", "--is-ancestor", tip.commit, now.head); err == nil {
		return Applied{Way: Nothing, Commit: now.head}, nil
	}
	way := Merge
	var result string
	if _, err := b.git.line(ctx, "merge-base", "--is-ancestor", now.head, tip.commit); err == nil {
		way, result = FastForward, tip.tree
	} else if result, err = merged(ctx, b.git, now.head, tip.commit); err != nil {
		return Applied{}, b.meets(err)
	}
	files, err := b.git.differing(ctx, now.head+"^{tree}", result)
	if err != nil {
		return Applied{}, err
	}
	if way, err = b.onBranch(ctx, way); err != nil {
		return Applied{}, err
	}
	if err := b.unstaged(ctx, way); err != nil {
		return Applied{}, err
	}
	if both := slices.DeleteFunc(slices.Clone(now.files), func(f string) bool { return !slices.Contains(files, f) }); len(both) > 0 {
		return Applied{}, fault.New(fault.Conflict, "the result changes files that you have changed and not committed: %s", named(both)).
			Remedy("commit or stash them, then run `cairn apply %s` again; nothing was changed", b.plan)
	}
	if err := b.freeOf(ctx, now.head+"^{tree}", result, files); err != nil {
		return Applied{}, err
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	if _, err := b.user.as(b.who).run(ctx, nil, "merge", "-q", "--no-edit", "--no-verify", "--no-autostash", "-m", "Merge branch 'plan/"+b.plan+"'", tip.commit); err != nil {
		return Applied{}, b.refusedMerge(ctx, err)
	}
	head, err := b.user.line(ctx, "rev-parse", "HEAD")
	return Applied{Way: way, Commit: head, Files: files}, err
}

// onBranch refuses a merge where HEAD is on no branch: the merge would be on none either, and soon out of sight.
func (b *Branch) onBranch(ctx context.Context, way string) (string, error) {
	_, err := b.user.line(ctx, "symbolic-ref", "-q", "HEAD")
	switch {
	case err == nil || !failedWith(err, 1):
		return way, err
	case way == Merge:
		return "", fault.New(fault.Conflict, "HEAD is detached, and the result has to be merged: the merge would be on no branch").
			Remedy("make a branch with `git switch -c NAME`, then run `cairn apply %s` again; nothing was changed", b.plan)
	}
	return Detached, nil
}

// unstaged refuses a merge while the user has files staged for a commit of their own, which git would refuse half way.
func (b *Branch) unstaged(ctx context.Context, way string) error {
	out, err := b.user.run(ctx, nil, "diff-index", "--cached", "--name-only", "-z", "HEAD")
	if files := list(out); err == nil && way == Merge && len(files) > 0 {
		return fault.New(fault.Conflict, "you have staged changes, and the result has to be merged: %s", named(files)).
			Remedy("commit or stash them, then run `cairn apply %s` again; nothing was changed", b.plan)
	}
	return err
}

// freeOf refuses when an ignored file of the user is where the result has a new one: git would overwrite it.
func (b *Branch) freeOf(ctx context.Context, from, to string, files []string) error {
	added, err := b.git.added(ctx, from, to)
	if err != nil {
		return err
	}
	var blocking []string
	for _, name := range added {
		found, err := inTheWay(b.user.dir, name)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "look at %s", name).Remedy("make it readable for you")
		}
		for _, f := range found {
			if f == name || !slices.Contains(files, f) {
				blocking = append(blocking, f)
			}
		}
	}
	if len(blocking) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "ignored files are where the result has files: %s", named(sortedUnion(blocking, nil))).
		Remedy("move them away, then run `cairn apply %s` again; nothing was changed", b.plan)
}

// refusedMerge undoes what git may have begun, and says why it stopped.
func (b *Branch) refusedMerge(ctx context.Context, err error) error {
	if lock, pathErr := b.user.path(ctx, "MERGE_HEAD"); pathErr == nil {
		if _, statErr := os.Lstat(lock); statErr == nil {
			_, _ = b.user.run(ctx, nil, "merge", "--abort")
		}
	}
	if known := (*fault.Error)(nil); errors.As(err, &known) && known.Code != fault.Internal {
		return err
	}
	return fault.Wrap(fault.Conflict, err, "git did not merge plan/%s", b.plan).
		Remedy("commit, stash or move what it names, then run `cairn apply %s` again; nothing was changed", b.plan)
}

func (b *Branch) meets(err error) error {
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	_, files, _ := strings.Cut(err.Error(), " meet in ")
	return fault.New(fault.Conflict, "the result of the plan and what you did meanwhile meet in %s", files).
		Remedy("merge by hand with `git merge plan/%s`, or undo your change to these files and run `cairn apply %s` again; nothing was changed", b.plan, b.plan)
}

// applyFiles joins the result with the user's files, which are in no commit. The user's index stays as it is.
func (b *Branch) applyFiles(ctx context.Context, now staged, tip known) (Applied, error) {
	tree, parents := now.tree, []string{b.start.Base}
	if tree == "" {
		var err error
		if tree, err = b.git.treeOf(ctx, now.head); err != nil {
			return Applied{}, err
		}
	}
	if now.head != "" && now.head != b.start.Head {
		parents = append(parents, now.head) // for git to see what has come home already
	}
	ours, err := b.record.commit(ctx, tree, "chore(plan): the files before the result of plan "+b.plan, parents...)
	if err != nil {
		return Applied{}, err
	}
	result, err := merged(ctx, b.git, ours, tip.commit)
	if err != nil {
		return Applied{}, b.meets(err)
	}
	files, err := b.git.differing(ctx, tree, result)
	if err != nil {
		return Applied{}, err
	}
	if len(files) == 0 {
		return Applied{Way: Nothing, Commit: now.head}, nil
	}
	if err := b.freeOf(ctx, tree, result, files); err != nil {
		return Applied{}, err
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	own := b.user.with("GIT_INDEX_FILE=" + filepath.Join(b.folder, "apply.index"))
	if _, err := own.run(ctx, nil, "read-tree", "-m", "-u", tree, result); err != nil {
		return Applied{}, b.refusedMerge(ctx, err)
	}
	return Applied{Way: Files, Commit: now.head, Files: files}, nil
}
