package sqlite

import (
	"testing"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/budget/budgettest"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Stores { return stores(t, t.TempDir()) })
}

func stores(t *testing.T, dir string) journaltest.Stores {
	s := open(t, dir)
	return journaltest.Stores{Store: s, Holder: s, Mailbox: s,
		Again: func(t *testing.T) journaltest.Stores { return stores(t, dir) }}
}

func TestDays(t *testing.T) {
	budgettest.Run(t, func(t *testing.T) budgettest.Open {
		dir := t.TempDir()
		return func(t *testing.T) budget.Days { return open(t, dir) }
	})
}

func TestTurns(t *testing.T) {
	budgettest.RunTurns(t, func(t *testing.T) budgettest.OpenTurns {
		dir := t.TempDir()
		return func(t *testing.T) budget.Turns { return open(t, dir) }
	})
}
