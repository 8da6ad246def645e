package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// errHeld is what tryLock answers when somebody else has the file locked.
var errHeld = errors.New("held")

// openLock opens the file that stands for the right to use a repository or a tree. The file stays: its lock counts.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "open the lock %s", path).Remedy("make the home writable for you")
	}
	return f, nil
}

// waitLock takes the lock, however long its holder needs: a round of git takes milliseconds.
func waitLock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := tryLock(f)
		if !errors.Is(err, errHeld) {
			return lockFault(f, err)
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fault.Wrap(fault.Interrupted, ctx.Err(), "stopped while another process uses the workspace")
		}
	}
}

func lockFault(f *os.File, err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Invalid, err, "lock %s", f.Name()).Remedy("put the home on a disk that supports file locks")
}
