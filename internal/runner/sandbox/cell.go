package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Cell is a policy made ready for one child. Whoever prepared it closes it when the child has ended.
type Cell struct {
	policy Policy // with paths resolved
	tmp    string
	lent   bool // the caller made tmp, and removes it
	lacks  []string

	spaces  bool // its keeper has namespaces of its own
	network bool // and one of them is a network
}

// Prepare resolves the paths of a policy and makes its temporary folder. It refuses a policy that
// grants what it does not mean to, and a strict one that this system cannot hold.
func Prepare(p Policy) (*Cell, error) {
	lacks := lacking(p)
	if p.Strict && len(lacks) > 0 {
		return nil, fault.New(fault.Denied, "the policy is strict, and this system cannot hold it: %s", strings.Join(lacks, "; ")).
			Remedy("see what there is with: cairn doctor; or let it run with a warning: strict: false")
	}
	c := &Cell{lacks: lacks}
	if err := c.resolve(p); err != nil {
		return nil, err
	}
	if p.Tmp {
		if err := c.settle(p); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// settle finds or makes the private folder and puts into it what it is to hold.
func (c *Cell) settle(p Policy) (err error) {
	if c.tmp, c.lent = p.Private, p.Private != ""; !c.lent {
		if c.tmp, err = Temporary(); err != nil {
			return err
		}
	}
	c.policy.Write = append(c.policy.Write, c.tmp)
	if p.ExecTmp {
		c.policy.Exec = append(c.policy.Exec, c.tmp)
	}
	for name, content := range p.Holds {
		if err := os.WriteFile(filepath.Join(c.tmp, name), []byte(content), 0o600); err != nil {
			return fault.Wrap(fault.Internal, err, "cannot fill the temporary folder of the task")
		}
	}
	return nil
}

// Temporary makes a folder that only we, and what we run, can reach.
func Temporary() (string, error) {
	dir, err := os.MkdirTemp("", "cairn-task-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "cannot make a temporary folder for the task").
			Remedy("check that %s can be written to and is not full", os.TempDir())
	}
	return dir, nil
}

// Tmp is the private temporary folder; empty when the policy has none.
func (c *Cell) Tmp() string { return c.tmp }

// Lacks tells in plain words what the policy asks for and this system does not hold.
func (c *Cell) Lacks() []string { return slices.Clone(c.lacks) }

// Env points an environment to the private folder.
func (c *Cell) Env(env []string) []string {
	if c.tmp == "" {
		return env
	}
	own := []string{"TMPDIR=" + c.tmp, "HOME=" + c.tmp}
	if runtime.GOOS == "windows" {
		own = []string{"TMP=" + c.tmp, "TEMP=" + c.tmp}
	}
	return append(slices.Clip(env), own...)
}

// Close removes the temporary folder, unless the caller made it.
func (c *Cell) Close() {
	if c.tmp != "" && !c.lent {
		Remove(c.tmp)
	}
}

// Remove removes a temporary folder. A task may have left folders that cannot be entered.
func Remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// resolve replaces each path by the place that it leads to, so that what is granted is what was
// looked at.
func (c *Cell) resolve(p Policy) (err error) {
	c.policy = p
	if p.Root != "" {
		if c.policy.Root, err = filepath.EvalSymlinks(p.Root); err != nil {
			return fault.Wrap(fault.NotFound, err, "the workspace %s is not there", p.Root)
		}
	}
	c.policy.Read, c.policy.Write, c.policy.ReadOnly, c.policy.Hidden, c.policy.Exec = nil, nil, nil, nil, nil
	for _, path := range p.Read {
		if err := c.add(&c.policy.Read, path, false); err != nil {
			return err
		}
	}
	for _, path := range p.Write {
		if err := c.add(&c.policy.Write, path, true); err != nil {
			return err
		}
	}
	for _, path := range p.Exec {
		if place, err := filepath.EvalSymlinks(path); err == nil {
			c.policy.Exec = append(c.policy.Exec, place)
		}
	}
	for _, path := range p.ReadOnly {
		if err := c.keep(&c.policy.ReadOnly, path); err != nil {
			return err
		}
	}
	for _, path := range p.Hidden {
		if err := c.keep(&c.policy.Hidden, path); err != nil {
			return err
		}
	}
	return nil
}

// add resolves a path that is to be granted.
func (c *Cell) add(to *[]string, path string, write bool) error {
	if !filepath.IsAbs(path) || hasDots(path) {
		return fault.New(fault.Invalid, "the policy grants %s, which is not an absolute path without ..", path)
	}
	if write && strings.HasSuffix(path, "/") {
		if err := c.makeWithin(path); err != nil {
			return err
		}
	}
	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		if !write {
			return nil // nothing to read there
		}
		return fault.Wrap(fault.NotFound, err, "the policy lets a task write %s, which is not there", path).
			Remedy("create it first; or, for a folder, end it with / to have it made")
	}
	if c.within(path) && !under(place, c.policy.Root) {
		return fault.New(fault.Denied, "%s is a link that leads out of the workspace, to %s", path, place).
			Remedy("if that is meant, name %s itself in the policy", place)
	}
	*to = append(*to, place)
	return nil
}

// makeWithin makes a folder that the policy names, unless a link on the way leads out of the workspace.
func (c *Cell) makeWithin(path string) error {
	path = filepath.Clean(path)
	near := path
	for {
		if _, err := os.Lstat(near); err == nil || near == filepath.Dir(near) {
			break
		}
		near = filepath.Dir(near)
	}
	place, err := filepath.EvalSymlinks(near)
	if err == nil && c.within(path) && !under(place, c.policy.Root) {
		return nil // add says what is wrong
	}
	if err == nil {
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		return fault.Wrap(fault.Failed, err, "cannot make the folder %s that the policy names", path)
	}
	return nil
}

// keep resolves a path that is to be kept from the child. Naming it in Write, or something under it,
// is the way to allow it after all. One that ends in / is made where its parent is: what is not there
// cannot be protected, and would be the task's to make.
func (c *Cell) keep(to *[]string, path string) error {
	if strings.HasSuffix(path, "/") {
		path = filepath.Clean(path)
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Failed, err, "cannot make %s, to keep tasks from making it", path)
		}
	}
	st, _ := os.Lstat(path)
	place, _ := filepath.EvalSymlinks(path)
	if st == nil {
		return nil // there is nothing to keep
	}
	if st.Mode()&fs.ModeSymlink != 0 && c.writable(filepath.Dir(path)) {
		return fault.New(fault.Denied, "%s is a link, so a task could put something else in its place", path).
			Remedy("replace the link by what it leads to, %s, or let the task write it: write: [%s]", place, path)
	}
	if place == "" || slices.Contains(c.policy.Write, place) || !readable(place) && !c.writable(place) {
		return nil
	}
	*to = append(*to, place)
	return nil
}

func (c *Cell) writable(path string) bool {
	return slices.ContainsFunc(c.policy.Write, func(w string) bool { return under(path, w) })
}

// within reports whether a path is written as one of the workspace, wherever it leads.
func (c *Cell) within(path string) bool {
	return c.policy.Root != "" && under(filepath.Clean(path), c.policy.Root)
}

// under reports whether path is dir or beneath it; both are clean.
func under(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+string(filepath.Separator))
}

func hasDots(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
}
