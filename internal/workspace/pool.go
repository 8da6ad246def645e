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
	line    []int         // who waits, by number, in the order of arrival
	next    int           // the number of who comes next
	changed chan struct{} // closed when a tree became free or was made, or the line moved
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
// to the tip. Whoever came first is served first.
func (b *Branch) choose(ctx context.Context, writes bool) (*tree, known, error) {
	begun := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.pool.next
	b.pool.next++
	b.pool.line = append(b.pool.line, mine)
	defer func() {
		b.pool.line = slices.DeleteFunc(b.pool.line, func(n int) bool { return n == mine })
		b.pool.turnOver()
	}()
	for {
		if b.closed {
			return nil, known{}, errClosed()
		}
		wait := b.pool.wait(begun, time.Now())
		if t, tip := b.pick(writes, b.pool.line[0] == mine, wait == 0); t != nil {
			return t, tip, nil
		}
		if b.pool.making || b.pool.line[0] != mine {
			wait = patience // whoever makes one, or is before us, will say so
		}
		changed, timer := b.pool.changed, time.NewTimer(max(wait, time.Millisecond))
		b.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			err = fault.Wrap(fault.Interrupted, ctx.Err(), "stopped before there was a tree to work in")
		}
		timer.Stop()
		b.mu.Lock()
		if err != nil {
			return nil, known{}, err
		}
	}
}

// pick takes a tree that is there, or a new one if more may be made. The caller holds mu.
func (b *Branch) pick(writes, first, more bool) (*tree, known) {
	for _, t := range b.trees {
		if !writes && t.readers > 0 && t.at.commit == b.tip.commit {
			t.readers++
			return t, known{}
		}
	}
	if !first {
		return nil, known{}
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
