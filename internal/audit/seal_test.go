package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// sealed is a ledger with its sealer and the copy of its newest head.
type sealed struct {
	*memory
	*Sealer
	key  *Key
	copy string
}

func newSealed(t *testing.T, n int) sealed {
	t.Helper()
	home := t.TempDir()
	key, err := LoadKey(KeyPath(home))
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory(n)
	return sealed{m, NewSealer(m, key, HeadPath(home), time.Now), key, HeadPath(home)}
}

func (s sealed) seal(t *testing.T) {
	t.Helper()
	if err := s.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s sealed) verify(t *testing.T) TreeReport {
	t.Helper()
	r, err := VerifyTree(t.Context(), s.memory, s.key.Verifier, s.copy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s sealed) wantSound(t *testing.T, entries, covered uint64, heads int) {
	t.Helper()
	r := s.verify(t)
	if len(r.Findings) != 0 || r.Entries != entries || r.Sealed != covered || r.Heads != heads {
		t.Fatalf("report %+v, want %d entries, %d sealed, %d heads and no finding", r, entries, covered, heads)
	}
}

func TestSealGrows(t *testing.T) {
	s := newSealed(t, 0)
	s.seal(t)
	s.wantSound(t, 0, 0, 0)
	total, heads := 0, 0
	for _, n := range []int{1, 1, 254, 1, 255, 256, 1000, 0, 3} {
		s.append(n)
		s.seal(t)
		if total += n; n > 0 {
			heads++
		}
		s.wantSound(t, uint64(total), uint64(total), heads)
		// A sealer that knows nothing goes on just as well.
		s.Sealer = NewSealer(s.memory, s.key, s.copy, time.Now)
	}
	s.append(5)
	s.wantSound(t, uint64(total+5), uint64(total), heads)
}

func TestSealTogether(t *testing.T) {
	s := newSealed(t, 0)
	var wg sync.WaitGroup
	for range 4 {
		other := NewSealer(s.memory, s.key, s.copy, time.Now)
		wg.Go(func() {
			for range 30 {
				s.append(37)
				if err := other.Seal(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s.seal(t)
	r := s.verify(t)
	if len(r.Findings) != 0 || r.Sealed != 4*30*37 {
		t.Fatalf("%+v", r)
	}
}

func TestSealGoesOnAfterAFailure(t *testing.T) {
	s := newSealed(t, 300)
	s.seal(t)
	s.append(300)
	boom := errors.New("boom")
	s.fail = boom
	if err := s.Seal(t.Context()); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	s.append(1)
	s.seal(t)
	s.wantSound(t, 601, 601, 2)
}

func TestSealStopsWithItsContext(t *testing.T) {
	s := newSealed(t, 3)
	s.fail = fault.New(fault.Conflict, "always somebody else")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Seal(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSealRefuses lists what must not be signed over.
func TestSealRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func(t *testing.T, s *sealed)
		says   string
	}{
		"cut back":       {func(t *testing.T, s *sealed) { s.heads, s.leaves = s.heads[:1], s.leaves[:300] }, "cut back"},
		"all heads gone": {func(t *testing.T, s *sealed) { s.heads = nil }, "cut back"},
		"another key":    {func(t *testing.T, s *sealed) { s.key = testKey(t) }, "not signed by the key"},
		"tile changed":   {func(t *testing.T, s *sealed) { s.tiles[[2]uint64{0, 2}][40] ^= 1 }, "do not give the root"},
		"tile cut": {func(t *testing.T, s *sealed) {
			k := [2]uint64{0, 2}
			s.tiles[k] = s.tiles[k][:32]
		}, "bytes instead of"},
		"entry missing": {func(t *testing.T, s *sealed) { s.leaves = slices.Delete(s.leaves, 600, 601) }, "no entry at position 601"},
		"copy is no head": {func(t *testing.T, s *sealed) {
			if err := os.WriteFile(s.copy, []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "holds no signed head"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSealed(t, 300)
			s.seal(t)
			s.append(300)
			s.seal(t)
			s.append(10)
			tc.damage(t, &s)
			heads := len(s.heads)
			err := NewSealer(s.memory, s.key, s.copy, time.Now).Seal(t.Context())
			wantFault(t, err, fault.Tampered, tc.says)
			if len(s.heads) != heads {
				t.Error("it signed all the same")
			}
		})
	}
}

func TestCopyCannotBeWritten(t *testing.T) {
	s := newSealed(t, 3)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Sealer = NewSealer(s.memory, s.key, filepath.Join(file, "head"), time.Now)
	err := s.Seal(t.Context())
	if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}

func TestBackground(t *testing.T) {
	s := newSealed(t, 10)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Background(ctx) }()
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		s.wantSound(t, 10, 10, 1)
		time.Sleep(10 * time.Second) // nothing was appended, nothing is signed
		synctest.Wait()
		s.wantSound(t, 10, 10, 1)
		s.append(5)
		time.Sleep(time.Second)
		synctest.Wait()
		s.wantSound(t, 15, 15, 2)
		s.append(7)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s.wantSound(t, 22, 22, 3)
	})
}

func TestBackgroundEndsWithAnError(t *testing.T) {
	s := newSealed(t, 10)
	s.fail = errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		if err := s.Background(t.Context()); err == nil || err.Error() != "boom" {
			t.Errorf("got %v", err)
		}
	})
}
