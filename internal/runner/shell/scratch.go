package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

var serial atomic.Uint64

// scratch is where a command writes its outputs to, and what of it is to be removed.
type scratch struct {
	file    string
	private string // the folder of a confined command, which holds the file
	tidy    func()
}

// newScratch makes room for the outputs of a command. One that is confined has a folder of its own anyway.
func newScratch(l capability.Limits) (scratch, error) {
	if l.Mode == capability.Off && !l.Trial {
		file, tidy, err := loose()
		return scratch{file: file, tidy: tidy}, err
	}
	dir, err := sandbox.Temporary()
	if err != nil {
		return scratch{}, err
	}
	s := scratch{file: filepath.Join(dir, "cairn-output"), private: dir, tidy: func() { sandbox.Remove(dir) }}
	if err := os.WriteFile(s.file, nil, 0o600); err != nil {
		s.tidy()
		return s, fault.Wrap(fault.Internal, err, "cannot make the file for the outputs").
			Remedy("check that %s can be written to and is not full", os.TempDir())
	}
	return s, nil
}

// loose names a file that only we, and what we run, can reach, for CAIRN_OUTPUT. The file is not
// there yet: creating one for every command costs more than the rest of what we do, and most
// commands write none. tidy removes what has come of it.
func loose() (file string, tidy func(), err error) {
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
