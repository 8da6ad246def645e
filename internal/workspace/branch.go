package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Branch keeps the work of one plan on the branch plan/<id> of the user's repository. The user's own branch, index and
// files are read once, to begin with, and touched by Apply alone. While it is open its trees stand beside the branch, so
// that nobody's commit can undo what another tree has just added; Close leaves the first tree on the branch.
type Branch struct {
	plan   string
	ref    string // refs/heads/plan/<id>
	root   string // the user's project root
	prefix string // where the root is in the repository, with a slash at the end; empty at the top
	home   string
	folder string // of this plan in the home
	common string // the git dir that all trees share
	git    git    // on the repository, without a work tree
	user   git    // on the user's own work tree
	sieve  *sieve // for the user's own files
	who    identity
	opts   Options
	lock   *os.File
	record *recorder
	start  start

	adding sync.Mutex // held while git makes a work tree

	mu     sync.Mutex
	tip    known
	trees  []*tree
	pool   pool
	last   chan struct{} // closed when the last Keep that came has had its turn
	closed bool
}

// start is what the plan began from, kept in the home.
type start struct {
	Plan string   `json:"plan"`
	Head string   `json:"head"`           // the user's commit; empty when there was none
	Base string   `json:"base"`           // with the files that were not committed
	Left []string `json:"left,omitempty"` // files that were not taken along, each with why
}

// branchSettings go before what the user has set: filters, line ends and the name of the author stay theirs.
var branchSettings = []string{
	"core.hooksPath", os.DevNull, "core.fsmonitor", "false", "core.untrackedCache", "false", "core.preloadIndex", "false", "index.threads", "1",
	"core.longpaths", "true", "core.splitIndex", "true", "status.showUntrackedFiles", "all", "core.safecrlf", "false",
	"submodule.recurse", "false", "index.version", "4", "commit.gpgSign", "false", "gc.auto", "0", "maintenance.auto", "false",
}

// OpenBranch opens the plan's branch and its trees, and makes them where there are none: from HEAD, with the files that
// are neither committed nor ignored.
func OpenBranch(ctx context.Context, root, home, plan string, opts Options) (*Branch, error) {
	root, home, err := places(root, home)
	if err != nil {
		return nil, err
	}
	plain, err := findGit(opts)
	if err != nil {
		return nil, err
	}
	b := &Branch{plan: plan, ref: "refs/heads/plan/" + plan, root: root, home: home, opts: opts,
		folder: filepath.Join(home, "workspaces", "plan-"+strings.ReplaceAll(plan, "/", "+")), last: make(chan struct{}), pool: newPool()}
	close(b.last)
	if err := b.locate(ctx, plain); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "make %s", b.folder).Remedy("make the home writable for you")
	}
	if err := b.claim(ctx); err != nil {
		return nil, err
	}
	if err := b.open(ctx); err != nil {
		b.record.close()
		b.lock.Close()
		return nil, err
	}
	sweepTrials(home)
	return b, nil
}

// locate finds the user's repository, and how git is called in it.
func (b *Branch) locate(ctx context.Context, plain git) error {
	plain = plain.configured(wholeIndex(branchSettings)...)
	plain.dir = b.root
	if _, err := plain.line(ctx, "check-ref-format", b.ref); err != nil {
		return fault.New(fault.Invalid, "a branch cannot be called plan/%s", b.plan).
			Remedy("name the plan with letters, digits and dashes")
	}
	out, err := plain.line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-dir")
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s is not in a git repository, which a workspace `branch` needs", b.root).
			Remedy("run `git init` there, or say `workspace: here` in the plan's policy")
	}
	at := strings.Split(out, "\n")
	rel, inside := within(at[0], b.root)
	if len(at) != 3 || !inside {
		return fault.New(fault.Invalid, "%s is no work tree of a git repository", b.root).
			Remedy("say `workspace: here` in the plan's policy")
	}
	if rel != "." {
		b.prefix = rel + "/"
	}
	if _, err := plain.line(ctx, "merge-tree", "--write-tree", emptyTree, emptyTree); failedWith(err, 129) {
		return tooOld()
	}
	b.who = plain.author(ctx)
	plain = plain.with("GIT_LITERAL_PATHSPECS=1")
	b.common = at[1]
	b.user = plain.on(at[2], at[0], filepath.Join(at[2], "index"))
	b.git = plain.with("GIT_DIR=" + b.common)
	b.git.dir = b.folder
	var hidden []string
	if rel, inside := within(at[0], b.home); inside {
		hidden = append(hidden, rel)
	}
	b.sieve = newSieve(b.opts, false, hidden...)
	return nil
}

// emptyTree is the name of the tree without files, which every git knows.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// claim makes this process the only one that moves the branch.
func (b *Branch) claim(ctx context.Context) (err error) {
	if b.lock, err = openLock(filepath.Join(b.folder, "lock")); err != nil {
		return err
	}
	// A git of a process that died may still be at work, and holds the lock until it has finished.
	wait, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	if err := waitLock(wait, b.lock); err != nil {
		b.lock.Close()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return fault.New(fault.Conflict, "another process works on the branch plan/%s", b.plan).
				Remedy("wait until it has finished, or end it")
		}
		return err
	}
	b.git.lock = b.lock
	b.record = newRecorder(b.git, b.who, filepath.Join(b.folder, "commit"))
	_ = os.Remove(filepath.Join(b.common, filepath.FromSlash(b.ref)+".lock"))
	return nil
}

// open finds where the plan stands, or begins it.
func (b *Branch) open(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(b.folder, "start.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := b.begin(ctx); err != nil {
			return err
		}
	case err == nil && json.Unmarshal(text, &b.start) != nil || err != nil:
		return fault.New(fault.Tampered, "%s cannot be read", filepath.Join(b.folder, "start.json")).
			Remedy("put it back from a copy of the home, or remove the folder to begin from HEAD again")
	}
	tip, err := b.git.line(ctx, "rev-parse", "-q", "--verify", b.ref+"^{commit}")
	if err != nil {
		if tip, err = b.lost(ctx); err != nil {
			return err
		}
	}
	tree, err := b.git.treeOf(ctx, tip)
	if err != nil {
		return err
	}
	b.tip = known{tip, tree}
	return b.findTrees()
}

// lost makes the branch again after its start was recorded: the process died in between, or somebody removed the branch.
func (b *Branch) lost(ctx context.Context) (string, error) {
	tip := b.start.Base
	if last := strings.TrimSpace(readText(b.tipFile())); last != "" {
		tip = last
	}
	if err := b.record.move(ctx, b.ref, tip, ""); err != nil {
		return "", fault.Wrap(fault.Conflict, err, "the branch plan/%s is gone and cannot be made again", b.plan).
			Remedy("if there is a branch `plan`, rename it (`git branch -m plan old-plan`); then try again")
	}
	return tip, nil
}

// Name is the name of the branch, for a pull request.
func (b *Branch) Name() string { return "plan/" + b.plan }

// Base is the commit that the plan began from.
func (b *Branch) Base() string { return b.start.Base }

// Left names the user's files that were not taken along, each with why.
func (b *Branch) Left() []string { return b.start.Left }

// Head is the last kept state: the tip of the branch.
func (b *Branch) Head() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tip.commit
}

// Diff shows what changed between two states.
func (b *Branch) Diff(ctx context.Context, from, to string) ([]byte, error) {
	return b.git.diff(ctx, from, to)
}

// Show gives the content that a file had in a state; its name is relative to the project root.
func (b *Branch) Show(ctx context.Context, state, name string) ([]byte, error) {
	if err := inRoot(name); err != nil {
		return nil, err
	}
	return b.git.show(ctx, state, b.prefix+name)
}

// Revert puts a state on top of the branch in which what a task did is taken back. Tasks that are at work are joined with
// it when they end.
func (b *Branch) Revert(ctx context.Context, back engine.Back) (engine.Reverted, error) {
	wait, done := b.queue()
	defer done()
	if err := wait(ctx); err != nil {
		return engine.Reverted{}, err
	}
	tip := b.current()
	tree, out, err := newReverting(b.git, filepath.Join(b.folder, "revert.index"), b.record, back).from(ctx, tip.commit)
	if err != nil || tree == "" || tree == tip.tree {
		return out, err
	}
	if len(out.Overwritten) > 0 {
		out.Recall = "git show " + tip.commit + ":FILE"
	}
	_, err = b.advance(ctx, tip, tree, back.Message)
	return out, err
}

// Try makes a private copy of the present files of the plan.
func (b *Branch) Try(ctx context.Context) (*Trial, error) {
	user := b.user
	user.env, user.dir = outside(b.user.env), b.root
	return trialPlan{git: b.git, user: user, home: b.home, state: b.Head(), opts: b.opts, within: b.prefix}.try(ctx)
}

// Throwaway makes a private copy of the present files of the plan; done removes it.
func (b *Branch) Throwaway(ctx context.Context) (dir string, done func(), err error) {
	t, err := b.Try(ctx)
	if err != nil {
		return "", nil, err
	}
	return t.Dir(), t.Close, nil
}
