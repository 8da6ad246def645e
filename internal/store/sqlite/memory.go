package sqlite

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
)

var _ memory.Store = (*Store)(nil)

const factColumns = "f.id, f.scope, f.of, f.key, f.value, f.source, f.confidence, f.expires, f.time, f.author, f.supersedes, f.forgotten, f.why, f.effect"

// PutFact implements memory.Store. Finding the current fact, linking it and writing are one transaction.
func (s *Store) PutFact(ctx context.Context, f memory.Fact) (memory.Fact, error) {
	source, err := json.Marshal(f.Source)
	if err != nil {
		return f, fault.Wrap(fault.Internal, err, "write the source of %s", f.Key)
	}
	err = s.writer.do(ctx, func(c *conn) (error, error) {
		if f.Effect != "" {
			before, err := facts(c, "f.effect = ? AND f.effect <> ''", f.Effect)
			if err != nil {
				return nil, err
			}
			if len(before) > 0 {
				f = before[0]
				return nil, nil
			}
		}
		current, err := facts(c, "f.scope = ? AND f.of = ? AND f.key = ? AND f.superseded = 0", string(f.Scope), f.Of, f.Key)
		if err != nil {
			return nil, err
		}
		last, err := c.number("SELECT max(id) FROM fact")
		if err != nil {
			return nil, err
		}
		f.ID, f.Supersedes = last+1, 0
		for _, old := range current {
			f.Supersedes = old.ID
			if err := supersede(c, old, f.ID); err != nil {
				return nil, err
			}
		}
		return nil, insertFact(c, f, source)
	})
	return f, err
}

func insertFact(c *conn, f memory.Fact, source []byte) error {
	forgotten := int64(0)
	if f.Forgotten {
		forgotten = 1
	}
	if err := c.exec("INSERT INTO fact (id, scope, of, key, value, source, confidence, expires, time, author, supersedes, forgotten, why, effect) "+
		"VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", f.ID, string(f.Scope), f.Of, f.Key, orEmpty(f.Value), source, int64(math.Round(f.Confidence*1000)),
		nanos(f.Expires), nanos(f.Time), f.Author, f.Supersedes, forgotten, f.Why, f.Effect); err != nil {
		return err
	}
	if f.Forgotten {
		return nil
	}
	t := termsOf(f)
	if err := c.exec("INSERT INTO fact_text (rowid, name, body, hangul) VALUES (?,?,?,?)", f.ID,
		strings.Join(t.name, " "), strings.Join(t.body, " "), strings.Join(t.hangul, " ")); err != nil {
		return err
	}
	for _, term := range t.unique() {
		if err := c.exec("INSERT INTO fact_term (term, seen) VALUES (?, 1) ON CONFLICT (term) DO UPDATE SET seen = seen + 1", term); err != nil {
			return err
		}
	}
	return nil
}

// supersede links a fact to the one that takes its place, and takes it out of the index.
func supersede(c *conn, old memory.Fact, by int64) error {
	if err := c.exec("UPDATE fact SET superseded = ? WHERE id = ?", by, old.ID); err != nil || old.Forgotten {
		return err
	}
	if err := c.exec("DELETE FROM fact_text WHERE rowid = ?", old.ID); err != nil {
		return err
	}
	for _, term := range termsOf(old).unique() {
		if err := c.exec("UPDATE fact_term SET seen = seen - 1 WHERE term = ?", term); err != nil {
			return err
		}
	}
	return nil
}

// factTerms is what the index holds of a fact.
type factTerms struct{ name, body, hangul []string }

func termsOf(f memory.Fact) factTerms {
	name, inName := memory.Terms(f.Key)
	body, inBody := memory.Terms(memory.Text(f.Value))
	return factTerms{name, body, append(inName, inBody...)}
}

func (t factTerms) unique() []string {
	all := slices.Concat(t.name, t.body, t.hangul)
	slices.Sort(all)
	return slices.Compact(all)
}

// Facts implements memory.Store.
func (s *Store) Facts(ctx context.Context, key string, p memory.Place) ([]memory.Fact, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	all, err := facts(c, "f.scope = ? AND f.of = ? AND f.key = ? ORDER BY f.id DESC", string(p.Scope), p.Of, key)
	s.done(c, err)
	return all, s.explain(err)
}

// FactKeys implements memory.Store.
func (s *Store) FactKeys(ctx context.Context, in []memory.Place) (keys []string, err error) {
	where, args := places(in)
	err = s.read(ctx, "SELECT DISTINCT f.key FROM fact f WHERE f.superseded = 0 AND f.forgotten = 0 AND "+where+" ORDER BY f.key", args, func(row []value) bool {
		keys = append(keys, text(row[0]))
		return true
	})
	return keys, err
}

// facts reads those that fit a condition.
func facts(c *conn, where string, args ...any) (all []memory.Fact, err error) {
	var broken error
	err = c.query("SELECT "+factColumns+" FROM fact f WHERE "+where, args, func(row []value) bool {
		f, err := readFact(row)
		all, broken = append(all, f), err
		return err == nil
	})
	if err == nil {
		err = broken
	}
	return all, err
}

func readFact(row []value) (memory.Fact, error) {
	n := func(i int) int64 { v, _ := row[i].(int64); return v }
	f := memory.Fact{
		ID: n(0), Place: memory.Place{Scope: memory.Scope(text(row[1])), Of: text(row[2])}, Key: text(row[3]),
		Confidence: float64(n(6)) / 1000, Expires: moment(n(7)), Time: moment(n(8)), Author: text(row[9]),
		Supersedes: n(10), Forgotten: n(11) != 0, Why: text(row[12]), Effect: text(row[13]),
	}
	if b, _ := row[4].([]byte); len(b) > 0 {
		f.Value = b
	}
	source, _ := row[5].([]byte)
	if err := json.Unmarshal(source, &f.Source); err != nil {
		return f, fault.Wrap(fault.Tampered, err, "the source of fact %d cannot be read", f.ID).Remedy("put back a copy of the home made before the damage")
	}
	return f, nil
}

func text(v value) string { s, _ := v.(string); return s }

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// places is a condition for facts of any of the places.
func places(in []memory.Place) (string, []any) {
	if len(in) == 0 {
		return "0", nil
	}
	var args []any
	parts := make([]string, len(in))
	for i, p := range in {
		parts[i] = "(f.scope = ? AND f.of = ?)"
		args = append(args, string(p.Scope), p.Of)
	}
	return "(" + strings.Join(parts, " OR ") + ")", args
}
