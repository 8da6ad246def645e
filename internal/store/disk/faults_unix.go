//go:build unix

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }
