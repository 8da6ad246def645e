package workspace

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// branchPlace is a tree of the pool as one task sees it.
type branchPlace struct {
	branch *Branch
	tree   *tree
	writes bool
	left   bool // it has left; guarded by branch.mu
}

// Dir is the project root in the tree.
func (p *branchPlace) Dir() string { return p.branch.inTree(p.tree.dir) }

// Leave gives the tree back to the pool.
func (p *branchPlace) Leave() {
	p.branch.mu.Lock()
	defer p.branch.mu.Unlock()
	if p.left {
		return
	}
	p.left = true
	if p.writes {
		p.tree.writer = false
	} else {
		p.tree.readers--
	}
	p.branch.pool.turnOver()
}

// Keep joins what the task left behind into the branch, in the order in which Keep was called. It reaches from the
// state that the branch was in to the next, so it shows what this task did and nothing else. A conflict leaves the
// branch as it is.
func (p *branchPlace) Keep(ctx context.Context, message string) (engine.Change, error) {
	if !p.writes {
		return engine.Change{Before: p.tree.at.commit, After: p.tree.at.commit}, nil
	}
	b, t := p.branch, p.tree
	wait, done := b.queue()
	defer done()
	if err := t.detach(ctx, t.at.commit); err != nil {
		return engine.Change{}, missing(t.dir, err)
	}
	st, err := stage(ctx, t.git, t.dir, t.sieve)
	if err != nil {
		return engine.Change{}, err
	}
	st.left = append(st.left, t.unkeptModules(ctx)...)
	if st.tree == "" || st.tree == t.at.tree {
		t.dirty = len(st.left) > 0
		return engine.Change{Before: t.at.commit, After: t.at.commit, Left: st.left}, nil
	}
	if err := wait(ctx); err != nil {
		return engine.Change{}, err
	}
	change, err := b.join(ctx, t, st, message)
	if err == nil {
		t.dirty = len(st.left) > 0
	}
	return change, err
}

// join puts a tree's state on top of the branch. The caller has the turn.
func (b *Branch) join(ctx context.Context, t *tree, st staged, message string) (engine.Change, error) {
	mine := ""
	for attempt := 0; ; attempt++ {
		tip := b.current()
		change := engine.Change{Before: tip.commit, Files: len(st.files), Left: st.left}
		result := st.tree
		if tip.commit != t.at.commit {
			var err error
			if mine == "" {
				if mine, err = b.record.commit(ctx, st.tree, message, t.at.commit); err != nil {
					return engine.Change{}, err
				}
			}
			if result, err = merged(ctx, b.git, tip.commit, mine); err != nil {
				return engine.Change{}, err
			}
			change.Merged = true
		}
		if result == tip.tree {
			change.After = tip.commit
			return change, nil // others did the same meanwhile
		}
		after, err := b.advance(ctx, tip, result, message)
		if err != nil {
			if attempt < 3 && b.reread(ctx) {
				continue
			}
			return engine.Change{}, err
		}
		change.After = after
		t.at = known{after, st.tree}
		if change.Merged {
			t.at.commit = mine // its files are those of mine until the tree is taken again
		}
		return change, nil
	}
}

// merged is the tree of a three-way merge, or the refusal that names the files in which the two sides meet.
func merged(ctx context.Context, g git, ours, theirs string) (string, error) {
	tree, met, err := mergeTree(ctx, g, ours, theirs)
	if err != nil || len(met) == 0 {
		return tree, err
	}
	return "", fault.New(fault.Conflict, "what this task did and what others did meanwhile meet in %s", named(met)).
		Remedy("let the one task need the other, or give both the same entry in `locks`, then try again")
}

// mergeTree merges two commits without a work tree. Files in which they meet are named; the tree has both sides of them.
func mergeTree(ctx context.Context, g git, ours, theirs string, settings ...string) (tree string, met []string, err error) {
	out, err := g.run(ctx, nil, append(settings, "merge-tree", "--write-tree", "--allow-unrelated-histories", "--no-messages", "--name-only", "-z", ours, theirs)...)
	parts := list(out)
	switch {
	case failedWith(err, 129):
		return "", nil, tooOld()
	case err != nil && !failedWith(err, 1):
		return "", nil, err
	case len(parts) == 0:
		return "", nil, fault.New(fault.Internal, "git merge-tree printed nothing")
	case err == nil:
		return parts[0], nil, nil
	}
	return parts[0], sortedUnion(parts[1:], nil), nil
}

func tooOld() error {
	return fault.New(fault.Invalid, "this git is too old to join the work of several tasks").Remedy("install git 2.38 or newer")
}

// advance puts a commit on top of the branch.
func (b *Branch) advance(ctx context.Context, tip known, tree, message string) (string, error) {
	after, err := b.record.commit(ctx, tree, message, tip.commit)
	if err != nil {
		return "", err
	}
	if err := b.record.move(ctx, b.ref, after, tip.commit); err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tip = known{after, tree}
	return after, writeFile(b.tipFile(), after+"\n")
}

// tipFile tells where the branch was, should somebody remove it.
func (b *Branch) tipFile() string { return filepath.Join(b.folder, "tip") }

// reread finds out whether somebody else moved the branch: a commit made by hand is built upon, not lost.
func (b *Branch) reread(ctx context.Context) bool {
	tip, err := b.git.line(ctx, "rev-parse", "-q", "--verify", b.ref+"^{commit}")
	if err != nil || tip == b.current().commit {
		return false
	}
	tree, err := b.git.treeOf(ctx, tip)
	if err != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tip = known{tip, tree}
	return true
}

func (b *Branch) current() known {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tip
}

// inTree is the project root in a tree of the repository.
func (b *Branch) inTree(dir string) string {
	return strings.TrimSuffix(dir+"/"+b.prefix, "/")
}

// queue gives the caller a place in the order of those who change the branch: wait returns when it is their turn, done
// gives the turn on, whether it was waited for or not.
func (b *Branch) queue() (wait func(context.Context) error, done func()) {
	mine := make(chan struct{})
	b.mu.Lock()
	before := b.last
	b.last = mine
	b.mu.Unlock()
	wait = func(ctx context.Context) error {
		select {
		case <-before:
			return nil
		case <-ctx.Done():
			return fault.Wrap(fault.Interrupted, ctx.Err(), "stopped before the files were kept")
		}
	}
	return wait, func() {
		select {
		case <-before:
			close(mine)
		default:
			go func() {
				<-before
				close(mine)
			}()
		}
	}
}
