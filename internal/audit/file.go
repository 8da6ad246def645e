package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// replaceFile puts data at path, whole or not at all.
func replaceFile(path string, data []byte, perm fs.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createFile puts data at path, for its owner only, unless there is a file already, which stays.
func createFile(path string, data []byte) error {
	temp, err := writeTemp(path, data, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	err = os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// No hard links here: the time between looking and renaming is the best that can be had.
		if _, gone := os.Stat(path); errors.Is(gone, fs.ErrNotExist) {
			err = os.Rename(temp, path)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeTemp(path string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// syncDir makes a new name durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
