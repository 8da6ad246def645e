// Package budgettest is the contract of a ledger of days: what every implementation does, so that two processes on one home
// never spend the same money.
package budgettest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
)

// Open opens one place; called again it opens the same place as another process would.
type Open func(t *testing.T) budget.Days

const today, tomorrow = "2026-01-02", "2026-01-03"

// Run checks an implementation. place makes a new, empty one.
func Run(t *testing.T, place func(t *testing.T) Open) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"reserve and settle", testSettle},
		{"refuse", testRefuse},
		{"again", testAgain},
		{"raise", testRaise},
		{"two processes", testTwo},
		{"every unit", testUnits},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, place(t)) })
	}
}

// slot is a key on a day.
type slot struct{ day, key string }

func reserve(t *testing.T, d budget.Days, at slot, want, limit budget.Amount) budget.Reading {
	t.Helper()
	r, err := d.Reserve(t.Context(), at.day, at.key, want, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func settle(t *testing.T, d budget.Days, key string, spent budget.Amount) {
	t.Helper()
	if err := d.Settle(t.Context(), key, spent); err != nil {
		t.Fatal(err)
	}
}

// stands checks how a day stands, as another process sees it.
func stands(t *testing.T, open Open, day string, spent, held int64) {
	t.Helper()
	r, err := open(t).Day(t.Context(), day)
	if err != nil || r.Spent.Calls != spent || r.Held.Calls != held {
		t.Errorf("%s stands at %d spent and %d held (%v), want %d and %d", day, r.Spent.Calls, r.Held.Calls, err, spent, held)
	}
}

func calls(n int64) budget.Amount { return budget.Amount{Calls: n} }

func testSettle(t *testing.T, open Open) {
	d := open(t)
	stands(t, open, today, 0, 0)
	reserve(t, d, slot{today, "a"}, calls(3), calls(10))
	stands(t, open, today, 0, 3)
	settle(t, d, "a", calls(2))
	stands(t, open, today, 2, 0)
	settle(t, d, "a", calls(2)) // it is settled
	settle(t, d, "zz", calls(2))
	stands(t, open, today, 2, 0)
	stands(t, open, tomorrow, 0, 0)
}

func testRefuse(t *testing.T, open Open) {
	d := open(t)
	reserve(t, d, slot{today, "a"}, calls(3), calls(4))
	if r := reserve(t, d, slot{today, "b"}, calls(2), calls(4)); r.Short != budget.Calls || r.Held.Calls != 3 {
		t.Errorf("%+v", r)
	}
	stands(t, open, today, 0, 3)
	if r := reserve(t, d, slot{tomorrow, "c"}, calls(2), calls(4)); r.Short != "" {
		t.Errorf("another day is short of %s", r.Short)
	}
	settle(t, d, "a", calls(1))
	if r := reserve(t, d, slot{today, "b"}, calls(2), calls(4)); r.Short != "" {
		t.Errorf("what came back is still short of %s", r.Short)
	}
}

func testAgain(t *testing.T, open Open) {
	d := open(t)
	for range 3 {
		if r := reserve(t, d, slot{today, "a"}, calls(3), calls(4)); r.Short != "" {
			t.Errorf("a reservation that is there was refused")
		}
	}
	stands(t, open, today, 0, 3)
}

func testRaise(t *testing.T, open Open) {
	d := open(t)
	reserve(t, d, slot{today, "a"}, calls(4), calls(4))
	if err := open(t).Raise(t.Context(), today, calls(1)); err != nil {
		t.Fatal(err)
	}
	if r := reserve(t, d, slot{today, "b"}, calls(1), calls(4)); r.Short != "" || r.Raised.Calls != 1 {
		t.Errorf("%+v", r)
	}
	if r := reserve(t, d, slot{today, "c"}, calls(1), calls(4)); r.Short != budget.Calls {
		t.Error("more than was raised was given")
	}
}

// testTwo has two processes with many workers each take all they can get.
func testTwo(t *testing.T, open Open) {
	const limit = 25
	var got atomic.Int64
	var wg sync.WaitGroup
	for p, d := range []budget.Days{open(t), open(t)} {
		for w := range 8 {
			wg.Go(func() {
				for n := range 10 {
					key := fmt.Sprint(p, w, n)
					r, err := d.Reserve(t.Context(), today, key, calls(1), calls(limit))
					if err != nil {
						t.Error(err)
						return
					}
					if r.Short != "" {
						continue
					}
					got.Add(1)
					if err := d.Settle(t.Context(), key, calls(1)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if got.Load() != limit {
		t.Errorf("%d calls were had of %d", got.Load(), limit)
	}
	stands(t, open, today, limit, 0)
}

func testUnits(t *testing.T, open Open) {
	d := open(t)
	all := budget.Amount{Time: time.Hour, Cost: 5e6, Calls: 3, Tokens: 1000}
	reserve(t, d, slot{today, "a"}, all, all)
	for _, u := range budget.Units {
		if r := reserve(t, d, slot{today, "b"}, budget.Amount{}.With(u, 1), all); r.Short != u {
			t.Errorf("of %s there is none left, not of %s", u, r.Short)
		}
	}
	settle(t, d, "a", all.With(budget.Time, int64(time.Minute)))
	r, err := open(t).Day(t.Context(), today)
	if err != nil || r.Spent != all.With(budget.Time, int64(time.Minute)) || !r.Held.IsZero() {
		t.Errorf("%+v (%v)", r, err)
	}
}
