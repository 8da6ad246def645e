package sqlite

import (
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

// TestDamagedRows changes rows so that SQLite is content and the journal is not: reading yields
// what comes before and then says so.
func TestDamagedRows(t *testing.T) {
	for script, readable := range map[string]int{
		"UPDATE entry SET hash = zeroblob(3) WHERE seq = 5": 4,
		"UPDATE entry SET hash = zeroblob(0) WHERE seq = 1": 0,
		"DELETE FROM plan":                         0,
		"UPDATE entry SET plan = 99 WHERE seq = 3": 0, // a page whose plans are unknown is not shown in part
	} {
		t.Run(script, func(t *testing.T) {
			dir := closedHome(t, 9)
			alter(t, dir, script)
			n := 0
			var last error
			for _, err := range open(t, dir).All(t.Context(), 0) {
				if last = err; err == nil {
					n++
				}
			}
			if n != readable {
				t.Errorf("%d entries were readable, want %d", n, readable)
			}
			wantFault(t, last, fault.Tampered)
		})
	}
}

func TestDamagedHead(t *testing.T) {
	dir := closedHome(t, 2)
	alter(t, dir, "UPDATE entry SET hash = zeroblob(3) WHERE seq = 2")
	if _, err := open(t, dir).Head(t.Context(), "a"); !fault.Is(err, fault.Tampered) {
		t.Errorf("the head of a damaged chain: %v", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	open(b, dir)
	for b.Loop() {
		s, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
