package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// tree is a work tree of the pool. Its fields but at and dirty, which belong to whoever is inside, are guarded by the
// branch's mu.
type tree struct {
	dir     string
	gitDir  string // empty when it has to be made
	git     git
	sieve   *sieve
	modules []*module // as prepare found them
	at      known     // the state that its files were taken from
	dirty   bool      // something may be there that was not kept
	writer  bool
	readers int
}

// findTrees takes up the trees of an earlier process. What is in them was not kept, or it would be on the branch.
func (b *Branch) findTrees() error {
	dirs, err := filepath.Glob(filepath.Join(b.folder, "tree-*"))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "look for the trees of plan %s", b.plan)
	}
	for n := range dirs {
		t := b.newTree(n)
		t.gitDir = adminOf(b.common, t.dir)
		b.trees = append(b.trees, t)
	}
	return nil
}

func (b *Branch) newTree(n int) *tree {
	t := &tree{dir: filepath.Join(b.folder, fmt.Sprintf("tree-%02d", n)), dirty: true}
	t.sieve = newSieve(b.opts, false)
	return t
}

// leftovers are the locks of a git that died, and what a task began with git and did not finish.
var leftovers = []string{"index.lock", "HEAD.lock", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE", "CHERRY_PICK_HEAD",
	"REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer"}

// prepare brings a tree to a state, making or mending it first. The caller is alone in it.
func (b *Branch) prepare(ctx context.Context, t *tree, state known) error {
	if err := b.mend(ctx, t, state.commit); err != nil {
		return err
	}
	for _, stale := range leftovers {
		_ = os.RemoveAll(filepath.Join(t.gitDir, stale)) // nobody else is inside
	}
	if err := t.detach(ctx, state.commit); err != nil {
		return err
	}
	if t.at == state && !t.dirty {
		return nil
	}
	if _, err := t.git.run(ctx, nil, "reset", "-q", "--hard", state.commit); err != nil {
		// The index may have been damaged by a crash. Without one git looks at all files anew.
		_ = os.Remove(filepath.Join(t.gitDir, "index"))
		if _, again := t.git.run(ctx, nil, "reset", "-q", "--hard", state.commit); again != nil {
			return err
		}
	}
	if t.dirty {
		if _, err := t.git.run(ctx, nil, "clean", "-q", "-ffd"); err != nil {
			return err
		}
		clear(t.sieve.left)
	}
	t.at, t.dirty = state, false
	return b.fillModules(ctx, t)
}

// mend makes the tree if it is not there, or was deleted by hand, and forgets what git knew about an earlier one.
func (b *Branch) mend(ctx context.Context, t *tree, state string) error {
	link, err := os.ReadFile(filepath.Join(t.dir, ".git"))
	if t.gitDir == "" {
		t.gitDir = adminOf(b.common, t.dir)
	}
	if err == nil && t.gitDir != "" && isDir(t.gitDir) && strings.TrimSpace(string(link)) == "gitdir: "+t.gitDir {
		t.use(b.git)
		return nil
	}
	if err := removeAll(t.dir); err != nil {
		return fault.Wrap(fault.Invalid, err, "remove what is left of the work tree %s", t.dir).Remedy("remove it by hand, then try again")
	}
	b.adding.Lock() // git stumbles over a work tree that another git is about to make
	_, err = b.git.run(ctx, nil, "worktree", "add", "-q", "-f", "-f", "--detach", "--no-checkout", t.dir, state)
	b.adding.Unlock()
	if err != nil {
		return err
	}
	if t.gitDir = adminOf(b.common, t.dir); t.gitDir == "" {
		return fault.New(fault.Internal, "git made the work tree %s and does not know it", t.dir).Remedy("run `git worktree prune`, then try again")
	}
	t.use(b.git)
	t.at, t.dirty = known{}, true
	return nil
}

func (t *tree) use(g git) {
	t.git = g.on(t.gitDir, t.dir, filepath.Join(t.gitDir, "index")).configured(branchSettings...)
}

// adminOf finds the folder in which git keeps what it knows about the work tree dir.
func adminOf(common, dir string) string {
	files, _ := filepath.Glob(filepath.Join(common, "worktrees", "*", "gitdir"))
	for _, file := range files {
		if filepath.Clean(strings.TrimSpace(readText(file))) == filepath.Join(dir, ".git") {
			return filepath.Dir(file)
		}
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// detach lets HEAD name the state itself. A task may have put it on a branch, which must not move with ours.
func (t *tree) detach(ctx context.Context, state string) error {
	file := filepath.Join(t.gitDir, "HEAD")
	switch now := strings.TrimSpace(readText(file)); {
	case now == state:
		return nil
	case checkState(now) == nil: // it names a commit, and git is not needed to let it name another
		return writeFile(file, state+"\n")
	}
	_, err := t.git.run(ctx, nil, "update-ref", "--no-deref", "HEAD", state)
	return err
}

// Close leaves the first tree on the branch, as it is, for whoever wants to look at it, and lets the plan go.
func (b *Branch) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	last := b.last
	b.mu.Unlock()
	<-last
	defer b.lock.Close()
	defer b.record.close()
	ctx, cancel := finishing(context.Background())
	defer cancel()
	if len(b.trees) == 0 || b.trees[0].writer || b.trees[0].readers > 0 {
		return nil
	}
	if err := b.prepare(ctx, b.trees[0], b.tip); err != nil {
		return err
	}
	_, err := b.trees[0].git.run(ctx, nil, "symbolic-ref", "HEAD", b.ref)
	return err
}

// Remove removes the plan's trees. The branch stays; opening it again begins with fresh trees.
func (b *Branch) Remove(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.trees {
		if t.writer || t.readers > 0 {
			return fault.New(fault.Conflict, "a task works in %s", t.dir).Remedy("wait until it has ended, or cancel it")
		}
	}
	for _, t := range b.trees {
		b.removeModules(ctx, t)
		if err := removeAll(t.dir); err != nil {
			return fault.Wrap(fault.Invalid, err, "remove %s", t.dir).Remedy("remove it by hand")
		}
		if admin := adminOf(b.common, t.dir); admin != "" {
			_ = os.RemoveAll(admin)
		}
	}
	b.trees = nil
	return nil
}
