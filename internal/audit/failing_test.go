package audit

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"
)

var errDisk = errors.New("the disk failed")

// failing is a ledger whose nth call fails.
type failing struct {
	*memory
	left int
}

func (f *failing) next() error {
	if f.left--; f.left == -1 {
		return errDisk
	}
	return nil
}

func (f *failing) Leaves(ctx context.Context, after uint64) iter.Seq2[Leaf, error] {
	return failEach(f, f.memory.Leaves(ctx, after))
}

func (f *failing) Heads(ctx context.Context) iter.Seq2[Head, error] {
	return failEach(f, f.memory.Heads(ctx))
}

func failEach[T any](f *failing, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if e := f.next(); e != nil {
				err = e
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (f *failing) Tile(ctx context.Context, level int, n uint64) ([]byte, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.memory.Tile(ctx, level, n)
}

func (f *failing) TileCount(ctx context.Context) (uint64, error) {
	if err := f.next(); err != nil {
		return 0, err
	}
	return f.memory.TileCount(ctx)
}

func (f *failing) NewestHead(ctx context.Context) (Head, error) {
	if err := f.next(); err != nil {
		return Head{}, err
	}
	return f.memory.NewestHead(ctx)
}

// TestEveryReadMayFail lets each read of a verification and of a seal fail in turn: the failure is
// told, never taken for an answer.
func TestEveryReadMayFail(t *testing.T) {
	s := newSealed(t, 260)
	s.seal(t)
	s.append(3)
	for _, tc := range []struct {
		name string
		run  func(l Ledger) error
	}{
		{"verify", func(l Ledger) error {
			r, err := VerifyTree(t.Context(), l, s.key.Verifier, s.copy)
			if err == nil && len(r.Findings) > 0 {
				t.Errorf("a failure was taken for tampering: %+v", r.Findings)
			}
			return err
		}},
		{"seal", func(l Ledger) error { return NewSealer(l, s.key, s.copy, time.Now).Seal(t.Context()) }},
	} {
		fails := 0
		for n := 0; ; n++ {
			f := &failing{memory: s.memory, left: n}
			err := tc.run(f)
			if f.left >= 0 { // fewer calls than that
				if err != nil {
					t.Fatalf("%s: %v", tc.name, err)
				}
				break
			}
			if !errors.Is(err, errDisk) {
				t.Fatalf("%s, call %d failed: got %v", tc.name, n, err)
			}
			fails++
		}
		if fails < 3 {
			t.Errorf("%s made %d calls only", tc.name, fails)
		}
	}
}
