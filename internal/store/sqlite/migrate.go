package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

//go:embed migrations
var migrations embed.FS

// applicationID marks the file as ours ("carn"), so that another program's database is not taken
// for an old and empty home.
const applicationID = 0x6361726e

// scripts lists the migrations in order; the version of a home is how many it has been through.
func scripts() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	out := make([]string, len(names))
	for i, name := range names {
		b, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		out[i] = string(b)
	}
	return out
}

// prepareFile opens the writing connection and brings the file to this version. Two processes may
// do so at once: SQLite refuses some of the steps at once instead of waiting, so a busy answer is
// tried again until patience ends.
func (s *Store) prepareFile(ctx context.Context) (*conn, error) {
	for end := time.Now().Add(s.patience); ; {
		c, err := s.openFile(mayCreate)
		if err == nil {
			return c, nil
		}
		if !busy(err) || time.Now().After(end) {
			return nil, s.explain(err)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func (s *Store) openFile(mode string) (*conn, error) {
	c, err := dial(s.path, mode, time.Second)
	if err != nil {
		return nil, err
	}
	if err := s.upgrade(c); err != nil {
		c.close()
		return nil, err
	}
	// From here on waiting is ours (see writer.begin): SQLite's own wait cannot be interrupted.
	if err := c.pragma("busy_timeout", 0); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// upgrade refuses what is not ours before it changes anything.
func (s *Store) upgrade(c *conn) error {
	steps := scripts()
	version, err := s.version(c, len(steps))
	if err != nil {
		return err
	}
	if err := s.useWAL(c); err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := s.migrate(c, steps); err != nil {
		c.rollback()
		return err
	}
	// Into the file itself, so that its first page tells the version even without the WAL.
	return c.script("PRAGMA wal_checkpoint(TRUNCATE)")
}

func (s *Store) migrate(c *conn, steps []string) error {
	version, err := s.version(c, len(steps)) // another process may have been faster
	if err != nil {
		return err
	}
	for _, step := range steps[version:] {
		if err := c.script(step); err != nil {
			return err
		}
	}
	if err := c.pragma("application_id", applicationID); err != nil {
		return err
	}
	if err := c.pragma("user_version", int64(len(steps))); err != nil {
		return err
	}
	return c.script("COMMIT")
}

func (s *Store) version(c *conn, newest int) (int, error) {
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	app, err := c.number("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	if app != applicationID && (version != 0 || tables != 0) {
		return 0, fault.New(fault.Conflict, "%s is the database of another program", s.path).
			Remedy("move it away, or name another home with --home or CAIRN_HOME")
	}
	if version > int64(newest) {
		return 0, fault.New(fault.Conflict, "this home was made by a newer cairn: %s is of version %d, this cairn knows %d",
			s.path, version, newest).Remedy("install the newer cairn, or name another home with --home or CAIRN_HOME")
	}
	return int(version), nil
}

// walPages is how far the log grows before it is copied into the file and written from its start
// again. A small commit costs a third less where the log is overwritten than where it grows, so a
// short run wants it small; copying costs large commits more the more often it is done. At 512
// pages (2 MiB) both are within a few per cent of their best.
const walPages = 512

func (s *Store) useWAL(c *conn) error {
	var mode string
	if err := c.query("PRAGMA journal_mode = WAL", nil, func(row []value) bool {
		mode, _ = row[0].(string)
		return true
	}); err != nil {
		return err
	}
	if mode != "wal" {
		return fault.New(fault.Invalid, "%s cannot use a write-ahead log (it stays in mode %q)", s.path, mode).
			Remedy("put the home on a local disk")
	}
	for name, n := range map[string]int64{"synchronous": 2, "wal_autocheckpoint": walPages} {
		if err := c.pragma(name, n); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
