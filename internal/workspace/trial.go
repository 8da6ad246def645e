package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Trial is a private copy of the present files, in which commands may be tried. Inside a git repository it has a
// repository of its own, without remotes: a commit or a branch made there reaches nobody.
type Trial struct {
	folder string // holds tree, index, objects and lock
	git    git    // reads the states, writes its own objects
	from   string
	lock   *os.File
	sieve  *sieve
	tree   string // the work tree of the state
	dir    string // the project root
}

// trialPlan says what a trial is made from.
type trialPlan struct {
	git    git // reads the states
	user   git // runs in the user's project root, which may be in a repository
	home   string
	state  string
	opts   Options
	within string // the project root inside the state's tree
}

// try checks a state out into a folder of its own.
func (p trialPlan) try(ctx context.Context) (*Trial, error) {
	folder, err := os.MkdirTemp(filepath.Join(p.home, "workspaces"), "trial-")
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "make a throwaway tree").Remedy("make the home writable for you")
	}
	t := &Trial{folder: folder, from: p.state, sieve: newSieve(p.opts, true)}
	if err := t.fill(ctx, p); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Trial) fill(ctx context.Context, p trialPlan) error {
	var err error
	if t.lock, err = openLock(filepath.Join(t.folder, "lock")); err != nil {
		return err
	}
	if err := lockFault(t.lock, tryLock(t.lock)); err != nil {
		return err
	}
	objects, err := p.git.path(ctx, "objects")
	if err != nil {
		return err
	}
	top := filepath.Join(t.folder, "tree")
	prefix, err := copyRepository(ctx, p.user, top)
	if err != nil {
		return err
	}
	// The state is the whole repository, or the project root alone, which has its place inside the copy.
	t.dir = filepath.Join(top, filepath.FromSlash(prefix))
	t.tree = filepath.Clean(strings.TrimSuffix(t.dir, filepath.FromSlash(strings.TrimSuffix(p.within, "/"))))
	own := filepath.Join(t.folder, "objects")
	for _, dir := range []string{t.dir, own} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fault.Wrap(fault.Invalid, err, "make a throwaway tree").Remedy("make the home writable for you")
		}
	}
	t.git = p.git.with("GIT_WORK_TREE="+t.tree, "GIT_INDEX_FILE="+filepath.Join(t.folder, "index"),
		"GIT_OBJECT_DIRECTORY="+own, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	t.git.dir, t.git.lock = t.tree, nil
	_, err = t.git.run(ctx, nil, "read-tree", "--reset", "-u", t.from)
	return err
}

// copyRepository gives top a .git that borrows the objects of the user's, stands where it stands, and knows no remote.
// It says where in the repository the project root is.
func copyRepository(ctx context.Context, user git, top string) (prefix string, err error) {
	found, err := user.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", nil //nolint:nilerr // not in a repository: there is nothing that a command could reach by going up
	}
	if prefix, err = user.line(ctx, "rev-parse", "--show-prefix"); err != nil {
		return "", err
	}
	if _, err := user.run(ctx, nil, "clone", "-q", "--shared", "--no-checkout", "--template=", "--", found, top); err != nil {
		return "", err
	}
	inner := user
	inner.dir = top
	if _, err := inner.run(ctx, nil, "remote", "remove", "origin"); err != nil {
		return "", err
	}
	index, err := user.path(ctx, "index")
	if err != nil {
		return "", err
	}
	if err := copyIndex(index, filepath.Join(top, ".git", "index")); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	return prefix, nil
}

// Dir is where to try things: the copy of the project root.
func (t *Trial) Dir() string { return t.dir }

// Diff shows what was done to the copy, and names the files that it does not show, each with why.
func (t *Trial) Diff(ctx context.Context) (diff []byte, left []string, err error) {
	out, err := t.git.run(ctx, nil, "ls-files", "-z", "-m", "-o", "-d", "--exclude-standard")
	if err != nil {
		return nil, nil, missing(t.tree, err)
	}
	all := []found{}
	for _, name := range sortedUnion(list(out), nil) {
		path, nested := strings.CutSuffix(name, "/")
		_, statErr := os.Lstat(filepath.Join(t.tree, filepath.FromSlash(path)))
		all = append(all, found{path: path, mode: "000000", nested: nested, gone: os.IsNotExist(statErr)})
	}
	sifted, err := t.sieve.sift(ctx, t.git, t.tree, all)
	if err != nil {
		return nil, nil, err
	}
	if err := writeIndex(ctx, t.git, sifted); err != nil {
		return nil, nil, err
	}
	made, err := t.git.line(ctx, "write-tree")
	if err != nil {
		return nil, nil, err
	}
	diff, err = t.git.patch(ctx, t.from, made)
	return diff, sifted.left, err
}

// Close throws the copy away.
func (t *Trial) Close() {
	_ = removeAll(t.folder)
	if t.lock != nil {
		t.lock.Close()
	}
}

// removeAll removes a folder even where a command has made folders in it that cannot be written.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(at string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(at, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}

// sweepTrials removes what trials left behind whose process died: nobody holds their lock.
func sweepTrials(home string) {
	folders, _ := filepath.Glob(filepath.Join(home, "workspaces", "trial-*"))
	for _, folder := range folders {
		f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR, 0)
		if err != nil {
			continue // being made, or not ours
		}
		if tryLock(f) == nil {
			_ = removeAll(folder)
		}
		f.Close()
	}
}

// Try makes a private copy of the present files.
func (h *Here) Try(ctx context.Context) (*Trial, error) {
	state, _, err := h.keep(ctx, "chore(plan): the files before a trial")
	if err != nil {
		return nil, err
	}
	user := h.git
	user.env, user.dir, user.lock = outside(h.git.env), h.root, nil
	return trialPlan{git: h.git.configured(wholeIndex(hereSettings)...), user: user, home: h.home, state: state, opts: h.sieve.opts}.try(ctx)
}

// Throwaway makes a private copy of the present files; done removes it.
func (h *Here) Throwaway(ctx context.Context) (dir string, done func(), err error) {
	t, err := h.Try(ctx)
	if err != nil {
		return "", nil, err
	}
	return t.Dir(), t.Close, nil
}
