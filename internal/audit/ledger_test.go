package audit

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// memory is a ledger in memory, open to every kind of tampering. The one in SQLite is tested in its
// own package.
type memory struct {
	mu     sync.Mutex
	leaves []Leaf
	tiles  map[[2]uint64][]byte
	heads  []Head
	fail   error // what Extend answers once
}

func newMemory(n int) *memory {
	m := &memory{tiles: map[[2]uint64][]byte{}}
	m.append(n)
	return m
}

func (m *memory) append(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		pos := uint64(len(m.leaves) + 1)
		m.leaves = append(m.leaves, Leaf{pos, digest.Parts("entry", strconv.FormatUint(pos, 10))})
	}
}

func (m *memory) Leaves(ctx context.Context, after uint64) iter.Seq2[Leaf, error] {
	m.mu.Lock()
	leaves := slices.Clone(m.leaves)
	m.mu.Unlock()
	return func(yield func(Leaf, error) bool) {
		for _, l := range leaves {
			if l.Pos > after && !yield(l, nil) {
				return
			}
		}
	}
}

func (m *memory) Tile(ctx context.Context, level int, n uint64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tiles[[2]uint64{uint64(level), n}]), nil
}

func (m *memory) TileCount(ctx context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.tiles)), nil
}

func (m *memory) NewestHead(ctx context.Context) (h Head, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.heads); n > 0 {
		h = m.heads[n-1]
	}
	return h, nil
}

func (m *memory) Heads(ctx context.Context) iter.Seq2[Head, error] {
	m.mu.Lock()
	heads := slices.Clone(m.heads)
	m.mu.Unlock()
	return func(yield func(Head, error) bool) {
		for _, h := range heads {
			if !yield(h, nil) {
				return
			}
		}
	}
}

func (m *memory) Extend(ctx context.Context, from uint64, tiles []Tile, head Head) error {
	newest, _ := m.NewestHead(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fail; err != nil {
		m.fail = nil
		return err
	}
	if newest.Size != from {
		return fault.New(fault.Conflict, "sealed to %d meanwhile", newest.Size)
	}
	for _, t := range tiles {
		m.tiles[[2]uint64{uint64(t.Level), t.N}] = slices.Clone(t.Hashes)
	}
	m.heads = append(m.heads, head)
	return nil
}

func testKey(t *testing.T) *Key {
	t.Helper()
	k, err := LoadKey(KeyPath(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	return k
}
