package audit

import (
	"context"
	"encoding/base64"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// A proof that some entries are in a tree is the hashes of all largest subtrees that hold none of them, from left to
// right. With them and the entries themselves the root can be computed; whoever could find other entries
// that lead to it would have broken SHA-256. For one entry these are the hashes of RFC 6962's audit path; for a thousand
// neighbours they are hardly more.

// tiles reads hashes of full subtrees out of a ledger, each tile once.
type tiles struct {
	ctx    context.Context
	ledger Ledger
	cache  map[[2]uint64][]byte
}

func newTiles(ctx context.Context, l Ledger) *tiles {
	return &tiles{ctx: ctx, ledger: l, cache: map[[2]uint64][]byte{}}
}

// full is the root of the nth subtree of 2^rank leaves.
func (t *tiles) full(rank int, n uint64) (tlog.Hash, error) {
	level, within := rank/tileHeight, rank%tileHeight
	first := n << within
	key := [2]uint64{uint64(level), first >> tileHeight}
	hashes, ok := t.cache[key]
	if !ok {
		var err error
		if hashes, err = t.ledger.Tile(t.ctx, level, key[1]); err != nil {
			return tlog.Hash{}, err
		}
		t.cache[key] = hashes
	}
	from := int(first&(1<<tileHeight-1)) * digest.Size
	to := from + digest.Size<<within
	if len(hashes) < to {
		return tlog.Hash{}, fault.New(fault.Tampered, "tile %d/%d of the sealed tree is too short", level, key[1]).
			Remedy("run `cairn audit verify` to see what else is wrong, and put back a sound copy of the home")
	}
	var row []tlog.Hash
	for h := range slices.Chunk(hashes[from:to], digest.Size) {
		row = append(row, tlog.Hash(h))
	}
	for len(row) > 1 {
		for i := range len(row) / 2 {
			row[i] = tlog.NodeHash(row[2*i], row[2*i+1])
		}
		row = row[:len(row)/2]
	}
	return row[0], nil
}

// ReadHashes implements tlog.HashReader.
func (t *tiles) ReadHashes(indexes []int64) (out []tlog.Hash, err error) {
	for _, i := range indexes {
		rank, n := tlog.SplitStoredHashIndex(i)
		h, err := t.full(rank, uint64(n))
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// over is the hash over n leaves from lo on.
func (t *tiles) over(lo, n uint64) (tlog.Hash, error) {
	if n&(n-1) == 0 {
		rank := bits.TrailingZeros64(n)
		return t.full(rank, lo>>rank)
	}
	k := split(n)
	left, err := t.over(lo, k)
	if err != nil {
		return left, err
	}
	right, err := t.over(lo+k, n-k)
	return tlog.NodeHash(left, right), err
}

// split is the size of the left part of a tree of n leaves, n > 1.
func split(n uint64) uint64 { return 1 << (bits.Len64(n-1) - 1) }

// prove lists the hashes that prove the entries at some positions, ascending from 1, in a tree of some size.
func (t *tiles) prove(size uint64, positions []uint64) (proof []tlog.Hash, err error) {
	_, err = walk(0, size, positions,
		func(lo, n uint64) (tlog.Hash, error) {
			h, err := t.over(lo, n)
			proof = append(proof, h)
			return h, err
		},
		func(uint64) (tlog.Hash, error) { return tlog.Hash{}, nil })
	return proof, err
}

// walk computes the hash over n leaves from lo on: leaf gives those at the positions, other the largest subtrees
// that hold none of them.
func walk(lo, n uint64, positions []uint64, other func(lo, n uint64) (tlog.Hash, error), leaf func(pos uint64) (tlog.Hash, error)) (tlog.Hash, error) {
	switch {
	case len(positions) == 0:
		return other(lo, n)
	case n == 1:
		return leaf(positions[0])
	}
	k := split(n)
	at, _ := slices.BinarySearch(positions, lo+k+1)
	left, err := walk(lo, k, positions[:at], other, leaf)
	if err != nil {
		return left, err
	}
	right, err := walk(lo+k, n-k, positions[at:], other, leaf)
	return tlog.NodeHash(left, right), err
}

// provenRoot is the root of a tree of some size that holds the entries ids at positions, if proof proves them.
func provenRoot(size uint64, positions []uint64, ids []digest.ID, proof []tlog.Hash) (tlog.Hash, bool) {
	if len(positions) == 0 || len(positions) != len(ids) || positions[len(positions)-1] > size || size>>63 != 0 {
		return tlog.Hash{}, false
	}
	short := fault.New(fault.Tampered, "too few hashes")
	root, err := walk(0, size, positions,
		func(uint64, uint64) (h tlog.Hash, err error) {
			if len(proof) == 0 {
				return h, short
			}
			h, proof = proof[0], proof[1:]
			return h, nil
		},
		func(uint64) (tlog.Hash, error) {
			id := ids[0]
			ids = ids[1:]
			return tlog.RecordHash(id[:]), nil
		})
	return root, err == nil && len(proof) == 0
}

// spans writes ascending positions as stretches, one a line: 1-4, 9.
func spans(positions []uint64) (lines []string) {
	for i := 0; i < len(positions); {
		k := i
		for k+1 < len(positions) && positions[k+1] == positions[k]+1 {
			k++
		}
		line := strconv.FormatUint(positions[i], 10)
		if k > i {
			line += "-" + strconv.FormatUint(positions[k], 10)
		}
		lines = append(lines, line)
		i = k + 1
	}
	return lines
}

// parseSpans accepts exactly what spans writes, up to most positions.
func parseSpans(lines []string, most int) (positions []uint64, ok bool) {
	for _, l := range lines {
		a, b, two := strings.Cut(l, "-")
		from, err1 := strconv.ParseUint(a, 10, 62)
		to, err2 := from, error(nil)
		if two {
			to, err2 = strconv.ParseUint(b, 10, 62)
		}
		if err1 != nil || err2 != nil || from == 0 || to < from || to-from >= uint64(most-len(positions)) {
			return nil, false
		}
		for p := from; p <= to; p++ {
			positions = append(positions, p)
		}
	}
	return positions, slices.IsSorted(positions) && slices.Equal(spans(positions), lines)
}

func hashLines(hashes []tlog.Hash) (lines []string) {
	for _, h := range hashes {
		lines = append(lines, base64.StdEncoding.EncodeToString(h[:]))
	}
	return lines
}

func parseHashes(lines []string) (hashes []tlog.Hash, ok bool) {
	for _, l := range lines {
		b, err := base64.StdEncoding.Strict().DecodeString(l)
		if err != nil || len(b) != digest.Size || len(l) != base64.StdEncoding.EncodedLen(digest.Size) {
			return nil, false
		}
		hashes = append(hashes, tlog.Hash(b))
	}
	return hashes, true
}
