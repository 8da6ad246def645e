package sql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// maxWatched is how many rows of a table a preview compares.
const maxWatched = 10000

// Preview implements capability.Previewer: the statements are run, what they did is looked at, and rolled back.
func (Exec) Preview(ctx context.Context, call capability.Call) (capability.Preview, error) {
	call.Host = nil // nothing is kept of it
	b, ctx, done, err := begin(ctx, call, writing)
	if err != nil {
		return capability.Preview{}, err
	}
	defer done()
	p, err := b.rehearse(ctx, call)
	return p, b.stopped(ctx, err)
}

func (b begun) rehearse(ctx context.Context, call capability.Call) (p capability.Preview, err error) {
	for _, st := range b.all {
		p.Commands = append(p.Commands, st.text)
	}
	before := make([]sight, len(b.watch))
	for i, t := range b.watch {
		if before[i], err = b.look(ctx, t); err != nil && !fault.Is(err, fault.NotFound) {
			return p, err // it may be made by the statements themselves
		}
	}
	affected, err := b.runAll(ctx, call, nil)
	if err != nil {
		return p, err
	}
	p.Commands = append(p.Commands, fmt.Sprintf("-- %d rows affected", affected))
	var diff strings.Builder
	for i, t := range b.watch {
		after, err := b.look(ctx, t)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return p, err // or be dropped by them
		}
		if before[i].more || after.more {
			p.Unforeseen = append(p.Unforeseen, fmt.Sprintf("what changes in %s: it has more than %d rows", t.name, maxWatched))
			continue
		}
		compare(&diff, t, before[i], after)
	}
	p.Diff = diff.String()
	if b.postgres() {
		p.Unforeseen = append(p.Unforeseen, "sequences that were counted up stay so, and what others change meanwhile")
	}
	return p, b.end(ctx, false)
}

// sight is a table at one moment.
type sight struct {
	rows []string // as JSON
	keys []string // of the rows, by primary key; the whole row without one
	more bool
}

func (b begun) look(ctx context.Context, t table) (sight, error) {
	fields, err := b.shape(ctx, t)
	if err != nil {
		return sight{}, err
	}
	var s sight
	query := "SELECT * FROM " + t.quoted() + t.clause()
	if keys := names(fields, func(f field) bool { return f.key }); len(keys) > 0 {
		query += " ORDER BY " + strings.Join(keys, ", ")
	}
	var rows [][]json.RawMessage
	res, err := b.run(ctx, query, nil, func(row []json.RawMessage) bool {
		if len(rows) == maxWatched {
			s.more = true
		} else {
			rows = append(rows, row)
		}
		return !s.more || b.postgres() // there, stopping early would end the transaction
	})
	if err != nil {
		return s, err
	}
	for _, row := range rows {
		var whole, key bytes.Buffer
		writeRow(&whole, res.columns, row)
		for i, c := range res.columns {
			for _, f := range fields {
				if f.key && f.name == c.Name {
					key.Write(row[i])
					key.WriteByte(0)
				}
			}
		}
		if key.Len() == 0 {
			key = whole
		}
		s.rows, s.keys = append(s.rows, whole.String()), append(s.keys, key.String())
	}
	return s, nil
}

// compare writes what changed between two sights of a table, a row that changed as the two rows together.
func compare(w *strings.Builder, t table, before, after sight) {
	left := map[string]int{}
	now := map[string][]string{} // rows after, by key
	for i, row := range after.rows {
		left[row]++
		now[after.keys[i]] = append(now[after.keys[i]], row)
	}
	var lines []string
	told := map[string]bool{}
	kept := map[string]int{}
	for i, row := range before.rows {
		if left[row] > 0 {
			left[row]--
			kept[row]++
			continue
		}
		lines = append(lines, "-"+row)
		if to := now[before.keys[i]]; len(to) == 1 && to[0] != row && !told[to[0]] {
			lines = append(lines, "+"+to[0])
			told[to[0]] = true
		}
	}
	for _, row := range after.rows {
		switch {
		case kept[row] > 0:
			kept[row]--
		case !told[row]:
			lines = append(lines, "+"+row)
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(w, "--- %[1]s\n+++ %[1]s\n@@ %[2]d rows, %[3]d after @@\n%[4]s\n", t.name, len(before.rows), len(after.rows), strings.Join(lines, "\n"))
	}
}
