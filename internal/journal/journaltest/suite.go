// Package journaltest is the contract of a journal store: what every implementation does, so that
// the engine need not know which one it has. Each test opens a place of its own.
package journaltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// Stores is one place, opened. Again opens the same place once more, as another process would; what
// is opened is closed by the test's cleanup.
type Stores struct {
	journal.Store
	journal.Holder
	journal.Mailbox
	Again func(t *testing.T) Stores
}

// Run checks an implementation. open makes a new, empty place.
func Run(t *testing.T, open func(t *testing.T) Stores) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, s Stores)
	}{
		{"empty", testEmpty},
		{"order", testOrder},
		{"resume", testReadAfter},
		{"conflict", testConflict},
		{"malformed", testMalformed},
		{"atomic", testAtomic},
		{"durable", testSeenByOthers},
		{"plans", testPlans},
		{"large", testLarge},
		{"stop reading", testStopReading},
		{"concurrent plans", testConcurrentPlans},
		{"one plan, many writers", testRace},
		{"two processes", testTwoProcesses},
		{"read while writing", testReadWhileWriting},
		{"write while reading", testWriteWhileReading},
		{"cancel", testCancel},
		{"cancel amid others", testCancelAmidOthers},
		{"hold", testHold},
		{"hold of many", testHoldMany},
		{"mailbox", testMailbox},
		{"mailbox order", testMailboxOrder},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			tc.test(t, open(t))
		})
	}
}

// Chain makes n entries of a plan that follow head.
func Chain(plan string, head journal.Head, n int) []journal.Entry {
	out := make([]journal.Entry, n)
	for i := range out {
		out[i] = journal.Seal(journal.Record{
			Plan: plan, Rev: 1, Kind: "task.ended", Actor: "engine", Task: fmt.Sprint("t", i), Attempt: 1,
			Time: time.Unix(1_800_000_000, int64(i)).UTC(), Body: fmt.Appendf(nil, `{"n":%d}`, i),
		}, head)
		head = out[i].Head()
	}
	return out
}

func mustAppend(t *testing.T, s journal.Store, entries []journal.Entry) {
	t.Helper()
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// readAll reads a plan to its end and checks that it is one chain.
func readAll(t *testing.T, s journal.Store, plan string, after journal.Seq) []journal.Entry {
	t.Helper()
	var out []journal.Entry
	for e, err := range s.Read(t.Context(), plan, after) {
		if err != nil {
			t.Fatal(err)
		}
		if want := after + journal.Seq(len(out)) + 1; e.Seq != want || e.Plan != plan {
			t.Fatalf("read %s#%d, want %s#%d", e.Plan, e.Seq, plan, want)
		}
		if r, err := journal.Decode(e); err != nil || (len(out) > 0 && r.Prev != out[len(out)-1].Hash) {
			t.Fatalf("%s#%d does not follow the one before (%v)", e.Plan, e.Seq, err)
		}
		out = append(out, e)
	}
	return out
}

// readPositions reads all plans and checks that positions have no gap.
func readPositions(t *testing.T, s journal.Store, after uint64) []journal.Entry {
	t.Helper()
	var out []journal.Entry
	for e, err := range s.All(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		if want := after + uint64(len(out)) + 1; e.Pos != want {
			t.Fatalf("position %d where %d was expected", e.Pos, want)
		}
		out = append(out, e)
	}
	return out
}

func wantHead(t *testing.T, s journal.Store, plan string, want journal.Head) {
	t.Helper()
	got, err := s.Head(t.Context(), plan)
	if err != nil || got != want {
		t.Fatalf("head of %q is %v (%v), want %v", plan, got, err, want)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("got %v, want a fault of code %s", err, code)
	}
}

// equal compares what was written with what was read; the position is the store's.
func equal(a, b journal.Entry) bool {
	return a.Plan == b.Plan && a.Seq == b.Seq && a.Hash == b.Hash && string(a.Bytes) == string(b.Bytes)
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
