package secret

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
)

// fromFile reads a secret from a file. One that others can read is used, and told of: on a machine that
// mounts secrets it cannot be helped.
func (s *Store) fromFile(name, path string) (string, error) {
	full := s.locate(path)
	f, err := os.Open(full)
	if err != nil {
		return "", fileFault(name, path, full, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fileFault(name, path, full, err)
	}
	if info.IsDir() {
		return "", fault.New(fault.Invalid, "secret %s comes from %s, which is a folder", name, path).Remedy("name the file in it")
	}
	if open := othersMay(info); open != "" {
		s.opts.Warn(fault.New(fault.Invalid, "secret %s comes from %s, which %s", name, path, open).Remedy("chmod 600 %s", full))
	}
	// One byte and one newline (\r\n) more than fits, so that Check sees what is too long.
	b, err := io.ReadAll(io.LimitReader(f, redact.Longest+3))
	if err != nil {
		return "", fileFault(name, path, full, err)
	}
	return trimNewline(string(b)), nil
}

func fileFault(name, path, full string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "secret %s comes from %s, which does not exist", name, path).Remedy("make %s, readable by you alone", full)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, "secret %s comes from %s, which you may not read", name, path).Remedy("make %s readable by you", full)
	}
	return fault.Wrap(fault.Invalid, err, "read secret %s", name).Remedy("make %s a file that you can read", full)
}

// locate finds a path of the settings.
func (s *Store) locate(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.opts.Dir, path)
}

// trimNewline drops one newline at the end, which an editor or echo has added.
func trimNewline(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }
