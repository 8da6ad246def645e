package process

import "syscall"

// watch collects the leader as soon as it ends: without waitid there is no other way to wait. Its
// group keeps the number taken as long as it has members.
func (c *child) watch() {
	_ = c.cmd.Wait() // an exit status is no error here
	close(c.ended)
}

func (c *child) collect() syscall.WaitStatus {
	return c.cmd.ProcessState.Sys().(syscall.WaitStatus)
}
