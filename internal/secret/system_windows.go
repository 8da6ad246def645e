package secret

import (
	"io/fs"
	"os/exec"
	"syscall"
)

// othersMay has nothing to say: the bits of a file's mode do not tell who may read it here.
func othersMay(fs.FileInfo) string { return "" }

// inGroup keeps Ctrl-C of the console from a command; when time is up, WaitDelay lets go of its children.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
