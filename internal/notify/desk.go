package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

// What is told.
const (
	Asked     = "asked"     // something waits for a person: a gate, a question, work, a judgement
	Escalated = "escalated" // a decision was not taken in time, and more people may take it
	Expired   = "expired"   // nobody is left to decide
	Refused   = "refused"   // a budget is used up
	Ended     = "ended"     // the plan is over
)

// Notice is one thing that people are told: what the inbox shows, and what became of it.
type Notice struct {
	Event string              `json:"event"`
	Seq   journal.Seq         `json:"seq"` // of the record that it is about: plan and seq name a notice
	Time  time.Time           `json:"time"`
	State lifecycle.PlanState `json:"state"` // of the plan
	view.Ask
}

// Desk tells what happens to the plans of a home.
type Desk struct {
	Engine *engine.Engine
	Sender *Sender
	Home   string
	Review *plan.Review // of the project
}

// Begin has a plan told from here on, unless it is already.
func (d *Desk) Begin(ctx context.Context, name string) error {
	if _, err := os.Stat(d.mark(name)); err == nil {
		return nil
	}
	head, err := d.Engine.Journal.Head(ctx, name)
	if err != nil {
		return err
	}
	return d.note(name, head.Seq)
}

// Flush tells what a plan's journal has since the mark, and stops at the first notice that is not taken.
func (d *Desk) Flush(ctx context.Context, name string) error {
	told, ok := d.told(name)
	if !ok {
		return nil
	}
	var todo []journal.Record
	last := told
	for r, err := range d.Engine.Records(ctx, name, told) {
		if err != nil {
			return err
		}
		last = r.Seq
		if event(r) != "" {
			todo = append(todo, r)
		}
	}
	if last == told {
		return nil
	}
	if len(todo) > 0 {
		if err := d.tell(ctx, name, todo); err != nil {
			return err
		}
	}
	if n := len(todo); n > 0 && todo[n-1].Kind == lifecycle.PlanEnded && todo[n-1].Seq == last {
		return d.forget(name)
	}
	return d.note(name, last)
}

// forget ends the telling of a plan that is over, so that those under way are found without looking at all there ever were.
func (d *Desk) forget(name string) error {
	if err := os.Remove(d.mark(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Invalid, err, "note that people were told").Remedy("make %s a folder that can be written", d.dir())
	}
	return nil
}

// tell hands records over one by one, each with how it stands by now.
func (d *Desk) tell(ctx context.Context, name string, todo []journal.Record) error {
	st, asks, err := d.asks(ctx, name)
	if err != nil {
		return err
	}
	for _, r := range todo {
		n := Notice{Event: event(r), Seq: r.Seq, Time: r.Time, State: st.State(), Ask: asks[about(r)]}
		n.Plan, n.Task = name, about(r)
		if n.Event == Expired {
			if g, ok := st.Gate(r.Task); !ok || !g.Expired {
				continue
			}
		}
		b, err := json.Marshal(n)
		if err != nil {
			return err
		}
		if err := d.Sender.Send(ctx, append(b, '\n')); err != nil {
			return err
		}
		if err := d.note(name, r.Seq); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) asks(ctx context.Context, name string) (*lifecycle.State, map[string]view.Ask, error) {
	st, _, err := d.Engine.Load(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	since := view.Waits{}
	for r, err := range d.Engine.Records(ctx, name, 0) {
		if err != nil {
			return nil, nil, err
		}
		since.Note(r)
	}
	out := map[string]view.Ask{}
	for _, q := range view.Asks(view.Asking{State: st, Since: since, Review: d.Review, Now: d.Engine.Now().Local(),
		Question: func(task string) (lifecycle.Question, error) { return d.Engine.Question(ctx, st, task) }}) {
		out[q.Task] = q
	}
	return st, out, nil
}

// about is the name under which people are asked for what a record tells.
func about(r journal.Record) string {
	if r.Kind == lifecycle.ReplanProposed {
		return lifecycle.ReplanTask
	}
	return r.Task
}

// event is what a record has people told; empty: nothing.
func event(r journal.Record) string {
	switch r.Kind {
	case lifecycle.GateOpened, lifecycle.TaskWaiting:
		return Asked
	case lifecycle.ReplanProposed:
		if f, err := lifecycle.FactOf(r); err == nil && !f.Body.(*lifecycle.Proposed).Auto {
			return Asked
		}
	case lifecycle.GateEscalated:
		return Escalated
	case lifecycle.BudgetRefused:
		return Refused
	case lifecycle.PlanEnded:
		return Ended
	case lifecycle.TimerFired:
		if strings.Contains(string(r.Body), strconv.Quote(lifecycle.TimerGate)) {
			return Expired // unless it escalated, which the state tells
		}
	}
	return ""
}

// Catch tells what commands brought about in plans that nobody carries out. Those that are held are told by their holder.
func (d *Desk) Catch(ctx context.Context) error {
	entries, err := os.ReadDir(d.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []error
	for _, e := range entries {
		release, held := d.Engine.Holder.Hold(e.Name())
		if held != nil {
			continue
		}
		// Whoever wants to carry the plan out does not wait for the telling; if both tell, the same is told twice.
		release()
		all = append(all, d.Flush(ctx, e.Name()))
	}
	return errors.Join(append(all, err)...)
}

func (d *Desk) dir() string             { return filepath.Join(d.Home, "notify") }
func (d *Desk) mark(name string) string { return filepath.Join(d.dir(), name) }

func (d *Desk) told(name string) (journal.Seq, bool) {
	b, err := os.ReadFile(d.mark(name))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63)
	return journal.Seq(n), err == nil || len(b) > 0 // a damaged mark has everything told again
}

// note moves the mark, whole or not at all.
func (d *Desk) note(name string, seq journal.Seq) error {
	if err := d.write(name, strconv.AppendUint(nil, uint64(seq), 10)); err != nil {
		return fault.Wrap(fault.Invalid, err, "note how far people were told").Remedy("make %s a folder that can be written", d.dir())
	}
	return nil
}

func (d *Desk) write(name string, text []byte) error {
	if err := os.MkdirAll(d.dir(), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.Home, "notify-*.new")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.mark(name))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
