package sqlite

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

// A home from before days were counted keeps all that it has, and counts from now on.
func TestHomeWithoutDaysIsUpgraded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Append(t.Context(), journaltest.Chain("p", journal.Head{}, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := dial(filepath.Join(dir, FileName), mustExist, 0)
	if err != nil {
		t.Fatal(err)
	}
	undo := "PRAGMA user_version = 1"
	for _, later := range scripts()[1:] {
		for _, made := range regexp.MustCompile(`CREATE (?:VIRTUAL )?TABLE (\w+)`).FindAllStringSubmatch(later, -1) {
			undo += "; DROP TABLE " + made[1]
		}
	}
	if err := c.script(undo); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	r, err := s.Reserve(t.Context(), "2026-01-02", "k", budget.Amount{Calls: 1}, budget.Amount{Calls: 1})
	if err != nil || r.Short != "" || r.Held.Calls != 1 {
		t.Errorf("%+v (%v)", r, err)
	}
	if turn, err := s.Book(t.Context(), "k", time.Unix(9, 0), time.Time{}, []budget.Claim{{Key: "a", Times: 1, Per: time.Second}}); err != nil || !turn.At.Equal(time.Unix(9, 0)) {
		t.Errorf("%+v (%v)", turn, err)
	}
	if head, err := s.Head(t.Context(), "p"); err != nil || head.Seq != 3 {
		t.Errorf("the journal ends at %d (%v)", head.Seq, err)
	}
}
