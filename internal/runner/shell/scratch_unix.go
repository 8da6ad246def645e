//go:build unix

package shell

import (
	"os"
	"syscall"
)

// private reports whether a directory is ours alone, and no link to one.
func private(dir string) bool {
	st, err := os.Lstat(dir)
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && st.IsDir() && st.Mode().Perm() == 0o700 && int(sys.Uid) == os.Getuid()
}
