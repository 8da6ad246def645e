package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/fault"
)

// trial is the repository with an index of its own, and, unless it is kept, an object store of its own:
// what is tried in it leaves the user's as they were.
type trial struct {
	repo
	dir string
}

// newTrial makes a trial that leaves no trace. It begins with what the user's index knows of the files, so
// that only those that changed are read.
func newTrial(r repo) (trial, error) {
	t, err := newIndex(r)
	if err != nil {
		return t, err
	}
	store := filepath.Join(t.dir, "objects")
	if err := os.Mkdir(store, 0o700); err != nil {
		t.close()
		return t, fault.Wrap(fault.Failed, err, "cannot make room for a trial")
	}
	common := r.git
	if more, err := os.ReadFile(filepath.Join(r.git, "commondir")); err == nil { // a linked work tree
		common = filepath.Join(r.git, filepath.FromSlash(string(trimLine(more))))
	}
	t.repo = t.with("GIT_OBJECT_DIRECTORY="+store, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(common, "objects"))
	return t, nil
}

// newIndex makes a trial whose objects are kept: for a commit.
func newIndex(r repo) (trial, error) {
	dir, err := os.MkdirTemp("", "cairn-git-")
	if err != nil {
		return trial{}, fault.Wrap(fault.Failed, err, "cannot make room for a trial")
	}
	t := trial{dir: dir}
	index := filepath.Join(dir, "index")
	if err := copyIndex(filepath.Join(r.git, "index"), index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.close()
		return trial{}, fault.Wrap(fault.Failed, err, "cannot copy the index")
	}
	t.repo = r.with("GIT_INDEX_FILE=" + index)
	return t, nil
}

// copyIndex copies an index with its time: a file that was changed at the very time when the index was written
// looks unchanged, and git tells by that time which ones it must read again.
func copyIndex(from, to string) error {
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	known, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, known, 0o600), os.Chtimes(to, st.ModTime(), st.ModTime()))
}

// fill makes the index hold what a revision holds, with some files as they are now, or all of them.
func (t trial) fill(ctx context.Context, rev string, paths []string) error {
	begin := []string{"read-tree", "--empty"}
	if rev != "" {
		begin = []string{"read-tree", "--reset", rev}
	}
	if _, err := t.ask(ctx, begin...); err != nil {
		return err
	}
	at := t.repo
	add := []string{"add", "-A"}
	if len(paths) == 0 {
		at = at.in(t.top)
	} else {
		add = append(append(add, "--"), paths...)
	}
	_, err := at.ask(ctx, add...)
	return err
}

func (t trial) close() { _ = os.RemoveAll(t.dir) } // in the temporary folder, which the system sweeps

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}
