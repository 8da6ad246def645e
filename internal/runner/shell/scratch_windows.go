package shell

import "os"

// private reports whether a directory is there: the temporary directory is the user's own here.
func private(dir string) bool {
	st, err := os.Lstat(dir)
	return err == nil && st.IsDir()
}
