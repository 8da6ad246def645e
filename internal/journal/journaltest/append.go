package journaltest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

func testEmpty(t *testing.T, s Stores) {
	wantHead(t, s, "nobody", journal.Head{})
	if got := readAll(t, s, "nobody", 0); len(got) != 0 {
		t.Errorf("an empty journal has entries: %v", got)
	}
	if got := readPositions(t, s, 0); len(got) != 0 {
		t.Errorf("an empty journal has positions: %v", got)
	}
	if plans, err := s.Plans(t.Context()); err != nil || len(plans) != 0 {
		t.Errorf("an empty journal has plans: %v (%v)", plans, err)
	}
	mustAppend(t, s, nil)
	wantHead(t, s, "nobody", journal.Head{})
}

func testOrder(t *testing.T, s Stores) {
	a, b := Chain("a", journal.Head{}, 40), Chain("b", journal.Head{}, 7)
	mustAppend(t, s, a[:1])
	mustAppend(t, s, b[:5])
	mustAppend(t, s, a[1:38])
	mustAppend(t, s, b[5:])
	mustAppend(t, s, a[38:])
	for plan, want := range map[string][]journal.Entry{"a": a, "b": b} {
		if got := readAll(t, s, plan, 0); !slices.EqualFunc(got, want, equal) {
			t.Errorf("plan %s came back changed", plan)
		}
		wantHead(t, s, plan, want[len(want)-1].Head())
	}
	want := slices.Concat(a[:1], b[:5], a[1:38], b[5:], a[38:])
	if got := readPositions(t, s, 0); !slices.EqualFunc(got, want, equal) {
		t.Error("all plans together are not in the order of their appends")
	}
}

func testReadAfter(t *testing.T, s Stores) {
	const n = 2500 // more than any implementation reads at a time
	want := Chain("a", journal.Head{}, n)
	mustAppend(t, s, want)
	for _, after := range []int{0, 1, 1024, n - 1, n, n + 5} {
		rest := want[min(after, n):]
		if got := readAll(t, s, "a", journal.Seq(after)); !slices.EqualFunc(got, rest, equal) {
			t.Errorf("after %d: %d entries, want %d", after, len(got), len(rest))
		}
		if got := readPositions(t, s, uint64(after)); !slices.EqualFunc(got, rest, equal) {
			t.Errorf("after position %d: %d entries, want %d", after, len(got), len(rest))
		}
	}
}

func testConflict(t *testing.T, s Stores) {
	a := Chain("a", journal.Head{}, 6)
	wantCode(t, s.Append(t.Context(), a[1:2]), fault.Conflict) // nothing is there yet
	mustAppend(t, s, a[:3])
	wantCode(t, s.Append(t.Context(), a[2:4]), fault.Conflict) // one is there already
	wantCode(t, s.Append(t.Context(), a[4:]), fault.Conflict)  // one is left out
	wantCode(t, s.Append(t.Context(), a[:3]), fault.Conflict)  // said twice
	wantHead(t, s, "a", a[2].Head())
	mustAppend(t, s, a[3:])
	if got := readAll(t, s, "a", 0); !slices.EqualFunc(got, a, equal) {
		t.Error("a refused append left something behind")
	}
	if got := readPositions(t, s, 0); len(got) != len(a) {
		t.Errorf("%d positions, want %d", len(got), len(a))
	}
}

func testMalformed(t *testing.T, s Stores) {
	a, b := Chain("a", journal.Head{}, 3), Chain("b", journal.Head{}, 3)
	for name, entries := range map[string][]journal.Entry{
		"two plans": {a[0], b[1]}, "a gap": {a[0], a[2]}, "backwards": {a[1], a[0]}, "twice": {a[0], a[0]},
	} {
		if err := s.Append(t.Context(), entries); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if got := readPositions(t, s, 0); len(got) != 0 {
		t.Errorf("refused appends left %d entries", len(got))
	}
}

// testAtomic appends in batches; whoever looks sees whole batches.
func testAtomic(t *testing.T, s Stores) {
	const batches, size = 40, 25
	all := Chain("a", journal.Head{}, batches*size)
	done := make(chan error, 1)
	go func() {
		for i := range batches {
			if err := s.Append(t.Context(), all[i*size:(i+1)*size]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	other := s.Again(t)
	for {
		h, err := other.Head(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if h.Seq%size != 0 {
			t.Fatalf("the head is at %d, inside a batch of %d", h.Seq, size)
		}
		if h.Seq == batches*size {
			break
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			done <- nil
		default:
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func testSeenByOthers(t *testing.T, s Stores) {
	a := Chain("a", journal.Head{}, 10)
	other := s.Again(t)
	for i := range a {
		writer, reader := s, other
		if i%2 == 1 {
			writer, reader = other, s
		}
		mustAppend(t, writer, a[i:i+1])
		wantHead(t, reader, "a", a[i].Head())
		if got := readAll(t, reader, "a", 0); !slices.EqualFunc(got, a[:i+1], equal) {
			t.Fatalf("after %d appends the other sees %d entries", i+1, len(got))
		}
	}
	readPositions(t, s.Again(t), 0)
}

func testPlans(t *testing.T, s Stores) {
	names := []string{"z", "a", "plan-feature-01", "계획", "été", "e\u0301te\u0301", "a/b", "with space", "🏔", "%", "'; --", "A", "A.lock"}
	for _, n := range names {
		mustAppend(t, s, Chain(n, journal.Head{}, 2))
	}
	slices.Sort(names)
	got, err := s.Plans(t.Context())
	if err != nil || !slices.Equal(got, names) {
		t.Fatalf("plans are %q (%v), want %q", got, err, names)
	}
	for _, n := range names {
		if got := readAll(t, s.Again(t), n, 0); len(got) != 2 {
			t.Errorf("plan %q has %d entries, want 2", n, len(got))
		}
	}
	for _, e := range readPositions(t, s, 0) {
		if r, err := journal.Decode(e); err != nil || r.Plan != e.Plan {
			t.Errorf("position %d: entry of %q holds a record of %q (%v)", e.Pos, e.Plan, r.Plan, err)
		}
	}
}

// testLarge stores bytes as they are, whatever they are: a store does not look inside.
func testLarge(t *testing.T, s Stores) {
	a := Chain("a", journal.Head{}, 4)
	a[0].Bytes = bytes.Repeat([]byte{0, 0xff, '\'', '\n'}, 4<<20)
	a[1].Bytes = []byte{0}
	a[2].Bytes = []byte{}
	mustAppend(t, s, a)
	i := 0
	for e, err := range s.Again(t).Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !equal(e, a[i]) {
			t.Errorf("entry %d of %d bytes came back changed", i+1, len(a[i].Bytes))
		}
		i++
	}
	if i != len(a) {
		t.Errorf("%d entries, want %d", i, len(a))
	}
}

func testStopReading(t *testing.T, s Stores) {
	mustAppend(t, s, Chain("a", journal.Head{}, 3000))
	for i := range 20 {
		n := 0
		for _, err := range s.Read(t.Context(), "a", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > i*100 {
				break
			}
		}
	}
	mustAppend(t, s, Chain("b", journal.Head{}, 1))
	readPositions(t, s, 0)
}
