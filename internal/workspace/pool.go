package workspace

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// pool decides when another tree is worth making. Filling one may take longer than many tasks: so a task waits for a
// tree to become free as long as making one took, and has one made only then. It is guarded by the branch's mu.
type pool struct {
	changed chan struct{} // closed when a tree became free or was made
	making  bool          // git makes one work tree at a time
	cost    time.Duration // of the last one
	since   time.Time     // when the cost became known
}

func newPool() pool { return pool{changed: make(chan struct{})} }

// patience is for repositories in which a tree takes minutes.
const patience = 5 * time.Second

func (p *pool) turnOver() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait is how much longer somebody who came at begun waits before a tree is made.
func (p *pool) wait(begun, now time.Time) time.Duration {
	if p.since.After(begun) {
		begun = p.since
	}
	return max(0, begun.Add(min(p.cost, patience)).Sub(now))
}

// Enter gives a writing task a tree of its own at the tip of the branch. Tasks that do not write share one as long as
// the tip stands still. The first free tree is taken, so tasks that follow each other find what the one before left in
// ignored files.
func (b *Branch) Enter(ctx context.Context, _ string, writes bool) (engine.Place, error) {
	t, tip, err := b.choose(ctx, writes)
	if err != nil {
		return nil, err
	}
	if tip.commit == "" {
		return &branchPlace{branch: b, tree: t}, nil // shared
	}
	begun := time.Now()
	fresh := t.gitDir == ""
	err = b.prepare(ctx, t, tip)
	b.mu.Lock()
	defer b.mu.Unlock()
	if fresh {
		b.pool.making, b.pool.cost, b.pool.since = false, time.Since(begun), time.Now()
	}
	if err != nil {
		t.writer, t.dirty = false, true
		b.pool.turnOver()
		return nil, err
	}
	t.dirty = true // until what the task leaves behind is kept
	if !writes {
		t.writer, t.readers = false, 1
	}
	if fresh || !writes {
		b.pool.turnOver()
	}
	return &branchPlace{branch: b, tree: t, writes: writes}, nil
}

// choose finds a tree and takes it: one that others read, which comes without a tip, or one that is free, to be brought
// to the tip.
func (b *Branch) choose(ctx context.Context, writes bool) (*tree, known, error) {
	for begun := time.Now(); ; {
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			return nil, known{}, errClosed()
		}
		if t, tip := b.pick(writes, b.pool.wait(begun, time.Now()) == 0); t != nil {
			b.mu.Unlock()
			return t, tip, nil
		}
		changed, timer := b.pool.changed, time.NewTimer(max(b.pool.wait(begun, time.Now()), time.Millisecond))
		if b.pool.making {
			timer.Stop() // whoever makes one will say so
		}
		b.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, known{}, fault.Wrap(fault.Interrupted, ctx.Err(), "stopped before there was a tree to work in")
		}
		timer.Stop()
	}
}

// pick takes a tree that is there, or a new one if more may be made. The caller holds mu.
func (b *Branch) pick(writes, more bool) (*tree, known) {
	for _, t := range b.trees {
		if !writes && t.readers > 0 && t.at.commit == b.tip.commit {
			t.readers++
			return t, known{}
		}
	}
	at := slices.IndexFunc(b.trees, func(t *tree) bool {
		return !t.writer && t.readers == 0 && (t.gitDir != "" || !b.pool.making)
	})
	if at < 0 {
		if b.pool.making || !more && len(b.trees) > 0 {
			return nil, known{}
		}
		at = len(b.trees)
		b.trees = append(b.trees, b.newTree(at))
	}
	t := b.trees[at]
	t.writer = true
	b.pool.making = b.pool.making || t.gitDir == ""
	return t, b.tip
}
