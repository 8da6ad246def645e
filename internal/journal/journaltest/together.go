package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// together runs n of f at once and fails the test with their errors.
func together(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// appendAll appends entries in batches of changing size.
func appendAll(ctx context.Context, s journal.Store, entries []journal.Entry) error {
	for i, size := 0, 1; i < len(entries); size = size%17 + 1 {
		end := min(i+size, len(entries))
		if err := s.Append(ctx, entries[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

func testConcurrentPlans(t *testing.T, s Stores) {
	const plans, n = 24, 60
	together(t, plans, func(i int) error {
		return appendAll(t.Context(), s, Chain(fmt.Sprint("p", i), journal.Head{}, n))
	})
	for i := range plans {
		if got := readAll(t, s, fmt.Sprint("p", i), 0); len(got) != n {
			t.Errorf("plan %d has %d entries, want %d", i, len(got), n)
		}
	}
	if got := readPositions(t, s, 0); len(got) != plans*n {
		t.Errorf("%d positions, want %d", len(got), plans*n)
	}
}

// testRace lets many writers continue one plan: of those who saw the same head one wins, the others
// are refused and read again.
func testRace(t *testing.T, s Stores) {
	const writers, n = 8, 15
	var refused atomic.Int32
	other := s.Again(t)
	together(t, writers, func(i int) error {
		w := []Stores{s, other}[i%2]
		for wrote := 0; wrote < n; {
			h, err := w.Head(t.Context(), "a")
			if err != nil {
				return err
			}
			switch err := w.Append(t.Context(), Chain("a", h, 1)); {
			case err == nil:
				wrote++
			case fault.Is(err, fault.Conflict):
				refused.Add(1)
			default:
				return err
			}
		}
		return nil
	})
	if got := readAll(t, s, "a", 0); len(got) != writers*n {
		t.Errorf("%d entries, want %d", len(got), writers*n)
	}
	t.Logf("%d appends were refused", refused.Load())
}

func testTwoProcesses(t *testing.T, s Stores) {
	const stores, plans, n = 3, 4, 50
	all := []Stores{s, s.Again(t), s.Again(t)}
	together(t, stores*plans, func(i int) error {
		return appendAll(t.Context(), all[i%stores], Chain(fmt.Sprint("p", i), journal.Head{}, n))
	})
	for _, s := range all {
		if got := readPositions(t, s, 0); len(got) != stores*plans*n {
			t.Errorf("%d positions, want %d", len(got), stores*plans*n)
		}
	}
}

func testReadWhileWriting(t *testing.T, s Stores) {
	const n = 600
	written := make(chan error, 1)
	go func() { written <- appendAll(t.Context(), s, Chain("a", journal.Head{}, n)) }()
	var seen journal.Seq
	for other := s.Again(t); seen < n; {
		for e, err := range other.Read(t.Context(), "a", seen) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Seq != seen+1 {
				t.Fatalf("read %d after %d", e.Seq, seen)
			}
			seen = e.Seq
		}
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			written <- nil
		default:
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// testWriteWhileReading appends from inside a loop over what is there: reading holds no lock that
// writing needs.
func testWriteWhileReading(t *testing.T, s Stores) {
	a, b := Chain("a", journal.Head{}, 1500), Chain("b", journal.Head{}, 1500)
	mustAppend(t, s, a)
	i := 0
	for _, err := range s.Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			mustAppend(t, s, b[i/100:i/100+1])
			wantHead(t, s, "b", b[i/100].Head())
		}
		i++
	}
	if i != len(a) {
		t.Errorf("read %d entries, want %d", i, len(a))
	}
}

func testCancel(t *testing.T, s Stores) {
	a := Chain("a", journal.Head{}, 2)
	if err := s.Append(cancelled(), a); !errors.Is(err, context.Canceled) {
		t.Errorf("append under a cancelled context: %v", err)
	}
	wantHead(t, s, "a", journal.Head{})
	mustAppend(t, s, a)
	for _, err := range s.Read(cancelled(), "a", 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read under a cancelled context: %v", err)
		}
	}
	for _, err := range s.All(cancelled(), 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read under a cancelled context: %v", err)
		}
	}
	if _, err := s.Head(cancelled(), "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("head under a cancelled context: %v", err)
	}
}

// testCancelAmidOthers cancels half of the writers at any moment. An append that answered nil is
// there, one that answered an error is not, and the others do not suffer.
func testCancelAmidOthers(t *testing.T, s Stores) {
	const writers, n = 16, 30
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wrote := make([]int, writers)
	var total atomic.Int32
	together(t, writers, func(i int) error {
		own := t.Context()
		if i%2 == 0 {
			own = ctx
		}
		entries := Chain(fmt.Sprint("p", i), journal.Head{}, n)
		for j := range entries {
			switch err := s.Append(own, entries[j:j+1]); {
			case err == nil:
				wrote[i]++
			case i%2 == 0 && errors.Is(err, context.Canceled):
				return nil // it is what was asked for
			default:
				return err
			}
			if total.Add(1) == writers*n/4 {
				cancel()
			}
		}
		return nil
	})
	for i, want := range wrote {
		if got := readAll(t, s, fmt.Sprint("p", i), 0); len(got) != want {
			t.Errorf("writer %d was told of %d appends, %d are there", i, want, len(got))
		}
	}
	readPositions(t, s, 0)
}
