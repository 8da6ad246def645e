package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cairn-plan/cairn/internal/fault"
)

// explain says what a failure of SQLite means for the person who owns the home. What already is a
// fault stays as it is.
func (s *Store) explain(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	switch resultCode(err) {
	case sqlite3.SQLITE_FULL:
		return s.full(err)
	case sqlite3.SQLITE_IOERR:
		return s.ioError(err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return s.readOnly(err)
	case sqlite3.SQLITE_CANTOPEN:
		if gone := s.checkHome(); gone != nil {
			return gone
		}
		if gone := s.moved(); gone != nil {
			return gone
		}
		return s.readOnly(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(fault.Tampered, err, "%s is damaged", s.path).
			Remedy("run `cairn audit verify` to see how far it is sound; then put back a copy of the home made before the damage")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Wrap(fault.Conflict, err, "another process kept %s locked for more than %v", s.path, s.patience).
			Remedy("find it with `fuser %s`, let it finish or end it, then try again", s.path)
	}
	return fault.Wrap(fault.Internal, err, "use %s", s.path)
}

func (s *Store) full(err error) error {
	return fault.Wrap(fault.Internal, err, "the disk that holds %s is full; nothing that was acknowledged is lost", s.path).
		Remedy("free some space there, then run the command again")
}

func (s *Store) readOnly(err error) error {
	return fault.Wrap(fault.Invalid, err, "the home %s cannot be written", s.dir).
		Remedy("make the folder and the files in it writable for you, or name another home with --home or CAIRN_HOME")
}

// ioError tells a full disk apart, which SQLite reports so when it grows the WAL's index.
func (s *Store) ioError(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
		return s.full(err)
	}
	return fault.Wrap(fault.Internal, err, "the disk that holds %s failed", s.path).
		Remedy("check the disk (the system's log names the fault), then run the command again")
}

func busy(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// moved reports that path is no longer the file that was opened. SQLite would go on writing into
// a file that nobody can find again.
func (s *Store) moved() error {
	if s.file == nil {
		return nil // not opened yet
	}
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(s.file, now) {
		return nil
	}
	return fault.New(fault.Conflict, "%s was removed or replaced while it was in use", s.path).
		Remedy("put it back, or start this cairn again to use the file that is there now")
}

func errClosed() error { return fault.New(fault.Internal, "the store is closed") }

func interrupted(err error) error {
	return fault.Wrap(fault.Interrupted, err, "stopped; nothing was written")
}

// retryEvery is how often a busy file is tried again: often enough that a process which writes
// without a pause does not starve the others, seldom enough to cost nothing.
const retryEvery = time.Millisecond

func pause(ctx context.Context) error {
	t := time.NewTimer(retryEvery)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return interrupted(ctx.Err())
	}
}
