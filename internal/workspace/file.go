package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// writeFile puts text in place in one step, unless it is there already.
func writeFile(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(text), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return notWritten(err, path)
	}
	return nil
}

// outside drops the variables that name a repository.
func outside(env []string) (kept []string) {
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if name != "GIT_DIR" && name != "GIT_WORK_TREE" && name != "GIT_INDEX_FILE" {
			kept = append(kept, v)
		}
	}
	return kept
}
