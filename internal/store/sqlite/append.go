package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// Append implements journal.Store.
func (s *Store) Append(ctx context.Context, entries []journal.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	for i := range entries {
		if e, first := &entries[i], &entries[0]; e.Plan != first.Plan || e.Seq != first.Seq+journal.Seq(i) {
			return fault.New(fault.Internal, "append of %s#%d after %s#%d: the entries of one append follow each other in one plan",
				e.Plan, e.Seq, first.Plan, first.Seq)
		}
	}
	return s.writer.do(ctx, func(c *conn) (error, error) { return s.writer.append(c, entries) })
}

// append writes the entries if they continue the plan's chain.
func (w *writer) append(c *conn, entries []journal.Entry) (refusal, err error) {
	name, first := entries[0].Plan, entries[0].Seq
	id, err := w.planID(c, name)
	if err != nil {
		return nil, err
	}
	head, err := w.head(c, id)
	if err != nil {
		return nil, err
	}
	if first != head.Seq+1 {
		return fault.New(fault.Conflict, "plan %s has %d records, so record %d does not follow", name, head.Seq, first).
			Remedy("another process wrote to the plan: read it again and repeat the command"), nil
	}
	if id == 0 {
		if id, err = w.addPlan(c, name); err != nil {
			return nil, err
		}
	}
	if err := insert(c, id, w.last, entries); err != nil {
		return nil, err
	}
	w.last += uint64(len(entries))
	w.heads[id] = entries[len(entries)-1].Head()
	return nil, nil
}

// planID is 0 for a plan that has no entries yet.
func (w *writer) planID(c *conn, name string) (int64, error) {
	if id, ok := w.plans[name]; ok {
		return id, nil
	}
	id, err := c.number(selectPlan, name)
	if err == nil && id != 0 {
		w.plans[name] = id
	}
	return id, err
}

func (w *writer) addPlan(c *conn, name string) (int64, error) {
	if err := c.exec("INSERT INTO plan (name) VALUES (?)", name); err != nil {
		return 0, err
	}
	id, err := c.number("SELECT last_insert_rowid()")
	w.plans[name] = id
	return id, err
}

func (w *writer) head(c *conn, id int64) (journal.Head, error) {
	if h, ok := w.heads[id]; ok || id == 0 {
		return h, nil
	}
	h, err := readHead(c, id)
	if err == nil {
		w.heads[id] = h
	}
	return h, err
}

// rowsAtOnce is how many rows one statement inserts where there are that many: a tenth faster than
// one by one, and no faster beyond.
const rowsAtOnce = 8

const (
	insertOne  = "INSERT INTO entry (position, plan, seq, hash, bytes) VALUES (?,?,?,?,?)"
	insertCols = 5
)

var insertMany = insertOne + strings.Repeat(",(?,?,?,?,?)", rowsAtOnce-1)

// insert writes entries at the positions after last.
func insert(c *conn, plan int64, last uint64, entries []journal.Entry) error {
	for len(entries) > 0 {
		sql, n := insertOne, 1
		if len(entries) >= rowsAtOnce {
			sql, n = insertMany, rowsAtOnce
		}
		s, err := c.stmt(sql)
		if err != nil {
			return err
		}
		if len(s.args) == 0 {
			s.args = make([]driver.NamedValue, n*insertCols)
			for i := range s.args {
				s.args[i].Ordinal = i + 1
			}
		}
		for i := range entries[:n] {
			e, a := &entries[i], s.args[i*insertCols:]
			last++
			a[0].Value, a[1].Value, a[2].Value = int64(last), plan, int64(e.Seq)
			a[3].Value, a[4].Value = e.Hash[:], nonNil(e.Bytes)
		}
		err = s.run(s.args)
		if err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// nonNil keeps an empty slice from being stored as NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
