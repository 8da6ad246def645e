// Package sqlite keeps the journal, the mailbox, the spending of days, the facts of memory and the sealed tree in one SQLite file,
// <home>/cairn.db, and the claims on plans in <home>/locks.
//
// Many processes may share a home. One of them writes at a time (SQLite's own lock), and within a
// process one caller at a time holds the pen: it writes for everyone who is waiting, in one
// transaction, and answers each after the commit (see writer). WAL and synchronous=FULL: what was
// acknowledged survives a crash of the process and of the machine.
//
// After any failure the transaction is undone, the connection is given up and a new one is opened
// by the next call, so that the store goes on as soon as the cause is gone.
//
// Nothing in this process may open cairn.db except through this package: POSIX drops all locks of
// a process on a file when any descriptor of that file is closed.
package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// FileName is the database's name inside the home.
const FileName = "cairn.db"

// Store is a home's database. It is safe for concurrent use.
type Store struct {
	dir      string
	path     string
	patience time.Duration
	file     os.FileInfo // what was opened
	writer   writer

	mu     sync.Mutex
	idle   []*conn          // connections for reading
	names  map[int64]string // of plans, by id
	closed bool
}

var (
	_ journal.Store   = (*Store)(nil)
	_ journal.Holder  = (*Store)(nil)
	_ journal.Mailbox = (*Store)(nil)
	_ audit.Ledger    = (*Store)(nil)
)

// Option changes how a store is opened.
type Option func(*Store)

// Patience is how long a call waits for another process that writes, 30 seconds unless set.
func Patience(d time.Duration) Option { return func(s *Store) { s.patience = d } }

// Open opens the database in dir, an existing folder, and makes it when there is none. A home of a
// newer version is refused and left as it is.
func Open(ctx context.Context, dir string, opts ...Option) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "find the home %s", dir)
	}
	s := &Store{dir: dir, path: filepath.Join(dir, FileName), patience: 30 * time.Second, names: map[int64]string{}}
	for _, o := range opts {
		o(s)
	}
	s.writer.init(s)
	if err := s.checkHome(); err != nil {
		return nil, err
	}
	c, err := s.prepareFile(ctx)
	if err != nil {
		return nil, err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		c.close()
		return nil, s.explain(err)
	}
	s.writer.conn = c
	return s, nil
}

// Close waits for whoever is writing and lets the file go. Calls made afterwards are refused.
func (s *Store) Close() error {
	err := s.writer.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.idle {
		c.close()
	}
	s.idle = nil
	return err
}

func (s *Store) checkHome() error {
	info, err := os.Stat(s.dir)
	switch {
	case os.IsNotExist(err):
		return fault.New(fault.NotFound, "the home %s does not exist", s.dir).
			Remedy("create the folder, or name another home with --home or CAIRN_HOME")
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "look at the home %s", s.dir)
	case !info.IsDir():
		return fault.New(fault.Invalid, "the home %s is a file, not a folder", s.dir).
			Remedy("move the file away, or name another home with --home or CAIRN_HOME")
	}
	return nil
}

// reader lends a connection for reading; done takes it back, or gives it up when it failed.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(err)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed()
	}
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	c, err := dial(s.path, mustExist, s.patience)
	if err != nil {
		return nil, s.explain(err)
	}
	return c, nil
}

// maxIdle is enough for the readers that one command has at once.
const maxIdle = 4

func (s *Store) done(c *conn, err error) {
	s.mu.Lock()
	keep := err == nil && !s.closed && len(s.idle) < maxIdle
	if keep {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !keep {
		c.close()
	}
}

// read runs one query on a connection for reading.
func (s *Store) read(ctx context.Context, sql string, args []any, row func([]value) bool) error {
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	err = c.query(sql, args, row)
	s.done(c, err)
	return s.explain(err)
}
