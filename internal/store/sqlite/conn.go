package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// value is a column: int64, string, []byte or nil.
type value = driver.Value

// conn is one connection with its statements kept prepared, used by one goroutine at a time. It
// speaks to the driver directly: database/sql costs a third of the time of a small commit.
type conn struct {
	raw   driver.Conn
	stmts map[string]*stmt
}

type stmt struct {
	raw  driver.Stmt
	args []driver.NamedValue
	row  []value
}

// How dial treats a missing file: only the first connection of a store makes one.
const (
	mayCreate = "rwc"
	mustExist = "rw"
)

// dial opens a connection.
func dial(path, mode string, patience time.Duration) (*conn, error) {
	raw, err := (&sqlite.Driver{}).Open(uri(path) + "?_error_rc=1&mode=" + mode)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, stmts: map[string]*stmt{}}
	for _, pragma := range []struct {
		name  string
		value int64
	}{{"busy_timeout", patience.Milliseconds()}, {"foreign_keys", 0}, {"cache_size", -8192}} {
		if err := c.pragma(pragma.name, pragma.value); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// uri names the file so that no character of the path is taken for syntax.
func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/home
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.raw.Close()
	}
	return c.raw.Close()
}

// stmt prepares sql once.
func (c *conn) stmt(sql string) (*stmt, error) {
	if s := c.stmts[sql]; s != nil {
		return s, nil
	}
	raw, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	s := &stmt{raw: raw}
	c.stmts[sql] = s
	return s, nil
}

// bind sets the arguments of the next run, in a slice that is used again.
func (s *stmt) bind(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, a := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return s.args
}

// exec runs a statement. Arguments are int64, string or []byte.
func (c *conn) exec(sql string, args ...any) error {
	s, err := c.stmt(sql)
	if err != nil {
		return err
	}
	return s.run(s.bind(args))
}

func (s *stmt) run(args []driver.NamedValue) error {
	_, err := s.raw.(driver.StmtExecContext).ExecContext(context.Background(), args)
	return err
}

// query yields rows until there are no more or row answers false. The slice is used again for the
// next row; what a column holds is the caller's to keep.
func (c *conn) query(sql string, args []any, row func([]value) bool) error {
	s, err := c.stmt(sql)
	if err != nil {
		return err
	}
	rows, err := s.raw.(driver.StmtQueryContext).QueryContext(context.Background(), s.bind(args))
	if err != nil {
		return err
	}
	if s.row == nil {
		s.row = make([]value, len(rows.Columns()))
	}
	for {
		if err := rows.Next(s.row); err != nil {
			rows.Close()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if !row(s.row) {
			return rows.Close()
		}
	}
}

// number runs a query whose answer is one integer, 0 when there is none.
func (c *conn) number(sql string, args ...any) (n int64, err error) {
	err = c.query(sql, args, func(row []value) bool {
		n, _ = row[0].(int64)
		return false
	})
	return n, err
}

func (c *conn) pragma(name string, n int64) error {
	return c.script("PRAGMA " + name + " = " + itoa(n))
}

// script runs SQL that is used once.
func (c *conn) script(sql string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// rollback leaves the transaction if there still is one: some failures have ended it already.
func (c *conn) rollback() { _ = c.script("ROLLBACK") }

// resultCode is SQLite's primary result code of err, 0 when it has none.
func resultCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
