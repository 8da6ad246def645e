package sqlite

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
)

// writer is group commit. Whoever wants to write puts a job in the queue and then either gets the
// pen or an answer. The holder of the pen writes everything that is queued in one transaction and
// answers after the commit. No goroutine is handed to and from, so a lone caller pays for nothing
// but its own commit.
//
// Only the holder of the pen touches the fields below it.
type writer struct {
	store *Store

	mu     sync.Mutex
	queue  []*job
	closed bool

	pen     chan struct{} // full while somebody writes
	crowd   bool          // the last commit woke many, who are about to queue again: let them come
	conn    *conn         // nil after a failure: the next holder opens another
	version int64         // of the data as cached below; another process's commit changes it
	cached  bool
	last    uint64                 // newest position
	plans   map[string]int64       // ids
	heads   map[int64]journal.Head // by plan id
}

// job is one caller's share of a transaction. apply either writes, or answers a refusal and has
// written nothing, or fails, which undoes the transaction.
type job struct {
	apply  func(*conn) (refusal, err error)
	answer chan error
	since  time.Time
}

func (w *writer) init(s *Store) {
	w.store = s
	w.pen = make(chan struct{}, 1)
	w.plans = map[string]int64{}
	w.heads = map[int64]journal.Head{}
}

// do has apply run in a transaction and returns once it is durable or refused. When ctx ends while
// the job is still queued it is withdrawn; once it is being written the answer is waited for, for
// otherwise the caller could not know what became of it.
func (w *writer) do(ctx context.Context, apply func(*conn) (refusal, err error)) error {
	if err := ctx.Err(); err != nil {
		return interrupted(err)
	}
	j := &job{apply: apply, answer: make(chan error, 1), since: time.Now()}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed()
	}
	w.queue = append(w.queue, j)
	w.mu.Unlock()
	select {
	case w.pen <- struct{}{}:
		w.write(ctx, j)
		<-w.pen
		return <-j.answer
	case err := <-j.answer:
		return err
	case <-ctx.Done():
		w.withdraw(j, interrupted(ctx.Err()))
		return <-j.answer
	}
}

// withdraw answers j if nobody has taken it yet.
func (w *writer) withdraw(j *job, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.queue, j); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
		j.answer <- err
	}
}

func (w *writer) take() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := w.queue
	w.queue = nil
	return jobs
}

// write answers every job in the queue; own is the caller's, which a former holder of the pen may
// have written meanwhile.
func (w *writer) write(ctx context.Context, own *job) {
	if len(own.answer) > 0 {
		return
	}
	if err := w.begin(ctx, own.since.Add(w.store.patience)); err != nil {
		w.withdraw(own, err)
		return
	}
	if w.crowd {
		runtime.Gosched()
	}
	jobs := w.take()
	w.crowd = len(jobs) > 1
	refusals, err := w.transact(jobs)
	end := time.Now().Add(w.store.patience)
	for i, j := range jobs {
		switch {
		case err == nil:
			j.answer <- refusals[i]
		case len(jobs) == 1:
			j.answer <- w.store.explain(err)
		default:
			j.answer <- w.alone(j, end)
		}
	}
}

// alone writes one job of a group that failed, so that no caller suffers from another's data.
func (w *writer) alone(j *job, end time.Time) error {
	if err := w.begin(context.Background(), end); err != nil {
		return err
	}
	refusals, err := w.transact([]*job{j})
	if err != nil {
		return w.store.explain(err)
	}
	return refusals[0]
}

// begin starts a transaction that may write, waiting for other processes until end.
func (w *writer) begin(ctx context.Context, end time.Time) error {
	for {
		err := w.tryBegin()
		if err == nil {
			return nil
		}
		if !busy(err) || time.Now().After(end) {
			return w.store.explain(err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func (w *writer) tryBegin() error {
	if err := w.store.moved(); err != nil {
		return err // the connection stays: should the file come back, it goes on
	}
	if w.conn == nil {
		c, err := w.store.openFile(mustExist)
		if err != nil {
			return err
		}
		w.conn = c
	}
	if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		if !busy(err) {
			w.giveUp()
		}
		return err
	}
	if err := w.refresh(); err != nil {
		w.giveUp()
		return err
	}
	return nil
}

// transact applies the jobs and commits. On an error nothing of any of them was written.
func (w *writer) transact(jobs []*job) ([]error, error) {
	refusals := make([]error, len(jobs))
	for i, j := range jobs {
		var err error
		if refusals[i], err = j.apply(w.conn); err != nil {
			w.giveUp()
			return nil, err
		}
	}
	if err := w.conn.exec("COMMIT"); err != nil {
		w.giveUp()
		return nil, err
	}
	return refusals, nil
}

// giveUp undoes the transaction and drops the connection with all that was learnt through it.
func (w *writer) giveUp() {
	w.conn.rollback()
	w.conn.close()
	w.conn = nil
	w.forget()
}

// forget drops what is cached about the data.
func (w *writer) forget() {
	w.cached = false
	clear(w.plans)
	clear(w.heads)
}

// maxCached bounds the memory for the heads of plans that nobody writes any more.
const maxCached = 1 << 16

// refresh makes sure, inside the transaction, that what is cached is what is in the file.
func (w *writer) refresh() error {
	version, err := w.conn.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if w.cached && version == w.version && len(w.heads) < maxCached {
		return nil
	}
	w.forget()
	last, err := w.conn.number("SELECT max(position) FROM entry")
	if err != nil {
		return err
	}
	w.last, w.version, w.cached = uint64(last), version, true
	return nil
}

// close writes what is still queued and ends the connection. The pen is never given back.
func (w *writer) close() error {
	w.mu.Lock()
	again := w.closed
	w.closed = true
	w.mu.Unlock()
	if again {
		return nil
	}
	w.pen <- struct{}{}
	end := time.Now().Add(w.store.patience)
	for _, j := range w.take() {
		j.answer <- w.alone(j, end)
	}
	if w.conn == nil {
		return nil
	}
	if err := w.store.moved(); err != nil {
		return err // closing would remove the log that now lies at the path, which may be another's
	}
	err := w.conn.close()
	w.conn = nil
	return err
}
