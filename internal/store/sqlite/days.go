package sqlite

import (
	"context"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
)

var _ budget.Days = (*Store)(nil)

const selectDay = "SELECT spent_time, spent_cost, spent_calls, spent_tokens, held_time, held_cost, held_calls, held_tokens, " +
	"raised_time, raised_cost, raised_calls, raised_tokens FROM day WHERE day = ?"

// Reserve implements budget.Days. Reading, deciding and writing are one transaction, so two processes cannot both have the last
// of something.
func (s *Store) Reserve(ctx context.Context, day, key string, want, limit budget.Amount) (r budget.Reading, err error) {
	err = s.writer.do(ctx, func(c *conn) (error, error) {
		r = budget.Reading{}
		if err := c.query(selectDay, []any{day}, readDay(&r)); err != nil {
			return nil, err
		}
		known, err := c.number("SELECT count(*) FROM reservation WHERE key = ?", key)
		if err != nil || known > 0 {
			return nil, err
		}
		p := budget.Purse{Spent: r.Spent, Held: r.Held, Raised: r.Raised}
		if answer, short := p.Ask(limit, want); answer != budget.Yes {
			r.Short = short
			return nil, nil
		}
		r.Held = r.Held.Plus(want)
		if err := c.exec("INSERT INTO reservation (key, day, time, cost, calls, tokens) VALUES (?,?,?,?,?,?)",
			key, day, int64(want.Time), want.Cost, want.Calls, want.Tokens); err != nil {
			return nil, err
		}
		return nil, addToDay(c, "held", day, want)
	})
	return r, err
}

// Settle implements budget.Days.
func (s *Store) Settle(ctx context.Context, key string, spent budget.Amount) error {
	return s.writer.do(ctx, func(c *conn) (error, error) {
		day, held := "", budget.Amount{}
		err := c.query("SELECT day, time, cost, calls, tokens FROM reservation WHERE key = ?", []any{key}, func(row []value) bool {
			day, _ = row[0].(string)
			held = amountFrom(row[1:])
			return false
		})
		if err != nil || day == "" {
			return nil, err
		}
		if err := c.exec("DELETE FROM reservation WHERE key = ?", key); err != nil {
			return nil, err
		}
		if err := c.exec("UPDATE day SET held_time = held_time - ?, held_cost = held_cost - ?, held_calls = held_calls - ?, "+
			"held_tokens = held_tokens - ? WHERE day = ?", int64(held.Time), held.Cost, held.Calls, held.Tokens, day); err != nil {
			return nil, err
		}
		return nil, addToDay(c, "spent", day, spent)
	})
}

// Raise implements budget.Days.
func (s *Store) Raise(ctx context.Context, day string, by budget.Amount) error {
	return s.writer.do(ctx, func(c *conn) (error, error) { return nil, addToDay(c, "raised", day, by) })
}

// Day implements budget.Days.
func (s *Store) Day(ctx context.Context, day string) (r budget.Reading, err error) {
	err = s.read(ctx, selectDay, []any{day}, readDay(&r))
	return r, err
}

// addToDay adds an amount to one of the sums of a day.
func addToDay(c *conn, sum, day string, a budget.Amount) error {
	if err := c.exec("INSERT INTO day (day) VALUES (?) ON CONFLICT DO NOTHING", day); err != nil {
		return err
	}
	set := ""
	for i, unit := range []string{"time", "cost", "calls", "tokens"} {
		if i > 0 {
			set += ", "
		}
		set += sum + "_" + unit + " = " + sum + "_" + unit + " + ?"
	}
	return c.exec("UPDATE day SET "+set+" WHERE day = ?", int64(a.Time), a.Cost, a.Calls, a.Tokens, day)
}

func readDay(r *budget.Reading) func([]value) bool {
	return func(row []value) bool {
		r.Spent, r.Held, r.Raised = amountFrom(row), amountFrom(row[4:]), amountFrom(row[8:])
		return false
	}
}

func amountFrom(row []value) budget.Amount {
	n := func(i int) int64 { v, _ := row[i].(int64); return v }
	return budget.Amount{Time: time.Duration(n(0)), Cost: n(1), Calls: n(2), Tokens: n(3)}
}
