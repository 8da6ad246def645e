package sql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// table is rows of a table, as a plan names them.
type table struct {
	name  string   // as it is written
	parts []string // schema, if any, and table
	where string   // empty: all of it
}

const identifier = `(?:"(?:[^"]|"")+"|[\pL_][\pL\pN_$]*)`

var tableForm = regexp.MustCompile(`(?is)^\s*(` + identifier + `)(?:\.(` + identifier + `))?(?:\s+where\s+(.*\S))?\s*$`)

func tables(all []string, postgres bool) ([]table, error) {
	list := make([]table, 0, len(all))
	for _, text := range all {
		m := tableForm.FindStringSubmatch(text)
		if m == nil || len(split(text, postgres)) != 1 || strings.Contains(text, "\x00") || strings.HasSuffix(strings.TrimSpace(text), ";") {
			return nil, fault.New(fault.Invalid, "%q names no rows of a table", text).Remedy("write TABLE, or TABLE WHERE condition")
		}
		t := table{name: strings.TrimSpace(text), where: m[3]}
		for _, part := range m[1:3] {
			switch {
			case part == "":
			case part[0] == '"':
				t.parts = append(t.parts, strings.ReplaceAll(part[1:len(part)-1], `""`, `"`))
			case postgres:
				t.parts = append(t.parts, strings.ToLower(part)) // as the server reads it
			default:
				t.parts = append(t.parts, part)
			}
		}
		list = append(list, t)
	}
	return list, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (t table) quoted() string {
	all := make([]string, len(t.parts))
	for i, p := range t.parts {
		all[i] = quote(p)
	}
	return strings.Join(all, ".")
}

// clause is the condition, on lines of its own so that a comment in it ends with it.
func (t table) clause() string {
	if t.where == "" {
		return ""
	}
	return " WHERE (" + t.where + "\n)"
}

// names lists columns, quoted.
func names(fields []field, want func(field) bool) (list []string) {
	for _, f := range fields {
		if want(f) {
			list = append(list, quote(f.name))
		}
	}
	return list
}

// vault moves rows out of a table and into one, losing nothing.
type vault interface {
	dump(ctx context.Context, columns []string, from string, w io.Writer) (rows int64, err error)
	load(ctx context.Context, into string, r io.Reader) error
}

// saved is the rows of one table in a backup.
type saved struct {
	Table   string          `json:"table"`
	Columns []string        `json:"columns"` // quoted
	Rows    int64           `json:"rows"`
	Hash    digest.ID       `json:"sha256"`
	Text    *string         `json:"text,omitempty"`
	Stored  *capability.Ref `json:"stored,omitempty"`
}

// maxRecord is how much of a backup goes into the record itself.
const maxRecord = 1 << 10

// Backup implements capability.Keeper. All rows are those of one moment.
func (Exec) Backup(ctx context.Context, call capability.Call) (json.RawMessage, error) {
	in, err := parse(call, execID)
	if err != nil || len(in.keep) == 0 {
		return nil, err
	}
	b, ctx, done, err := begin(ctx, call, reading)
	if err != nil {
		if in.Create && fault.Is(err, fault.NotFound) {
			return nil, nil // what is made anew holds nothing to keep
		}
		return nil, err
	}
	defer done()
	list := make([]saved, len(b.keep))
	for i, t := range b.keep {
		if list[i], err = b.save(ctx, call, i, t); err != nil {
			return nil, b.stopped(ctx, err)
		}
	}
	return asJSON(list), nil
}

func (b begun) save(ctx context.Context, call capability.Call, i int, t table) (saved, error) {
	fields, err := b.shape(ctx, t)
	if err != nil {
		return saved{}, err
	}
	s := saved{Table: t.name, Columns: names(fields, func(f field) bool { return !f.generated })}
	var content bytes.Buffer
	if s.Rows, err = b.dump(ctx, s.Columns, " FROM "+t.quoted()+t.clause(), &content); err != nil {
		return saved{}, err
	}
	s.Hash = digest.Sum(content.Bytes())
	if content.Len() <= maxRecord {
		text := content.String()
		s.Text = &text
		return s, nil
	}
	ref, err := call.Host.Put(ctx, fmt.Sprintf("backup-%d", i+1), "file", &content)
	if err != nil {
		return saved{}, err
	}
	if ref.Hash != s.Hash {
		return saved{}, altered(t.name)
	}
	s.Stored = &ref
	return s, nil
}

// altered is what becomes of rows that hold a secret: they are not written in full anywhere.
func altered(table string) error {
	return fault.New(fault.Denied, "the rows of %s hold a secret, and are not kept", table).Remedy("leave it out of keep, or keep only rows that hold none")
}

// content is what was saved, checked.
func (s saved) content(ctx context.Context, host capability.Host) ([]byte, error) {
	var content []byte
	switch {
	case s.Text != nil:
		content = []byte(*s.Text)
	case s.Stored != nil:
		from, ok := host.(capability.Opener)
		if !ok {
			return nil, fault.New(fault.Internal, "the backup of %s cannot be read here", s.Table)
		}
		r, err := from.Open(ctx, *s.Stored)
		if err != nil {
			return nil, fault.Wrap(fault.NotFound, err, "the backup of %s is gone", s.Table)
		}
		defer func() { _ = r.Close() }() // it was only read
		if content, err = io.ReadAll(r); err != nil {
			return nil, fault.Wrap(fault.Failed, err, "the backup of %s cannot be read", s.Table)
		}
	}
	if digest.Sum(content) != s.Hash {
		return nil, altered(s.Table)
	}
	return content, nil
}

// Restore implements capability.Keeper: in one transaction the rows that were saved become what they were, and
// those that the same words name now but did not then are deleted. Rows are changed in their place where the table has
// a primary key, so that what refers to them stays.
func (Exec) Restore(ctx context.Context, call capability.Call, backup json.RawMessage) error {
	var list []saved
	if err := json.Unmarshal(backup, &list); err != nil {
		return fault.Wrap(fault.Internal, err, "the backup is not one of %s", execID)
	}
	b, ctx, done, err := begin(ctx, call, writing)
	if err != nil {
		return err
	}
	defer done()
	if err := b.putBack(ctx, call, list); err != nil {
		return b.stopped(ctx, err)
	}
	return b.stopped(ctx, b.end(ctx, true))
}

func (b begun) putBack(ctx context.Context, call capability.Call, list []saved) error {
	steps := []string{"PRAGMA defer_foreign_keys = ON"}
	if b.postgres() {
		steps = []string{"SET CONSTRAINTS ALL DEFERRED"}
	}
	var deletes, inserts []string
	for i, s := range list {
		content, err := s.content(ctx, call.Host)
		if err != nil {
			return err
		}
		ts, err := tables([]string{s.Table}, b.postgres())
		if err != nil {
			return err
		}
		fields, err := b.shape(ctx, ts[0])
		if err != nil {
			return err
		}
		m := mend{saved: s, table: ts[0], scratch: fmt.Sprintf("cairn_keep_%d", i+1), postgres: b.postgres(),
			keys: names(fields, func(f field) bool { return f.key })}
		if _, err := b.run(ctx, m.create(), nil, nil); err != nil {
			return err
		}
		if err := b.load(ctx, m.scratch, bytes.NewReader(content)); err != nil {
			return err
		}
		deletes, inserts = append(deletes, m.remove()), append(inserts, m.insert())
	}
	slices.Reverse(deletes)
	for _, sql := range slices.Concat(steps, deletes, inserts) {
		if _, err := b.run(ctx, sql, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// mend is the statements that bring one table back.
type mend struct {
	saved
	table    table
	keys     []string // the primary key, quoted
	scratch  string
	postgres bool
}

func (m mend) create() string {
	return "CREATE TEMP TABLE " + m.scratch + " AS SELECT " + strings.Join(m.Columns, ", ") + " FROM " + m.table.quoted() + " WHERE false"
}

// remove deletes the rows that were not there; without a key to tell them by, all of them.
func (m mend) remove() string {
	sql := "DELETE FROM " + m.table.quoted() + m.table.clause()
	if len(m.keys) == 0 {
		return sql
	}
	and := " AND "
	if m.table.where == "" {
		and = " WHERE "
	}
	all := strings.Join(m.keys, ", ")
	return sql + and + "(" + all + ") NOT IN (SELECT " + all + " FROM " + m.scratch + ")"
}

func (m mend) insert() string {
	all := strings.Join(m.Columns, ", ")
	sql := "INSERT INTO " + m.table.quoted() + " (" + all + ")"
	if m.postgres {
		sql += " OVERRIDING SYSTEM VALUE"
	}
	sql += " SELECT " + all + " FROM " + m.scratch + " WHERE true"
	if len(m.keys) == 0 {
		return sql
	}
	var set []string
	for _, c := range m.Columns {
		if !slices.Contains(m.keys, c) {
			set = append(set, c+" = excluded."+c)
		}
	}
	sql += " ON CONFLICT (" + strings.Join(m.keys, ", ") + ") DO "
	if len(set) == 0 {
		return sql + "NOTHING"
	}
	return sql + "UPDATE SET " + strings.Join(set, ", ")
}
