package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// watch waits for the leader's end without collecting it: until its group is cleared and off the
// list, its pid must not become somebody else's.
func (c *child) watch() {
	for {
		err := unix.Waitid(unix.P_PID, c.self.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			close(c.ended)
			return
		}
	}
}

func (c *child) collect() syscall.WaitStatus {
	_ = c.cmd.Wait() // an exit status is no error here
	return c.cmd.ProcessState.Sys().(syscall.WaitStatus)
}
