// Package journal keeps the one order of what happened to a plan. Records are never edited: each
// names the hash of the one before, so that nothing can be changed, dropped or moved without every
// later hash changing too.
//
// The engine is the only writer. An append whose first record does not continue the head of the
// plan's chain is refused, so of two writers one must read again. A Store keeps bytes and hashes
// and never looks inside; only this package knows the format, which is fixed forever by
// docs/journal-format.md.
package journal

import (
	"context"
	"iter"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Seq numbers the records of one plan, from 1.
type Seq uint64

// Kind names what happened, as a noun and a verb in the past: task.ended. A kind's name and meaning
// never change; new fields of its body are optional.
type Kind string

// Record is one entry of the journal.
type Record struct {
	Plan    string
	Seq     Seq
	Rev     int // revision of the plan it belongs to
	Kind    Kind
	Time    time.Time // UTC
	Actor   string    // engine, person:NAME, agent:NAME, model:NAME
	Cause   Seq       // the record it follows from; 0: none
	Task    string
	Attempt int
	Body    []byte // canonical JSON object
	Prev    digest.ID
}

// Entry is a record as it is stored: its canonical bytes and their hash.
type Entry struct {
	Plan  string
	Seq   Seq
	Bytes []byte
	Hash  digest.ID
	Pos   uint64 // place in the store over all plans, from 1; assigned by the store, gapless
}

// Head is the end of a plan's chain. The zero Head is that of an empty one.
type Head struct {
	Seq  Seq
	Hash digest.ID
}

// Seal encodes r as the successor of head.
func Seal(r Record, head Head) Entry {
	r.Seq, r.Prev = head.Seq+1, head.Hash
	b := r.Append(make([]byte, 0, 288+len(r.Plan)+len(r.Task)+len(r.Actor)+len(r.Body)))
	return Entry{Plan: r.Plan, Seq: r.Seq, Bytes: b, Hash: digest.Sum(b)}
}

// Head is the chain's end when e is its last entry.
func (e Entry) Head() Head { return Head{e.Seq, e.Hash} }

// Store keeps entries durably. An implementation passes journaltest.Run.
type Store interface {
	// Append makes entries durable, all or none, or says why not. Entries are consecutive and of one
	// plan. If the plan's head is not the one before the first entry: fault.Conflict.
	Append(ctx context.Context, entries []Entry) error
	// Read yields a plan's entries after a sequence number, in order.
	Read(ctx context.Context, plan string, after Seq) iter.Seq2[Entry, error]
	// Head is the end of a plan's chain; the zero Head when there is no such plan.
	Head(ctx context.Context, plan string) (Head, error)
	// Plans lists the plans that have entries, by name.
	Plans(ctx context.Context) ([]string, error)
	// All yields the entries of all plans after a position, in the order of their positions.
	All(ctx context.Context, after uint64) iter.Seq2[Entry, error]
}

// Holder keeps others from writing a plan. The claim ends with the process, however it ends.
type Holder interface {
	// Hold claims a plan, or answers fault.Conflict naming who has it.
	Hold(plan string) (release func(), err error)
}

// Command is something a person asked of a plan that another process may hold.
type Command struct {
	ID     int64
	Plan   string
	Time   time.Time
	Actor  string
	Name   string // pause, resume, cancel, complete, ...
	Body   []byte // JSON
	Result string // empty until the holder took it; then "ok" or the refusal
	Code   string // fault code of a refusal
	Done   bool
}

// Mailbox carries commands to the holder of a plan.
type Mailbox interface {
	Post(ctx context.Context, c Command) (id int64, err error)
	Pending(ctx context.Context, plan string) ([]Command, error)
	Resolve(ctx context.Context, id int64, code, result string) error
	Result(ctx context.Context, id int64) (Command, error)
}
