package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/cairn-plan/cairn/internal/fault"
)

var serial atomic.Uint64

// scratch names a file that only we, and what we run, can reach, for CAIRN_OUTPUT. The file is not
// there yet: creating one for every command costs more than the rest of what we do, and most
// commands write none. tidy removes what has come of it.
func scratch() (file string, tidy func(), err error) {
	dir := filepath.Join(os.TempDir(), "cairn-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err == nil || private(dir) {
		file = filepath.Join(dir, "output-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatUint(serial.Add(1), 10))
		_ = os.Remove(file) // of an earlier process with our number, which was killed
		return file, func() { _ = os.RemoveAll(file) }, nil
	}
	if dir, err = os.MkdirTemp("", "cairn-"); err != nil { // somebody else has the name
		return "", nil, fault.Wrap(fault.Internal, err, "cannot make a temporary directory").
			Remedy("check that %s can be written to and is not full", os.TempDir())
	}
	return filepath.Join(dir, "output"), func() { _ = os.RemoveAll(dir) }, nil
}
