package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// errHeld is what lock answers when somebody else has the file locked.
var errHeld = errors.New("held")

// Hold implements journal.Holder by a lock of the operating system on a file in <home>/locks, which
// ends with the process. The file tells who has it. It is removed with the claim, so a lock counts
// only while its file is still the one at the path.
func (s *Store) Hold(plan string) (release func(), err error) {
	dir := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, s.readOnly(err)
	}
	path := filepath.Join(dir, digest.Parts(plan).String())
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, s.readOnly(err)
		}
		err = lock(f)
		if err == nil && current(f, path) {
			if err := sign(f, plan); err != nil {
				f.Close()
				return nil, s.readOnly(err)
			}
			return sync.OnceFunc(func() {
				os.Remove(path)
				f.Close()
			}), nil
		}
		if err != nil {
			err = heldBy(plan, f, err)
		}
		f.Close()
		if err != nil {
			return nil, err
		}
		// The holder removed the file between our open and our lock: there is another by now.
	}
}

// current reports whether path still names f.
func current(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

// sign writes who holds the plan. A reader may see half of it, which is no harm in a message.
func sign(f *os.File, plan string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "process %d on %s\n%s\n", os.Getpid(), host, plan), 0)
	return err
}

// heldBy says why a file could not be locked.
func heldBy(plan string, f *os.File, err error) error {
	if !errors.Is(err, errHeld) {
		return fault.Wrap(fault.Invalid, err, "lock %s", f.Name()).Remedy("put the home on a disk that supports file locks")
	}
	text, _ := io.ReadAll(io.LimitReader(f, 1024))
	who, _, _ := strings.Cut(string(text), "\n")
	if who == "" {
		who = "another process"
	}
	return fault.New(fault.Conflict, "plan %s is held by %s", plan, who).
		Remedy("wait until it has finished, or end it; the claim ends with it")
}
