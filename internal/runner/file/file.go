// Package file performs the capabilities file.read, file.write and file.patch on the files of a
// task's directory.
//
// Paths are relative to that directory and never leave it, neither by .. nor through a link: the
// kernel is asked for each step. A file that is written is complete or untouched, whenever the
// machine stops: content goes to a file beside it, is brought to disk, and takes its place in one
// step, with its mode.
package file

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

const (
	inline  = 4 << 10  // what is longer is stored as an artifact
	maxSize = 64 << 20 // of a file that is read or patched, unless the call says less
)

// All lists the capabilities of this package.
func All() []capability.Entry {
	return []capability.Entry{
		{Contract: ReadContract(), Runner: capability.RunnerFunc(Read)},
		{Contract: WriteContract(), Runner: Writer{}},
		{Contract: PatchContract(), Runner: Patcher{}},
	}
}

func builtin(id, summary string) capability.Contract {
	return capability.Contract{ID: id, Version: "1.0.0", Summary: summary, CostTier: 1, Provider: "builtin"}
}

// decode reads the inputs of a call.
func decode(call capability.Call, id string, in any) error {
	if err := json.Unmarshal(call.With, in); err != nil {
		return fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", id).
			Remedy("see what it takes with: cairn capability show %s", id)
	}
	return nil
}

// folder is a task's directory, which nothing here leaves.
type folder struct {
	root *os.Root
	dir  string
	lim  capability.Limits
}

// openFor opens the directory of a call that writes, which is held to its limits.
func openFor(call capability.Call) (folder, error) {
	f, err := open(call.Dir)
	f.lim = call.Limits
	return f, err
}

// allowed refuses a file that the limits do not let be written.
func (f folder) allowed(name string) error {
	return sandbox.MayWrite(f.lim, filepath.Join(f.dir, name))
}

func open(dir string) (folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return folder{}, fault.Wrap(fault.NotFound, err, "the working directory %s cannot be opened", dir).
			Remedy("create it first, or name another in dir")
	}
	return folder{root: root, dir: dir}, nil
}

func (f folder) close() { _ = f.root.Close() } // it was only looked through

// local checks the form of a path and gives it with the system's separators.
func local(name string) (string, error) {
	clean := filepath.FromSlash(path.Clean(name))
	if name == "" || strings.ContainsRune(name, 0) || !filepath.IsLocal(clean) || clean == "." {
		return "", fault.New(fault.Invalid, "%q is no path inside the task's directory", name).
			Remedy("give a path from there, without a leading / and without ..")
	}
	return clean, nil
}

// explain says what a failed step on a file means to a person.
func explain(err error, did, name string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.NotFound, err, "there is no file %s to %s", name, did).
			Remedy("check the path, or have an earlier task make the file")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Denied, err, "%s may not be used to %s", name, did).Remedy("change its permissions, or run as who owns it")
	case escapes(err):
		return fault.Wrap(fault.Denied, err, "%s leads out of the task's directory", name).
			Remedy("links are followed inside that directory only; copy the file there")
	}
	return fault.Wrap(fault.Failed, err, "cannot %s %s", did, name)
}

// escapes recognises the refusal of os.Root, which has no name of its own.
func escapes(err error) bool { return strings.Contains(err.Error(), "escapes from parent") }

// load reads a whole file of at most limit bytes, and its mode.
func (f folder) load(name string, limit int64) ([]byte, fs.FileMode, error) {
	st, err := f.root.Stat(name)
	if err != nil {
		return nil, 0, explain(err, "read", name)
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fault.New(fault.Invalid, "%s is no ordinary file", name).Remedy("name a file, not a folder or a device")
	}
	if st.Size() > limit {
		return nil, 0, tooLarge(name, st.Size(), limit)
	}
	b, err := f.root.ReadFile(name)
	if err != nil {
		return nil, 0, explain(err, "read", name)
	}
	if int64(len(b)) > limit {
		return nil, 0, tooLarge(name, int64(len(b)), limit) // it grew meanwhile
	}
	return b, st.Mode(), nil
}

func tooLarge(name string, size, limit int64) error {
	return fault.New(fault.Failed, "%s has %d bytes, and at most %d are read", name, size, limit).
		Remedy("raise max_bytes (up to %d), or work on it with shell", int64(maxSize))
}

// maxLinks is how many links in a row are followed to the file that is to be written.
const maxLinks = 16

// target follows links at the end of a path, inside the folder, so that a link stays a link.
func (f folder) target(name string) (string, fs.FileInfo, error) {
	at := name
	for range maxLinks {
		st, err := f.root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return at, nil, nil
		}
		if err != nil {
			return "", nil, explain(err, "write", name)
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			return at, st, nil
		}
		to, err := f.root.Readlink(at)
		if err != nil {
			return "", nil, explain(err, "write", name)
		}
		if at = filepath.Join(filepath.Dir(at), to); filepath.IsAbs(to) || !filepath.IsLocal(at) {
			return "", nil, fault.New(fault.Denied, "%s leads out of the task's directory", name).
				Remedy("links are followed inside that directory only; replace the link")
		}
	}
	return "", nil, fault.New(fault.Failed, "%s is a link that leads nowhere in %d steps", name, maxLinks)
}

// store puts content in the place of a file, or makes it, in one step. A zero mode keeps the
// file's, or is 0644 for a new one.
func (f folder) store(name string, content []byte, mode fs.FileMode, key digest.ID) (err error) {
	at, was, err := f.target(name)
	if err == nil {
		err = f.allowed(at)
	}
	switch {
	case err != nil:
		return err
	case was != nil && !was.Mode().IsRegular():
		return fault.New(fault.Invalid, "%s is no ordinary file", name).Remedy("name a file, not a folder or a device")
	case mode == 0 && was != nil:
		mode = was.Mode().Perm()
	case mode == 0:
		mode = 0o644
	}
	dir, base := filepath.Split(at)
	if dir != "" {
		if err := f.root.MkdirAll(filepath.Clean(dir), 0o755); err != nil {
			return explain(err, "write", name)
		}
	}
	// The name is the same over retries, so that a try which was cut off leaves nothing behind.
	fresh := filepath.Join(dir, "."+base+"."+key.String()[len(key.String())-12:]+".new")
	defer func() {
		if err != nil {
			_ = f.root.Remove(fresh) // it may not be there
		}
	}()
	if err := f.fill(fresh, content, mode); err != nil {
		return explain(err, "write", name)
	}
	if err := f.root.Rename(fresh, at); err != nil {
		return explain(err, "write", name)
	}
	return f.settle(dir)
}

func (f folder) fill(name string, content []byte, mode fs.FileMode) error {
	w, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return errors.Join(err, w.Chmod(mode), w.Sync(), w.Close())
}

// settle brings the folder's entries to disk, where the system knows how to.
func (f folder) settle(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := f.root.Open(filepath.Clean(dir + "."))
	if err != nil {
		return explain(err, "write", dir)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return explain(err, "write", dir)
	}
	return nil
}

// remove deletes a file; that it is gone already is as good.
func (f folder) remove(name string) error {
	if err := f.allowed(name); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(err, "delete", name)
	}
	return nil
}

// stamp is what is told of a file that was read or written.
func stamp(name string, content []byte) map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"path":   asJSON(filepath.ToSlash(name)),
		"size":   asJSON(len(content)),
		"sha256": asJSON(digest.Sum(content).String()),
	}
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // text and numbers are always JSON
	}
	return raw
}
