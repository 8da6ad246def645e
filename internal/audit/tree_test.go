package audit

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/digest"
)

// stored is tlog's own storage of every hash, the yardstick for ours.
type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = s[x]
	}
	return out, nil
}

// TestTreeIsThatOfTlog grows both trees leaf by leaf and compares roots and tiles.
func TestTreeIsThatOfTlog(t *testing.T) {
	const n = 256*3 + 7
	var ours tree
	var theirs stored
	tiles := map[string][]byte{}
	for i := range int64(n) {
		id := digest.Parts(fmt.Sprint(i))
		ours.add(id)
		hashes, err := tlog.StoredHashes(i, id[:], theirs)
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, hashes...)
		root, err := tlog.TreeHash(i+1, theirs)
		if err != nil || ours.root() != root {
			t.Fatalf("root of %d leaves differs (%v)", i+1, err)
		}
		for _, tile := range ours.take() {
			tiles[fmt.Sprint(tile.Level, tile.N)] = tile.Hashes
		}
		if i%100 != 0 && i != n-1 {
			continue
		}
		if want := tileCount(uint64(i + 1)); uint64(len(tiles)) != want {
			t.Fatalf("%d tiles of %d leaves, want %d", len(tiles), i+1, want)
		}
		for _, tile := range tlog.NewTiles(tileHeight, 0, i+1) {
			want, err := tlog.ReadTileData(tile, theirs)
			if got := tiles[fmt.Sprint(tile.L, tile.N)]; err != nil || len(got) < len(want) || string(got[:len(want)]) != string(want) {
				t.Fatalf("tile %v of %d leaves differs (%v)", tile, i+1, err)
			}
		}
	}
}

func TestEmptyTree(t *testing.T) {
	var ours tree
	theirs, err := tlog.TreeHash(0, stored{})
	if err != nil || ours.root() != theirs {
		t.Fatalf("the empty tree's root is %v, want %v (%v)", ours.root(), theirs, err)
	}
	if tileCount(0) != 0 || len(ours.take()) != 0 {
		t.Error("an empty tree has tiles")
	}
}

// TestLoad restores a tree from its tiles and goes on: it makes no difference where it was cut.
func TestLoad(t *testing.T) {
	for _, first := range []int{255, 256, 257, 256*256 - 1, 256 * 256, 256*256 + 1} {
		goOn(t, first, 300)
	}
	rapid.Check(t, func(t *rapid.T) {
		goOn(t, rapid.IntRange(0, 1500).Draw(t, "first"), rapid.IntRange(0, 600).Draw(t, "more"))
	})
}

func goOn(t rapid.TB, first, more int) {
	m := newMemory(first + more)
	var whole tree
	for _, l := range m.leaves[:first] {
		whole.add(l.Hash)
	}
	if err := m.Extend(context.Background(), 0, whole.take(), Head{Size: uint64(first)}); err != nil {
		t.Fatal(err)
	}
	again, err := load(context.Background(), m, uint64(first))
	if err != nil || again.root() != whole.root() {
		t.Fatalf("loaded at %d: another root (%v)", first, err)
	}
	for _, l := range m.leaves[first:] {
		whole.add(l.Hash)
		again.add(l.Hash)
	}
	a, b := whole.take(), again.take()
	if again.root() != whole.root() || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("from %d to %d: another tree", first, first+more)
	}
}
