package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/view"
)

// turnsEvery is how often it is looked up who waits for a turn.
const turnsEvery = 500 * time.Millisecond

// turns looks up which tasks of a plan wait for their turn, whichever process carries it out.
type turns func() view.Turns

func turnsOf(ctx context.Context, e *engine.Engine, name string) turns {
	return func() view.Turns {
		all, err := e.Waiting(ctx, name)
		if err != nil {
			return nil // it is told for comfort; the run goes on without
		}
		out := view.Turns{}
		for task, w := range all {
			out[task] = w.Key
		}
		return out
	}
}

// queuing tells on a line who began to wait for a turn since it was last asked.
type queuing struct {
	look turns
	told view.Turns
}

func (q *queuing) write(w io.Writer) {
	now := q.look()
	for _, task := range slices.Sorted(maps.Keys(now)) {
		if q.told[task] != now[task] {
			fmt.Fprintf(w, "%s  %-11s  %s  for its turn at %s\n", view.Time(time.Now()), "waits", task, oneLine(now[task]))
		}
	}
	q.told = now
}
