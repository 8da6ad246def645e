package audit

import (
	"os"
	"slices"
	"testing"
	"time"
)

// first is the smallest position of a report's findings, 0 when there is none.
func first(r TreeReport) uint64 {
	var positions []uint64
	for _, f := range r.Findings {
		if f.Position > 0 {
			positions = append(positions, f.Position)
		}
	}
	if len(positions) == 0 {
		return 0
	}
	return slices.Min(positions)
}

// TestVerifyTreeFinds damages a ledger of 600 entries with heads at 300, 600 and 600+10 unsealed.
func TestVerifyTreeFinds(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func(t *testing.T, s *sealed)
		first  uint64 // 0: a finding without a position
	}{
		"first entry":             {func(t *testing.T, s *sealed) { s.leaves[0].Hash[0] ^= 1 }, 1},
		"an entry in a full tile": {func(t *testing.T, s *sealed) { s.leaves[299].Hash[31] ^= 128 }, 300},
		"last sealed entry":       {func(t *testing.T, s *sealed) { s.leaves[599].Hash[3] ^= 4 }, 600},
		"two entries swapped": {func(t *testing.T, s *sealed) {
			s.leaves[410].Hash, s.leaves[411].Hash = s.leaves[411].Hash, s.leaves[410].Hash
		}, 411},
		"an entry dropped": {func(t *testing.T, s *sealed) { s.leaves = slices.Delete(s.leaves, 99, 100) }, 100},
		"an entry dropped, the rest moved up": {func(t *testing.T, s *sealed) {
			s.leaves = slices.Delete(s.leaves, 99, 100)
			for i := range s.leaves {
				s.leaves[i].Pos = uint64(i + 1)
			}
		}, 100},
		"cut after the first head": {func(t *testing.T, s *sealed) { s.leaves = s.leaves[:450] }, 451},
		"cut back to the first head": {func(t *testing.T, s *sealed) {
			s.leaves, s.heads = s.leaves[:300], s.heads[:1]
			var again tree
			for _, l := range s.leaves {
				again.add(l.Hash)
			}
			clear(s.tiles)
			for _, tile := range again.take() {
				s.tiles[[2]uint64{uint64(tile.Level), tile.N}] = tile.Hashes
			}
		}, 301},
		"tile altered":       {func(t *testing.T, s *sealed) { s.tiles[[2]uint64{0, 1}][32*4] ^= 1 }, 261},
		"upper tile altered": {func(t *testing.T, s *sealed) { s.tiles[[2]uint64{1, 0}][32] ^= 1 }, 257},
		"tile missing":       {func(t *testing.T, s *sealed) { delete(s.tiles, [2]uint64{0, 1}) }, 257},
		"last tile cut": {func(t *testing.T, s *sealed) {
			k := [2]uint64{0, 2}
			s.tiles[k] = s.tiles[k][:32*3]
		}, 516},
		"tile too many": {func(t *testing.T, s *sealed) { s.tiles[[2]uint64{3, 9}] = make([]byte, 32) }, 0},
		"head altered":  {func(t *testing.T, s *sealed) { s.heads[0].Note[20] ^= 1 }, 300},
		"head of a stranger": {func(t *testing.T, s *sealed) {
			c, err := s.key.Check(s.heads[1])
			if err != nil {
				t.Fatal(err)
			}
			if s.heads[1], err = testKey(t).Sign(c); err != nil {
				t.Fatal(err)
			}
		}, 600},
		"head of another tree": {func(t *testing.T, s *sealed) {
			h, err := s.key.Sign(Checkpoint{Size: 600, Time: time.Unix(0, 0)})
			if err != nil {
				t.Fatal(err)
			}
			s.heads[1] = h
		}, 301},
		"copy altered": {func(t *testing.T, s *sealed) {
			b, err := os.ReadFile(s.copy)
			if err != nil {
				t.Fatal(err)
			}
			b[30] ^= 1
			if err := os.WriteFile(s.copy, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}, 600},
		"copy replaced": {func(t *testing.T, s *sealed) {
			if err := os.WriteFile(s.copy, []byte("hello"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSealed(t, 300)
			s.seal(t)
			s.append(300)
			s.seal(t)
			s.append(10)
			s.wantSound(t, 610, 600, 2)
			tc.damage(t, &s)
			r := s.verify(t)
			if len(r.Findings) == 0 || first(r) != tc.first {
				t.Errorf("want a first bad position of %d, found %+v", tc.first, r.Findings)
			}
		})
	}
}

// TestVerifyTreeBits flips every bit of every sealed hash of a small ledger.
func TestVerifyTreeBits(t *testing.T) {
	s := newSealed(t, 5)
	s.seal(t)
	for i := range s.leaves {
		for bit := range 256 {
			s.leaves[i].Hash[bit/8] ^= 1 << (bit % 8)
			if r := s.verify(t); first(r) != uint64(i+1) {
				t.Fatalf("bit %d of entry %d: %+v", bit, i+1, r.Findings)
			}
			s.leaves[i].Hash[bit/8] ^= 1 << (bit % 8)
		}
	}
	s.wantSound(t, 5, 5, 1)
}
