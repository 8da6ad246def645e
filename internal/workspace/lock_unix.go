//go:build unix

package workspace

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryLock takes f; closing it, or the end of the last process that has it, lets it go.
func tryLock(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

func unlock(f *os.File) { _ = flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}

// adopt lets the child hold our lock, and takes it out of reach of the interrupt key, which is meant for us.
func adopt(cmd *exec.Cmd, lock *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
}
