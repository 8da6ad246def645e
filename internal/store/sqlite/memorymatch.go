package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/memory"
)

// maxFollowed is how many entries of the index a search follows. Ranking costs some microseconds for each, so this, and not
// the number of facts, bounds the time of a search.
const maxFollowed = 1500

// MatchFacts implements memory.Store. Rare terms are followed first; common ones only as far as the bound allows, for what
// they alone would find is hardly better than chance. Where every term is common the newest facts that hold all of them,
// or the rarest, are taken.
func (s *Store) MatchFacts(ctx context.Context, q memory.Query) (m memory.Matches, err error) {
	c, err := s.reader(ctx)
	if err != nil {
		return m, err
	}
	found, err := match(c, q)
	s.done(c, err)
	return memory.Matches(found), s.explain(err)
}

type matches memory.Matches

func match(c *conn, q memory.Query) (m matches, err error) {
	m.Seen = map[string]int{}
	var known []string
	for _, t := range q.Terms {
		n, err := c.number("SELECT seen FROM fact_term WHERE term = ?", t)
		if err != nil {
			return m, err
		}
		if m.Seen[t] = int(n); n > 0 {
			known = append(known, t)
		}
	}
	total, err := c.number("SELECT max(id) FROM fact") // superseded ones too, which is near enough to tell rare from common
	if err != nil || len(known) == 0 {
		return m, err
	}
	m.Total = int(total)
	slices.SortStableFunc(known, func(a, b string) int { return cmp.Compare(m.Seen[a], m.Seen[b]) })
	if rare := followed(known, m.Seen); len(rare) > 0 {
		err = m.read(c, anyOf(rare, " OR "), byRank, q)
		return m, err
	}
	err = m.read(c, anyOf(known, " AND "), byAge, q)
	if err == nil && len(m.Facts) == 0 {
		err = m.read(c, anyOf(known[:1], ""), byAge, q)
	}
	return m, err
}

// followed takes terms, rarest first, as long as the entries to follow stay within bounds.
func followed(known []string, seen map[string]int) []string {
	sum := 0
	for i, t := range known {
		if sum += seen[t]; sum > maxFollowed {
			return known[:i]
		}
	}
	return known
}

// anyOf writes a query of FTS5. Terms hold letters and digits only, and quotes keep AND and NEAR from being syntax.
func anyOf(terms []string, between string) string {
	return `"` + strings.Join(terms, `"`+between+`"`) + `"`
}

// The orders in which facts are read. Ranking visits all that fit, so what is common is read newest first and not ranked.
// Rank must stand alone: FTS5 then sorts by itself, before a row of fact is looked at.
var (
	byRank = order{score: "t.rank", by: "t.rank"}
	byAge  = order{score: "0.0", by: "t.rowid DESC"}
)

type order struct{ score, by string }

// read adds the facts that fit an expression.
func (m *matches) read(c *conn, expression string, o order, q memory.Query) error {
	where, args := places(q.In)
	sql := "SELECT " + factColumns + ", " + o.score + " FROM fact_text t CROSS JOIN fact f ON f.id = t.rowid " +
		"WHERE t.fact_text MATCH ? AND (f.expires = 0 OR f.expires > ?) AND " + where + " ORDER BY " + o.by + " LIMIT ?"
	args = append(append([]any{expression, nanos(q.Alive)}, args...), int64(q.Limit))
	var broken error
	err := c.query(sql, args, func(row []value) bool {
		f, err := readFact(row)
		score, _ := row[len(row)-1].(float64)
		m.Facts, m.Score, broken = append(m.Facts, f), append(m.Score, -score), err // FTS5 has the best lowest
		return err == nil
	})
	return cmp.Or(err, broken)
}
