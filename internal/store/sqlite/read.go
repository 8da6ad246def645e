package sqlite

import (
	"context"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

const (
	selectPlan   = "SELECT id FROM plan WHERE name = ?"
	selectOfPlan = "SELECT position, plan, seq, hash, bytes FROM entry WHERE plan = ? AND seq > ? ORDER BY seq LIMIT ?"
	selectAll    = "SELECT position, plan, seq, hash, bytes FROM entry WHERE position > ? ORDER BY position LIMIT ?"
	selectHead   = "SELECT seq, hash FROM entry WHERE plan = ? ORDER BY seq DESC LIMIT 1"
)

// A page is what is read at a time, so that a slow consumer keeps no transaction open and the WAL
// can be emptied meanwhile. Entries are never changed, so pages fit together.
const (
	pageRows  = 1024
	pageBytes = 4 << 20
)

// Read implements journal.Store.
func (s *Store) Read(ctx context.Context, plan string, after journal.Seq) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		id, err := s.planID(ctx, plan)
		if err != nil {
			yield(journal.Entry{}, err)
			return
		}
		if id == 0 {
			return
		}
		s.pages(ctx, yield, func(p *page) (string, []any) {
			if p.last.Seq > after {
				after = p.last.Seq
			}
			return selectOfPlan, []any{id, int64(after), int64(pageRows)}
		})
	}
}

// All implements journal.Store.
func (s *Store) All(ctx context.Context, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		s.pages(ctx, yield, func(p *page) (string, []any) {
			after = max(after, p.last.Pos)
			return selectAll, []any{int64(after), int64(pageRows)}
		})
	}
}

// Head implements journal.Store.
func (s *Store) Head(ctx context.Context, plan string) (journal.Head, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return journal.Head{}, err
	}
	var h journal.Head
	id, err := c.number(selectPlan, plan)
	if err == nil && id != 0 {
		h, err = readHead(c, id)
	}
	s.done(c, err)
	return h, s.explain(err)
}

func readHead(c *conn, id int64) (h journal.Head, err error) {
	var bad error
	err = c.query(selectHead, []any{id}, func(row []value) bool {
		seq, _ := row[0].(int64)
		h.Seq = journal.Seq(seq)
		bad = hashFrom(row[1], &h.Hash)
		return false
	})
	if err == nil {
		err = bad
	}
	return h, err
}

// Plans implements journal.Store.
func (s *Store) Plans(ctx context.Context) ([]string, error) {
	var names []string
	err := s.read(ctx, "SELECT name FROM plan ORDER BY name", nil, func(row []value) bool {
		name, _ := row[0].(string)
		names = append(names, name)
		return true
	})
	return names, err
}

func (s *Store) planID(ctx context.Context, name string) (id int64, err error) {
	err = s.read(ctx, selectPlan, []any{name}, func(row []value) bool {
		id, _ = row[0].(int64)
		return false
	})
	return id, err
}

// page is a stretch of entries.
type page struct {
	entries []journal.Entry
	plans   []int64 // of each entry
	named   int64   // the plan whose name was looked up last
	name    string
	last    journal.Entry
	bytes   int
	more    bool
	bad     error
}

// pages yields the entries that next's queries find, until a page comes out short.
func (s *Store) pages(ctx context.Context, yield func(journal.Entry, error) bool, next func(*page) (string, []any)) {
	p := &page{more: true}
	for p.more {
		sql, args := next(p)
		if err := s.fill(ctx, p, sql, args); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		for _, e := range p.entries {
			if !yield(e, nil) {
				return
			}
		}
		if p.bad != nil {
			yield(journal.Entry{}, p.bad)
			return
		}
	}
}

func (s *Store) fill(ctx context.Context, p *page, sql string, args []any) error {
	p.entries, p.plans, p.bytes, p.more = p.entries[:0], p.plans[:0], 0, false
	if err := s.read(ctx, sql, args, p.add); err != nil {
		return err
	}
	p.more = p.more || len(p.entries) == pageRows
	if err := s.nameAll(ctx, p); err != nil {
		return err
	}
	if n := len(p.entries); n > 0 {
		p.last = p.entries[n-1]
	}
	return nil
}

// add takes one row; it answers false when the page is full or the row is damaged.
func (p *page) add(row []value) bool {
	pos, ok1 := row[0].(int64)
	plan, ok2 := row[1].(int64)
	seq, ok3 := row[2].(int64)
	e := journal.Entry{Seq: journal.Seq(seq), Pos: uint64(pos)}
	e.Bytes, _ = row[4].([]byte)
	if p.bad = hashFrom(row[3], &e.Hash); p.bad != nil || !ok1 || !ok2 || !ok3 {
		p.bad = fault.New(fault.Tampered, "the journal's row at position %d is damaged", pos).
			Remedy("put back a copy of the home made before the damage")
		return false
	}
	p.entries = append(p.entries, e)
	p.plans = append(p.plans, plan)
	p.bytes += len(e.Bytes)
	p.more = p.bytes >= pageBytes
	return !p.more
}

// nameAll fills in the plans' names.
func (s *Store) nameAll(ctx context.Context, p *page) error {
	for i, id := range p.plans {
		if p.name == "" || id != p.named {
			name, err := s.planName(ctx, id)
			if err != nil {
				return err
			}
			p.named, p.name = id, name
		}
		p.entries[i].Plan = p.name
	}
	return nil
}

func (s *Store) planName(ctx context.Context, id int64) (string, error) {
	s.mu.Lock()
	name, ok := s.names[id]
	s.mu.Unlock()
	if ok {
		return name, nil
	}
	err := s.read(ctx, "SELECT name FROM plan WHERE id = ?", []any{id}, func(row []value) bool {
		name, ok = row[0].(string)
		return false
	})
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fault.New(fault.Tampered, "entries of %s belong to a plan that is not there", s.path).
			Remedy("put back a copy of the home made before the damage")
	}
	s.mu.Lock()
	s.names[id] = name
	s.mu.Unlock()
	return name, nil
}

func hashFrom(v value, id *digest.ID) error {
	b, _ := v.([]byte)
	if len(b) != digest.Size {
		return fault.New(fault.Tampered, "a hash in the journal has %d bytes instead of %d", len(b), digest.Size)
	}
	copy(id[:], b)
	return nil
}
