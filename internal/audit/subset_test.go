package audit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// subset picks positions out of a tree of some size, at least one.
func subset(r *rand.Rand, size uint64) (positions []uint64) {
	for len(positions) == 0 {
		for p := range size {
			if r.IntN(4) == 0 {
				positions = append(positions, p+1)
			}
		}
	}
	return positions
}

func hashesAt(m *memory, positions []uint64) (ids []digest.ID) {
	for _, p := range positions {
		ids = append(ids, m.leaves[p-1].Hash)
	}
	return ids
}

func TestSubsetsAreProved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := newSealed(t, 0)
	for size := uint64(1); size < 700; size++ {
		s.append(1)
		if size > 40 && size%37 != 0 && size%256 > 1 {
			continue
		}
		s.seal(t)
		signed, err := s.key.Check(s.heads[len(s.heads)-1])
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			positions := subset(r, size)
			ids := hashesAt(s.memory, positions)
			proof, err := newTiles(t.Context(), s.memory).prove(size, positions)
			if err != nil {
				t.Fatal(err)
			}
			root, ok := provenRoot(size, positions, ids, proof)
			if !ok || root != signed.Root {
				t.Fatalf("size %d, positions %v: %v %v", size, positions, ok, root)
			}
			wantUnproved(t, signed, positions, ids, proof)
		}
	}
}

// wantUnproved spoils a proof in every way that it can be.
func wantUnproved(t *testing.T, signed Checkpoint, positions []uint64, ids []digest.ID, proof []tlog.Hash) {
	t.Helper()
	other := slices.Clone(ids)
	other[len(other)/2][3] ^= 1
	for what, ok := range map[string]bool{
		"another entry": proves(signed, positions, other, proof),
		"a hash more":   proves(signed, positions, ids, append(slices.Clone(proof), tlog.Hash{})),
		"a hash less":   len(proof) > 0 && proves(signed, positions, ids, proof[1:]),
		"an entry less": proves(signed, positions, ids[1:], proof),
		"no entry":      proves(signed, nil, nil, proof),
		"beyond":        proves(signed, []uint64{signed.Size + 1}, ids[:1], proof),
	} {
		if ok {
			t.Fatalf("size %d, positions %v: %s proves the same", signed.Size, positions, what)
		}
	}
}

func proves(signed Checkpoint, positions []uint64, ids []digest.ID, proof []tlog.Hash) bool {
	root, ok := provenRoot(signed.Size, positions, ids, proof)
	return ok && root == signed.Root
}

// For one entry the hashes are those of RFC 6962, by an implementation that is not ours.
func TestProofOfOneEntryIsAnAuditPath(t *testing.T) {
	s := newSealed(t, 300)
	s.seal(t)
	tiles := newTiles(t.Context(), s.memory)
	for _, pos := range []uint64{1, 2, 128, 256, 257, 300} {
		ours, err := tiles.prove(300, []uint64{pos})
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := tlog.ProveRecord(300, int64(pos-1), tiles)
		if err != nil {
			t.Fatal(err)
		}
		if len(ours) != len(theirs) {
			t.Fatalf("%d hashes, and %d by RFC 6962", len(ours), len(theirs))
		}
		for _, h := range theirs {
			if !slices.Contains(ours, h) {
				t.Errorf("position %d: %s is not among ours", pos, h)
			}
		}
	}
	k := [2]uint64{0, 1}
	s.tiles[k] = s.tiles[k][:32]
	_, err := newTiles(t.Context(), s.memory).prove(300, []uint64{1})
	wantFault(t, err, fault.Tampered, "too short")
	_, err = newTiles(t.Context(), s.memory).ReadHashes([]int64{tlog.StoredHashIndex(0, 299)})
	wantFault(t, err, fault.Tampered, "too short")
}

func FuzzSpans(f *testing.F) {
	f.Add("1-3\n5")
	f.Add("7")
	f.Add("2-2\n1")
	f.Add("1-99999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		lines := noteLines([]byte(text))
		positions, ok := parseSpans(lines, 1000)
		if ok && (!slices.Equal(spans(positions), lines) || !slices.IsSorted(positions) || len(positions) > 1000) {
			t.Errorf("%q was read as %v", text, positions)
		}
	})
}
