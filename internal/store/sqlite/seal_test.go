package sqlite

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

func init() { roles["seal"] = roleSeal }

func sealer(s *Store) (*audit.Sealer, *audit.Key, error) {
	key, err := audit.LoadKey(audit.KeyPath(s.dir))
	if err != nil {
		return nil, nil, err
	}
	return audit.NewSealer(s, key, audit.HeadPath(s.dir), time.Now), key, nil
}

// roleSeal appends and seals in turns.
func roleSeal(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	seal, _, err := sealer(s)
	if err != nil {
		return err
	}
	entries := journaltest.Chain(args[1], journal.Head{}, 600)
	for i := 0; i < len(entries); i += 20 {
		if err := s.Append(ctx, entries[i:i+20]); err != nil {
			return err
		}
		if err := seal.Seal(ctx); err != nil {
			return err
		}
	}
	return nil
}

func verifyTree(t *testing.T, dir string) audit.TreeReport {
	t.Helper()
	s := open(t, dir)
	v, err := audit.LoadVerifier(audit.KeyPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.VerifyTree(t.Context(), s, v, audit.HeadPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSealersOfManyProcesses lets several processes append to and seal one home.
func TestSealersOfManyProcesses(t *testing.T) {
	dir := t.TempDir()
	const procs = 3
	errs := make(chan error, procs)
	for i := range procs {
		cmd := play(t, "seal", dir, fmt.Sprint("p", i))
		go func() {
			out, err := cmd.Output()
			if err != nil {
				err = fmt.Errorf("%s%w", out, err)
			}
			errs <- err
		}()
	}
	for range procs {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	r := verifyTree(t, dir)
	if len(r.Findings) != 0 || r.Entries != procs*600 || r.Sealed != procs*600 {
		t.Fatalf("%+v", r)
	}
}

// TestTampering changes a sealed home in every way that SQL allows.
func TestTampering(t *testing.T) {
	const n = 700
	for script, first := range map[string]uint64{
		"UPDATE entry SET hash = zeroblob(32) WHERE position = 400":                 400,
		"UPDATE entry SET hash = zeroblob(31) WHERE position = 12":                  12,
		"DELETE FROM entry WHERE position = 300":                                    300,
		"DELETE FROM entry WHERE position > 650":                                    651,
		"DELETE FROM entry WHERE position > 500; DELETE FROM head WHERE size > 500": 501,
		"DELETE FROM entry; DELETE FROM head; DELETE FROM tile":                     1,
		"UPDATE tile SET hashes = zeroblob(8192) WHERE level = 0 AND n = 1":         257,
		"DELETE FROM tile WHERE level = 1":                                          1,
		"UPDATE head SET note = zeroblob(10) WHERE size = 500":                      500,
		"UPDATE entry SET position = -1 WHERE position = 7; UPDATE entry SET position = 7 WHERE position = 8;" +
			"UPDATE entry SET position = 8 WHERE position = -1": 7,
	} {
		t.Run(script, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			seal, _, err := sealer(s)
			if err != nil {
				t.Fatal(err)
			}
			entries := journaltest.Chain("a", journal.Head{}, n)
			for _, part := range [][]journal.Entry{entries[:500], entries[500:]} {
				if err := s.Append(t.Context(), part); err != nil {
					t.Fatal(err)
				}
				if err := seal.Seal(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if r := verifyTree(t, dir); len(r.Findings) != 0 || r.Heads != 2 || r.Sealed != n {
				t.Fatalf("%+v", r)
			}
			alter(t, dir, script)
			r := verifyTree(t, dir)
			lowest := uint64(1 << 62)
			for _, f := range r.Findings {
				if f.Position > 0 {
					lowest = min(lowest, f.Position)
				}
			}
			if lowest != first {
				t.Errorf("want a first bad position of %d, found %+v", first, r.Findings)
			}
		})
	}
}

// TestSealIsCheap seals 10,000 entries into few rows, and again when nothing is new into none.
func TestSealIsCheap(t *testing.T) {
	s := open(t, t.TempDir())
	seal, key, err := sealer(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), journaltest.Chain("a", journal.Head{}, 10_000)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := seal.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tiles, err := s.TileCount(t.Context())
	if err != nil || tiles != 41 {
		t.Errorf("%d tiles (%v), want 41", tiles, err)
	}
	h, err := s.NewestHead(t.Context())
	if err != nil || h.Size != 10_000 {
		t.Fatalf("head of size %d (%v)", h.Size, err)
	}
	if _, err := key.Check(h); err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(audit.HeadPath(s.dir)); err != nil || string(kept) != string(h.Note) {
		t.Errorf("the copy of the head is %q (%v)", kept, err)
	}
	err = s.Extend(t.Context(), 5, nil, audit.Head{Size: 6})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("an extension from the past: %v", err)
	}
}

// BenchmarkSeal seals 10,000 entries.
func BenchmarkSeal(b *testing.B) {
	s := open(b, b.TempDir())
	seal, _, err := sealer(s)
	if err != nil {
		b.Fatal(err)
	}
	head := journal.Head{}
	for b.Loop() {
		b.StopTimer()
		entries := chain("a", head, 10_000)
		head = entries[len(entries)-1].Head()
		if err := s.Append(context.Background(), entries); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := seal.Seal(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
