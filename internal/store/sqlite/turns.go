package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
)

var _ budget.Turns = (*Store)(nil)

// Book implements budget.Turns. Reading, deciding and writing are one transaction, so two processes cannot both have the last
// turn of a stretch.
func (s *Store) Book(ctx context.Context, who string, now, by time.Time, claims []budget.Claim) (t budget.Turn, err error) {
	err = s.writer.do(ctx, func(c *conn) (error, error) {
		booked := map[string][]time.Time{}
		for _, cl := range claims {
			if err := readTurns(c, cl, now, booked); err != nil {
				return nil, err
			}
		}
		t = budget.Fit(now, claims, func(key string) []time.Time { return booked[key] })
		if !by.IsZero() && t.At.After(by) {
			return nil, nil
		}
		for key := range booked {
			if err := c.exec("INSERT INTO turn (key, at, who, waits) VALUES (?,?,?,?)", key, t.At.UnixNano(), who, truth(key == t.Key)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return t, err
}

// readTurns finds what is booked under the key of a claim, and forgets what nobody counts any more.
func readTurns(c *conn, cl budget.Claim, now time.Time, booked map[string][]time.Time) error {
	if err := c.exec("INSERT INTO pace (key, keep) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET keep = max(keep, ?2)", cl.Key, int64(cl.Per)); err != nil {
		return err
	}
	if err := c.exec("DELETE FROM turn WHERE key = ?1 AND at <= ?2 - (SELECT keep FROM pace WHERE key = ?1)", cl.Key, now.UnixNano()); err != nil {
		return err
	}
	all := []time.Time{}
	err := c.query("SELECT at FROM turn WHERE key = ? ORDER BY at", []any{cl.Key}, func(row []value) bool {
		all = append(all, instant(row[0]))
		return true
	})
	booked[cl.Key] = all
	return err
}

// Cancel implements budget.Turns.
func (s *Store) Cancel(ctx context.Context, who string, at time.Time) error {
	return s.writer.do(ctx, func(c *conn) (error, error) {
		return nil, c.exec("DELETE FROM turn WHERE at = ? AND who = ?", at.UnixNano(), who)
	})
}

// Waiting implements budget.Turns.
func (s *Store) Waiting(ctx context.Context, prefix string, now time.Time) (all []budget.Waiter, err error) {
	err = s.read(ctx, "SELECT key, who, at FROM turn WHERE at > ? AND waits = 1 AND substr(who, 1, length(?2)) = ?2 ORDER BY at",
		[]any{now.UnixNano(), prefix}, func(row []value) bool {
			key, _ := row[0].(string)
			who, _ := row[1].(string)
			all = append(all, budget.Waiter{Key: key, Who: who, At: instant(row[2])})
			return true
		})
	return slices.Clip(all), err
}

func instant(v value) time.Time {
	n, _ := v.(int64)
	return time.Unix(0, n)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
