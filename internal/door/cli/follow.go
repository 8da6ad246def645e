package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

// follower is told what was journaled and shows it, in a goroutine of its own that close ends and waits for: whoever
// reports entries never waits for a terminal or a pipe.
type follower interface {
	take([]journal.Entry)
	notice(text string) // beside what is journaled
	close()
}

// follower chooses how a run is shown: a live tree on a terminal, lines elsewhere, records under --json.
func (a *app) follower(ctx context.Context, h *House, name string) (follower, error) {
	f, live := a.drawsLive()
	switch {
	case a.json:
		return newPrinter(a.out(), a.io.Err, writeRecord, nil), nil
	case !live:
		return newPrinter(a.out(), a.io.Err, newLines().write, &queuing{look: turnsOf(ctx, h.Engine, name)}), nil
	}
	fold, times, err := folded(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return newScreen(f, fold, times, a.out().Color, turnsOf(ctx, h.Engine, name)), nil
}

// fold is a state of a plan before its first record.
func (h *House) fold(ctx context.Context, name string) *lifecycle.Fold {
	return &lifecycle.Fold{State: lifecycle.New(name), Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) {
		return h.Engine.Spec(ctx, b)
	}}
}

// folded is a state of our own, apart from the one that a driver changes meanwhile.
func folded(ctx context.Context, h *House, name string) (*lifecycle.Fold, *view.Times, error) {
	fold := h.fold(ctx, name)
	times := &view.Times{}
	for e, err := range h.Engine.Journal.Read(ctx, name, 0) {
		if err != nil {
			return nil, nil, err
		}
		r, err := fold.Next(e)
		if err != nil {
			return nil, nil, err
		}
		times.Note(r)
	}
	err := fold.Done()
	return fold, times, err
}

// writeRecord writes the canonical bytes of a record as one line, with its hash added at the end.
func writeRecord(w io.Writer, e journal.Entry) {
	fmt.Fprintf(w, "%s,\"hash\":%q}\n", e.Bytes[:len(e.Bytes)-1], e.Hash.String())
}

// pollEvery is how often a plan that another process carries out is looked at.
const pollEvery = 100 * time.Millisecond

// poll hands over what is journaled after a record, as it appears, until a look at it says that this is enough.
func poll(ctx context.Context, h *House, fold *lifecycle.Fold, show follower, enough func(*lifecycle.State) bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var fresh []journal.Entry
		for e, err := range h.Engine.Journal.Read(ctx, fold.State.Name, fold.Head.Seq) {
			if err != nil {
				return err
			}
			if _, err := fold.Next(e); err != nil {
				return err
			}
			fresh = append(fresh, e)
		}
		show.take(fresh)
		if enough(fold.State) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// size asks a terminal how large it is; one that does not say is taken for an old one.
func size(f *os.File) (width, height int) {
	width, height, err := terminalSize(f)
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
