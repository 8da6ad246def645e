package disk

import (
	"errors"
	"io/fs"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// explain says what a failure of the file system means for the person who owns the home. What
// already is a fault stays as it is.
func (s *Store) explain(err error) error {
	var known *fault.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case isFull(err):
		return fault.Wrap(fault.Internal, err, "the disk that holds %s is full; nothing was stored", s.dir).
			Remedy("free some space there, then run the command again")
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		return fault.Wrap(fault.Invalid, err, "the folder %s cannot be written", s.dir).
			Remedy("make the folder and what is in it writable for you, or name another home with --home or CAIRN_HOME")
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.NotFound, err, "the folder %s is gone", s.dir).
			Remedy("put it back, or start cairn again to make a new one")
	}
	return fault.Wrap(fault.Internal, err, "use %s", s.dir).
		Remedy("check the disk (the system's log names the fault), then run the command again")
}

// missing is explain for a blob that was asked for by name.
func (s *Store) missing(id digest.ID, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "there is no artifact %s", id).
			Remedy("see what there is: cairn artifact list")
	}
	return s.explain(err)
}
