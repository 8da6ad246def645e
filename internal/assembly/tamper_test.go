//go:build unix

package assembly_test

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// shown is a journal that shows other entries than it has.
type shown struct {
	journal.Store
	entries []journal.Entry
}

func (s *shown) Read(context.Context, string, journal.Seq) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range s.entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

const little = `
plan: little
tasks:
  - {id: a, uses: shell, run: echo hello}
  - {id: b, uses: noop, needs: [a], with: {outputs: {x: "${a.stdout}"}}}
  - {id: c, uses: shell, needs: [b], run: exit 3, next: {failure: [d]}}
  - {id: d}
`

func TestEveryFlippedBitIsFound(t *testing.T) {
	_, h := finished(t, little)
	defer h.Close()
	home := proof(t, h)
	var entries []journal.Entry
	for e, err := range h.Store.Read(context.Background(), "little", 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	s := &shown{Store: h.Store}
	home.Journal = s
	first := func() journal.Seq {
		rep, err := audit.VerifyPlan(context.Background(), home, "little")
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Damage) == 0 {
			return 0
		}
		return rep.Damage[0].Seq
	}
	s.entries = entries
	if n := first(); n != 0 {
		t.Fatalf("record %d is damaged before anything was done to it", n)
	}
	for k := range entries {
		for i := range entries[k].Bytes {
			for bit := range 8 {
				if underRace && bit != i%8 {
					continue // one bit of each byte has to do where each takes its time
				}
				bad := slices.Clone(entries[k].Bytes)
				bad[i] ^= 1 << bit
				s.entries = slices.Clone(entries)
				s.entries[k].Bytes = bad
				if n := first(); n != entries[k].Seq {
					t.Fatalf("bit %d of byte %d of record %d was flipped, and record %d is named", bit, i, entries[k].Seq, n)
				}
			}
		}
		for bit := range 256 {
			s.entries = slices.Clone(entries)
			s.entries[k].Hash[bit/8] ^= 1 << (bit % 8)
			if n := first(); n != entries[k].Seq {
				t.Fatalf("bit %d of the hash of record %d was flipped, and record %d is named", bit, entries[k].Seq, n)
			}
		}
	}
	for k := range len(entries) - 1 {
		s.entries = slices.Concat(entries[:k], entries[k+1:])
		if n := first(); n != entries[k].Seq {
			t.Errorf("record %d was dropped, and record %d is named", entries[k].Seq, n)
		}
		s.entries = slices.Clone(entries)
		s.entries[k], s.entries[k+1] = s.entries[k+1], s.entries[k]
		if n := first(); n != entries[k].Seq {
			t.Errorf("records %d and %d were exchanged, and record %d is named", k+1, k+2, n)
		}
	}
}

// A journal that is rewritten whole, hashes and all, is given away by the signed tree.
func TestRewritingTheDatabaseIsFound(t *testing.T) {
	for name, do := range map[string]string{
		"altered":          `UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), 'hello', 'hullo') AS BLOB) WHERE CAST(bytes AS TEXT) LIKE '%hello%'`,
		"dropped":          `DELETE FROM entry WHERE position = 5`,
		"truncated":        `DELETE FROM entry WHERE position > 6`,
		"exchanged":        `UPDATE entry SET hash = (SELECT hash FROM entry WHERE position = 4) WHERE position = 3`,
		"truncated-sealed": `DELETE FROM entry WHERE position > 6; DELETE FROM head; DELETE FROM tile`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, h := finished(t, little)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", filepath.Join(dir, ".cairn", "cairn.db"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(do); err != nil {
				t.Fatal(err)
			}
			db.Close()
			h, err = assembly.Open(context.Background(), options(dir, ""))
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			rep, err := audit.Verify(context.Background(), proof(t, h))
			if err != nil {
				t.Fatal(err)
			}
			if rep.Sound() {
				t.Error("nothing is wrong with it")
			}
		})
	}
}

func TestArtifactsThatAreMissingOrAlteredAreFound(t *testing.T) {
	dir, h := finished(t, "plan: art\ntasks: [{id: a, uses: shell, run: 'head -c 9000 /dev/zero | tr \"\\0\" x'}]\n")
	defer h.Close()
	var blob string
	err := filepath.Walk(filepath.Join(dir, ".cairn", "artifacts"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Size() == 9000 {
			blob = path
		}
		return err
	})
	if err != nil || blob == "" {
		t.Fatalf("no blob of 9000 bytes: %v", err)
	}
	verify := func() string {
		rep, err := audit.Verify(context.Background(), proof(t, h))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rep.Plans[0].Damage)
	}
	if err := os.Chmod(blob, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blob, []byte(strings.Repeat("y", 9000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := verify(); !strings.Contains(got, "whose content was altered") {
		t.Error(got)
	}
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	if got := verify(); !strings.Contains(got, "which is missing") {
		t.Error(got)
	}
}

// finished carries a plan out, seals it and opens its home.
func finished(t *testing.T, text string) (string, *assembly.House) {
	t.Helper()
	dir := folder(t, text)
	if err := carryOut(dir, ""); err != nil {
		t.Fatal(err)
	}
	h, err := assembly.Open(context.Background(), options(dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	return dir, h
}

func proof(t *testing.T, h *assembly.House) audit.Home {
	t.Helper()
	home, err := h.Audit()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func TestWithoutItsKeyAHomeCanBeReadButNotSealed(t *testing.T) {
	dir, h := finished(t, little)
	h.Close()
	if err := os.Remove(audit.KeyPath(filepath.Join(dir, ".cairn"))); err != nil {
		t.Fatal(err)
	}
	h, err := assembly.Open(context.Background(), options(dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	rep, err := audit.Verify(context.Background(), proof(t, h))
	if err != nil || !rep.Sound() {
		t.Error(err, rep)
	}
	if err := h.Seal(context.Background()); !fault.Is(err, fault.NotFound) {
		t.Errorf("it was sealed without a key: %v", err)
	}
}
