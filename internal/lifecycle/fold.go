package lifecycle

import (
	"bytes"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Engine is the actor of what is derived, and of the facts that the engine itself observes.
const Engine = "engine"

// Fold rebuilds a state from a journal and checks on the way that it is one: every hash fits, every record
// continues the one before, and what the law derives from the facts is what was recorded.
type Fold struct {
	State *State
	Spec  func(*Submitted) (*plan.Plan, error)
	Head  journal.Head

	Cause journal.Record // the last fact

	derived []Derived // what must still follow it
}

// All folds entries to their end.
func (f *Fold) All(entries iter.Seq2[journal.Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		if _, err := f.Next(e); err != nil {
			return err
		}
	}
	return f.Done()
}

// Done reports whether anything that had to follow the last fact is missing.
func (f *Fold) Done() error {
	if len(f.derived) > 0 {
		return fault.New(fault.Tampered, "record %s#%d is missing: %s has to follow record %d", f.State.Name, f.Head.Seq+1,
			f.derived[0].Kind, f.Cause.Seq)
	}
	return nil
}

// Next folds one entry.
func (f *Fold) Next(e journal.Entry) (journal.Record, error) {
	if e.Seq != f.Head.Seq+1 {
		return journal.Record{}, f.damage(e, "it follows record %d", f.Head.Seq)
	}
	if digest.Sum(e.Bytes) != e.Hash {
		return journal.Record{}, f.damage(e, "its content does not fit its hash")
	}
	r, err := journal.Decode(e)
	if err != nil {
		return r, err
	}
	if r.Prev != f.Head.Hash || r.Seq != e.Seq || r.Plan != f.State.Name {
		return r, f.damage(e, "it does not continue record %d", f.Head.Seq)
	}
	if err := f.Take(r); err != nil {
		return r, err
	}
	f.Head = e.Head()
	return r, nil
}

// Take folds a record whose place in the chain is not in question.
func (f *Fold) Take(r journal.Record) error {
	if len(f.derived) > 0 {
		want := f.derived[0]
		f.derived = f.derived[1:]
		switch {
		case want.Kind != r.Kind || want.Task != r.Task || want.Attempt != r.Attempt:
			return f.diverged(r, "%s %s has to stand there", want.Kind, want.Task)
		case !bytes.Equal(body(want.Body), r.Body):
			return f.diverged(r, "its body has to be %s", body(want.Body))
		case r.Cause != f.Cause.Seq || !r.Time.Equal(f.Cause.Time) || r.Actor != Engine:
			return f.diverged(r, "it has to follow from record %d", f.Cause.Seq)
		}
		return nil
	}
	fact, err := FactOf(r)
	if err != nil {
		return err
	}
	if b, ok := fact.Body.(*Submitted); ok && f.State.Phase == NoPlan {
		p, err := f.Spec(b)
		if err != nil {
			return err
		}
		f.derived, err = f.State.Submit(fact, p)
		if err != nil {
			return err
		}
	} else if f.derived, err = f.State.TakeRead(fact, f.Spec); err != nil {
		return fault.Wrap(fault.Tampered, err, "record %s#%d cannot stand where it does", r.Plan, r.Seq)
	}
	if r.Rev != f.State.Rev {
		return f.diverged(r, "it has to be of revision %d", f.State.Rev)
	}
	f.Cause = r
	return nil
}

func (f *Fold) damage(e journal.Entry, format string, args ...any) error {
	err := fault.New(fault.Tampered, "record %s#%d is damaged: "+format, append([]any{f.State.Name, e.Seq}, args...)...)
	return err.Remedy("see everything that is wrong with: cairn audit verify %s", f.State.Name)
}

func (f *Fold) diverged(r journal.Record, format string, args ...any) error {
	err := fault.New(fault.Tampered, "record %s#%d (%s) is not what follows from the facts: "+format,
		append([]any{r.Plan, r.Seq, r.Kind}, args...)...)
	return err.Remedy("see everything that is wrong with: cairn audit verify %s", r.Plan)
}

func body(b []byte) []byte {
	if len(b) == 0 {
		return []byte("{}")
	}
	return b
}
