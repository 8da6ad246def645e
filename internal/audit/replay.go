package audit

import (
	"context"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Replayed is what a replay came to.
type Replayed struct {
	Plan    string              `json:"plan"`
	Facts   int                 `json:"facts"`
	Derived int                 `json:"derived"`
	State   lifecycle.PlanState `json:"state"`
	Head    digest.ID           `json:"head"`
	Hash    digest.ID           `json:"hash"`
}

// Replay carries a run out again from its facts alone: it calls nothing, and writes every derived record anew. The
// chain it makes must be the chain that is stored, byte for byte; the first record that differs is an error.
func Replay(ctx context.Context, h Home, name string) (Replayed, error) {
	out := Replayed{Plan: name}
	st := lifecycle.New(name)
	next, stop := iter.Pull2(h.Journal.Read(ctx, name, 0))
	defer stop()
	var head journal.Head
	match := func(e journal.Entry, r journal.Record) error {
		made := journal.Seal(r, head)
		if made.Hash != e.Hash || string(made.Bytes) != string(e.Bytes) {
			return fault.New(fault.Tampered, "replay differs at record %s#%d: it makes %s, the journal has %s", name, made.Seq, made.Bytes, e.Bytes).
				Remedy("see everything that is wrong with: cairn audit verify %s", name)
		}
		head = made.Head()
		return nil
	}
	for {
		e, err, more := next()
		if err != nil {
			return out, err
		}
		if !more {
			break
		}
		fact, derived, err := replayFact(ctx, h, st, e)
		if err != nil {
			return out, err
		}
		if err := match(e, fact); err != nil {
			return out, err
		}
		out.Facts++
		cause := head.Seq
		for _, d := range derived {
			e, err, more := next()
			if err != nil {
				return out, err
			}
			if !more {
				return out, fault.New(fault.Tampered, "replay differs at record %s#%d: %s %s has to stand there, and the journal ends", name, head.Seq+1, d.Kind, d.Task)
			}
			r := journal.Record{Plan: name, Rev: fact.Rev, Kind: d.Kind, Time: fact.Time, Actor: lifecycle.Engine, Cause: cause, Task: d.Task,
				Attempt: d.Attempt, Body: d.Body}
			if err := match(e, r); err != nil {
				return out, err
			}
			out.Derived++
		}
	}
	if head.Seq == 0 {
		return out, fault.New(fault.NotFound, "there is no plan %s here", name).Remedy("see the plans with: cairn list")
	}
	out.State, out.Head, out.Hash = st.Phase, head.Hash, st.Hash()
	return out, nil
}

// replayFact takes one fact out of the journal and lets the law derive from it.
func replayFact(ctx context.Context, h Home, st *lifecycle.State, e journal.Entry) (journal.Record, []lifecycle.Derived, error) {
	r, err := journal.Decode(e)
	if err != nil {
		return r, nil, err
	}
	f, err := lifecycle.FactOf(r)
	if err != nil {
		return r, nil, err
	}
	if b, ok := f.Body.(*lifecycle.Submitted); ok && st.Phase == lifecycle.NoPlan {
		p, err := readSpec(ctx, h.Artifacts, b)
		if err != nil {
			return r, nil, err
		}
		derived, err := st.Submit(f, p)
		return r, derived, err
	}
	derived, err := st.TakeRead(f, func(b *lifecycle.Submitted) (*plan.Plan, error) { return readSpec(ctx, h.Artifacts, b) })
	if err != nil {
		return r, nil, fault.Wrap(fault.Tampered, err, "replay stops at record %s#%d", r.Plan, r.Seq)
	}
	return r, derived, nil
}
