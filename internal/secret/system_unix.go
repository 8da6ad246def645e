//go:build unix

package secret

import (
	"io/fs"
	"os/exec"
	"syscall"
)

// othersMay says what others than the owner may do with a file; nothing when it is private.
func othersMay(info fs.FileInfo) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o022 != 0:
		return "others may change"
	case mode&0o077 != 0:
		return "others may read"
	}
	return ""
}

// inGroup makes a command the leader of a process group, which ends as a whole when time is up.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
