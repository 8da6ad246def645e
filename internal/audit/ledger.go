package audit

import (
	"context"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Leaf is an entry as the tree sees it.
type Leaf struct {
	Pos  uint64
	Hash digest.ID
}

// Tile is a stretch of up to 256 neighbouring hashes of one level, 32 bytes each: level 0 holds the
// leaves, level 1 the roots of full tiles of level 0, and so on. Only the last tile of a level may
// be shorter, and it grows.
type Tile struct {
	Level  int
	N      uint64
	Hashes []byte
}

// Head is a signed statement of the tree's root at a size.
type Head struct {
	Size uint64
	Note []byte
}

// Ledger keeps the sealed tree beside the entries it covers. It has six methods because the tree is
// written in one and each of the others reads one thing that verification must see for itself.
type Ledger interface {
	// Leaves yields the entries after a position, in order.
	Leaves(ctx context.Context, after uint64) iter.Seq2[Leaf, error]
	// Tile is nil when it is not there.
	Tile(ctx context.Context, level int, n uint64) ([]byte, error)
	// TileCount is the number of tiles of all levels.
	TileCount(ctx context.Context) (uint64, error)
	// NewestHead is the zero Head when nothing was sealed yet.
	NewestHead(ctx context.Context) (Head, error)
	// Heads yields all heads by size.
	Heads(ctx context.Context) iter.Seq2[Head, error]
	// Extend writes tiles, in place of shorter ones, and a head in one transaction. If the newest
	// head is not of size from: fault.Conflict.
	Extend(ctx context.Context, from uint64, tiles []Tile, head Head) error
}
