package workspace

import (
	"context"
	"slices"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// herePlace is the project root as one task sees it.
type herePlace struct {
	here   *Here
	before string // the state it found
	since  int    // the first round that may hold its files
	writes bool

	sinceOmitted int  // how much had been left out when it was entered
	left         bool // it has left; guarded by here.mu
}

// request is a task that waits for a commit.
type request struct {
	message string
	done    chan struct{}
	after   string
	round   int // the number of the round that served it
	err     error
}

// Dir is the project root.
func (p *herePlace) Dir() string { return p.here.root }

// Keep waits for the next commit that begins after it was called. The change reaches from the state that the task found
// to the state it left, so it may show what others did meanwhile, and never misses what the task did.
func (p *herePlace) Keep(ctx context.Context, message string) (engine.Change, error) {
	h := p.here
	if !p.writes {
		return engine.Change{Before: p.before, After: p.before}, nil
	}
	r := &request{message: message, done: make(chan struct{})}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return engine.Change{}, errClosed()
	}
	h.waiting = append(h.waiting, r)
	if !h.serving {
		h.serving = true
		h.served.Go(func() { h.serve(ctx) })
	}
	h.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		return engine.Change{}, fault.Wrap(fault.Interrupted, ctx.Err(), "stopped before the files were kept")
	}
	if r.err != nil {
		return engine.Change{}, r.err
	}
	return engine.Change{Before: p.before, After: r.after, Files: h.filesBetween(p.since, r.round), Left: h.omittedSince(p.sinceOmitted)}, nil
}

// Leave ends the task's stay. The files stay as they are.
func (p *herePlace) Leave() {
	h := p.here
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.left {
		return
	}
	p.left = true
	if h.inside[p.since]--; h.inside[p.since] == 0 {
		delete(h.inside, p.since)
	}
	oldest := h.first + len(h.rounds)
	for since := range h.inside {
		oldest = min(oldest, since)
	}
	h.rounds, h.first = h.rounds[oldest-h.first:], oldest
	if len(h.inside) == 0 {
		h.gone, h.omitted = h.gone+len(h.omitted), nil
	}
}

// serve makes commits until nobody waits. All who arrive during one share the next.
func (h *Here) serve(ctx context.Context) {
	ctx, cancel := finishing(ctx)
	defer cancel()
	for {
		h.mu.Lock()
		batch := h.waiting
		h.waiting = nil
		h.serving = len(batch) > 0
		h.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		messages := make([]string, len(batch))
		for i, r := range batch {
			messages[i] = r.message
		}
		after, left, err := h.keep(ctx, joined(messages))
		h.mu.Lock()
		round := h.first + len(h.rounds)
		h.omitted = append(h.omitted, left...)
		h.mu.Unlock()
		for _, r := range batch {
			r.after, r.err, r.round = after, err, round
			close(r.done)
		}
	}
}

// keep takes its turn and keeps the files.
func (h *Here) keep(ctx context.Context, message string) (after string, left []string, err error) {
	release, err := h.take(ctx)
	if err != nil {
		return "", nil, err
	}
	defer release()
	return h.keepNow(ctx, message)
}

// keepNow commits what differs from the last state. The caller has the turn.
func (h *Here) keepNow(ctx context.Context, message string) (after string, left []string, err error) {
	st, err := stage(ctx, h.git, h.root, h.sieve)
	if err != nil {
		return "", nil, err
	}
	if st.tree == "" {
		h.moved(st.head, nil)
		return st.head, st.left, nil
	}
	after, err = h.advance(ctx, st.head, st.tree, message, st.files)
	return after, st.left, err
}

// advance puts a state on top of head, unless it is the same. The caller has the turn.
func (h *Here) advance(ctx context.Context, head, tree, message string, files []string) (string, error) {
	if h.known.commit != head {
		last, err := h.git.treeOf(ctx, head)
		if err != nil {
			return "", err
		}
		h.known = known{head, last}
	}
	if tree == h.known.tree {
		h.moved(head, nil)
		return head, nil
	}
	after, err := h.record.commit(ctx, tree, message, head)
	if err != nil {
		return "", err
	}
	if err := h.record.move(ctx, hereRef, after, head); err != nil {
		return "", err
	}
	h.known = known{after, tree}
	h.moved(after, files)
	return after, nil
}

// moved notes the last state and, if it is new, its files.
func (h *Here) moved(head string, files []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.head == head {
		return
	}
	h.head = head
	h.rounds = append(h.rounds, files)
	if len(h.inside) == 0 {
		h.first, h.rounds = h.first+len(h.rounds), nil
	}
}

// omittedSince names what was left out since a place was entered. A file is met by whichever commit comes first, which
// may be that of another task; all who were inside then are told.
func (h *Here) omittedSince(n int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(h.omitted[max(n-h.gone, 0):])))
}

// filesBetween counts the files that changed in the rounds from one number up to another.
func (h *Here) filesBetween(from, to int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]bool{}
	for n := max(from, h.first); n < to; n++ {
		for _, name := range h.rounds[n-h.first] {
			seen[name] = true
		}
	}
	return len(seen)
}
