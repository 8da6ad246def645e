package notify

import (
	"context"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
)

// Watch tells what happens to one plan while it is carried out, in a goroutine of its own that Close ends.
type Watch struct {
	desk *Desk
	name string
	warn func(error)
	some chan struct{} // holds one token when there is something to tell
	stop chan struct{}
	done chan struct{}
}

// lastCall is how long the end of a run waits for what is still to be told.
const lastCall = 15 * time.Second

// Watch begins to tell. warn is called with what could not be told, from the goroutine.
func (d *Desk) Watch(ctx context.Context, name string, warn func(error)) (*Watch, error) {
	if err := d.Begin(ctx, name); err != nil {
		return nil, err
	}
	w := &Watch{desk: d, name: name, warn: warn, some: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	w.some <- struct{}{} // an earlier run may have left something
	go w.loop(context.WithoutCancel(ctx))
	return w, nil
}

// Take looks at what has become durable. It does not wait.
func (w *Watch) Take(entries []journal.Entry) {
	for _, e := range entries {
		r, err := journal.Decode(e)
		if err != nil || event(r) == "" {
			continue
		}
		select {
		case w.some <- struct{}{}:
		default:
		}
		return
	}
}

func (w *Watch) loop(ctx context.Context) {
	defer close(w.done)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		select {
		case <-w.some:
			w.flush(ctx)
		case <-w.stop:
			select {
			case <-w.some: // came in with the last records
				w.flush(ctx)
			default:
			}
			return
		}
	}
}

func (w *Watch) flush(ctx context.Context) {
	// A run that is over waits a while for what is still to be told, not for ever; the mark has the rest told later.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ended:
			return
		case <-w.stop:
		}
		select {
		case <-ended:
		case <-time.After(lastCall):
			cancel()
		}
	}()
	if err := w.desk.Flush(ctx, w.name); err != nil {
		w.warn(err)
	}
}

// Close waits until what is to be told was told, or could not be.
func (w *Watch) Close() {
	close(w.stop)
	<-w.done
}
