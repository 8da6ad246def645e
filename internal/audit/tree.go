package audit

import (
	"context"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// tileHeight is how many levels of the tree lie between two levels of tiles: a full tile has
// 2^tileHeight hashes.
const (
	tileHeight = 8
	tileBytes  = digest.Size << tileHeight
)

// tree is the right edge of a Merkle tree (RFC 6962): enough to add leaves, to tell the root and to
// write the tiles that have changed.
type tree struct {
	size  uint64
	peaks []peak // roots of the full subtrees, left to right, ever smaller
	edge  []Tile // by level: the last tile, empty when the one before is full
	done  []Tile // filled since the last take
	dirty []bool // by level: edge has grown since the last take
}

// peak is the root of a full subtree of 2^rank leaves.
type peak struct {
	hash tlog.Hash
	rank int
}

// add appends the entry whose hash is id. A leaf is the hash of that hash, as RFC 6962 has it, so
// that no inner node can be taken for a leaf.
func (t *tree) add(id digest.ID) {
	t.push(tlog.RecordHash(id[:]), 0, true)
	t.size++
}

// push appends the root of a full subtree and joins what has become full. Each root whose rank is a
// multiple of the tile height is a tile's next hash; keep is false when the tiles have it already.
func (t *tree) push(h tlog.Hash, rank int, keep bool) {
	for {
		if keep && rank%tileHeight == 0 {
			t.store(rank/tileHeight, h)
		}
		n := len(t.peaks) - 1
		if n < 0 || t.peaks[n].rank != rank {
			t.peaks = append(t.peaks, peak{h, rank})
			return
		}
		h = tlog.NodeHash(t.peaks[n].hash, h)
		t.peaks = t.peaks[:n]
		rank++
	}
}

func (t *tree) store(level int, h tlog.Hash) {
	t.grow(level + 1)
	e := &t.edge[level]
	e.Hashes = append(e.Hashes, h[:]...)
	t.dirty[level] = true
	if len(e.Hashes) == tileBytes {
		t.done = append(t.done, *e)
		t.dirty[level] = false
		*e = Tile{Level: level, N: e.N + 1}
	}
}

func (t *tree) grow(levels int) {
	for len(t.edge) < levels {
		t.edge = append(t.edge, Tile{Level: len(t.edge)})
		t.dirty = append(t.dirty, false)
	}
}

// root is the hash over all leaves. An empty tree has the hash of nothing.
func (t *tree) root() tlog.Hash {
	if len(t.peaks) == 0 {
		return tlog.Hash(digest.Sum(nil))
	}
	h := t.peaks[len(t.peaks)-1].hash
	for _, p := range slices.Backward(t.peaks[:len(t.peaks)-1]) {
		h = tlog.NodeHash(p.hash, h)
	}
	return h
}

// take returns the tiles that changed since it was last called.
func (t *tree) take() []Tile {
	out := t.done
	t.done = nil
	for level := range t.edge {
		if t.dirty[level] {
			t.dirty[level] = false
			e := t.edge[level]
			e.Hashes = slices.Clone(e.Hashes)
			out = append(out, e)
		}
	}
	return out
}

// load restores the edge of a tree of some size from its last tiles.
func load(ctx context.Context, l Ledger, size uint64) (*tree, error) {
	t := &tree{size: size}
	for n := size; n > 0; n >>= tileHeight {
		t.grow(len(t.edge) + 1)
	}
	for level := len(t.edge) - 1; level >= 0; level-- {
		e := &t.edge[level]
		count := size >> (tileHeight * level)
		e.N = count >> tileHeight
		width := int(count&(1<<tileHeight-1)) * digest.Size
		if width == 0 {
			continue
		}
		hashes, err := l.Tile(ctx, level, e.N)
		if err != nil {
			return nil, err
		}
		// Another process may have sealed since: the tile is longer then, and begins the same.
		if len(hashes) < width {
			return nil, fault.New(fault.Tampered, "tile %d/%d of the sealed tree has %d bytes instead of %d", level, e.N, len(hashes), width).
				Remedy("run `cairn audit verify` to see what else is wrong, and put back a sound copy of the home")
		}
		hashes = hashes[:width:width]
		e.Hashes = hashes
		for h := range slices.Chunk(hashes, digest.Size) {
			t.push(tlog.Hash(h), tileHeight*level, false)
		}
	}
	return t, nil
}

// tileCount is how many tiles a tree of some size has.
func tileCount(size uint64) (n uint64) {
	for ; size > 0; size >>= tileHeight {
		n += (size + 1<<tileHeight - 1) >> tileHeight
	}
	return n
}
