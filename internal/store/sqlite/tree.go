package sqlite

import (
	"context"
	"iter"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
)

// leafRows is a page of leaves: they are small, and a seal after a burst wants many.
const leafRows = 8192

// Leaves implements audit.Ledger.
func (s *Store) Leaves(ctx context.Context, after uint64) iter.Seq2[audit.Leaf, error] {
	return func(yield func(audit.Leaf, error) bool) {
		for more := true; more; {
			var leaves []audit.Leaf
			var bad error
			err := s.read(ctx, "SELECT position, hash FROM entry WHERE position > ? ORDER BY position LIMIT ?",
				[]any{int64(after), int64(leafRows)}, func(row []value) bool {
					pos, _ := row[0].(int64)
					leaf := audit.Leaf{Pos: uint64(pos)}
					if bad = hashFrom(row[1], &leaf.Hash); bad == nil {
						leaves = append(leaves, leaf)
					}
					return bad == nil
				})
			for _, leaf := range leaves {
				if !yield(leaf, nil) {
					return
				}
				after = leaf.Pos
			}
			if err == nil {
				err = bad
			}
			if err != nil {
				yield(audit.Leaf{}, err)
				return
			}
			more = len(leaves) == leafRows
		}
	}
}

// Tile implements audit.Ledger.
func (s *Store) Tile(ctx context.Context, level int, n uint64) (hashes []byte, err error) {
	err = s.read(ctx, "SELECT hashes FROM tile WHERE level = ? AND n = ?", []any{int64(level), int64(n)},
		func(row []value) bool {
			hashes, _ = row[0].([]byte)
			return false
		})
	return hashes, err
}

// TileCount implements audit.Ledger.
func (s *Store) TileCount(ctx context.Context) (n uint64, err error) {
	err = s.read(ctx, "SELECT count(*) FROM tile", nil, func(row []value) bool {
		count, _ := row[0].(int64)
		n = uint64(count)
		return false
	})
	return n, err
}

const selectHeads = "SELECT size, note FROM head"

// NewestHead implements audit.Ledger.
func (s *Store) NewestHead(ctx context.Context) (h audit.Head, err error) {
	err = s.read(ctx, selectHeads+" ORDER BY size DESC LIMIT 1", nil, func(row []value) bool {
		h = headFrom(row)
		return false
	})
	return h, err
}

// Heads implements audit.Ledger.
func (s *Store) Heads(ctx context.Context) iter.Seq2[audit.Head, error] {
	return func(yield func(audit.Head, error) bool) {
		for last, more := int64(-1), true; more; {
			var heads []audit.Head
			err := s.read(ctx, selectHeads+" WHERE size > ? ORDER BY size LIMIT ?", []any{last, int64(pageRows)},
				func(row []value) bool {
					heads = append(heads, headFrom(row))
					return true
				})
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
				last = int64(h.Size)
			}
			if err != nil {
				yield(audit.Head{}, err)
				return
			}
			more = len(heads) == pageRows
		}
	}
}

func headFrom(row []value) audit.Head {
	size, _ := row[0].(int64)
	note, _ := row[1].([]byte)
	return audit.Head{Size: uint64(size), Note: note}
}

// Extend implements audit.Ledger.
func (s *Store) Extend(ctx context.Context, from uint64, tiles []audit.Tile, head audit.Head) error {
	return s.writer.do(ctx, func(c *conn) (refusal, err error) {
		newest, err := c.number("SELECT max(size) FROM head")
		if err != nil {
			return nil, err
		}
		if uint64(newest) != from {
			return fault.New(fault.Conflict, "the tree was sealed to %d meanwhile, not %d", newest, from), nil
		}
		for _, t := range tiles {
			if err := c.exec("INSERT INTO tile (level, n, hashes) VALUES (?,?,?) ON CONFLICT DO UPDATE SET hashes = excluded.hashes",
				int64(t.Level), int64(t.N), t.Hashes); err != nil {
				return nil, err
			}
		}
		return nil, c.exec("INSERT INTO head (size, note) VALUES (?,?)", int64(head.Size), head.Note)
	})
}
