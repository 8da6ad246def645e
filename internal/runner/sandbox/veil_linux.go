package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// layer is one thing that is mounted over what was there.
type layer struct {
	path string
	fd   int  // the granted path as it was, for one that is to be put back; -1 otherwise
	dir  bool // likewise
	lay  func(layer, []layer) error
}

// veil arranges the mounts of the keeper's namespace: all is read-only but what the policy lets be written,
// which also holds for modes and times that Landlock does not know; and what it keeps from within that is
// read-only or not there. Layers are laid from the root downwards, so that the nearest one counts.
func veil(p Policy, tmp string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	layers, err := layersOf(p)
	defer func() {
		for _, l := range layers {
			if l.fd >= 0 {
				_ = unix.Close(l.fd)
			}
		}
	}()
	if err != nil {
		return err
	}
	// Where /proc is partly covered, as in containers, the kernel lets nobody mount a new one.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err := setReadOnly("/", unix.AT_RECURSIVE); err != nil {
		return err
	}
	_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=25%")
	for _, l := range layers {
		if err := l.lay(l, layers); err != nil {
			return &os.PathError{Op: "mount", Path: l.path, Err: err}
		}
	}
	return cover(p, tmp)
}

// layersOf lists what is to be laid, and takes hold of the granted paths before they are covered.
func layersOf(p Policy) (all []layer, err error) {
	add := func(path string, lay func(layer, []layer) error) {
		all = append(all, layer{path: path, fd: -1, lay: lay})
	}
	hidden := func(path string) bool {
		return slices.ContainsFunc(p.Hidden, func(h string) bool { return h != path && under(path, h) })
	}
	hold := func(path string, lay func(layer, []layer) error) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err == nil {
			st, err := os.Stat(path)
			all = append(all, layer{path, fd, err == nil && st.IsDir(), lay})
		}
		return err
	}
	for _, path := range p.Read {
		if hidden(path) {
			if err := hold(path, putBackReadOnly); err != nil {
				return all, err
			}
		}
	}
	for _, path := range p.Write {
		if err := hold(path, putBack); err != nil {
			return all, err
		}
	}
	for _, path := range p.ReadOnly {
		add(path, freeze)
	}
	for _, path := range p.Hidden {
		add(path, hide)
	}
	for _, path := range slices.Concat(p.ReadOnly, p.Hidden) {
		for _, dir := range between(p.Write, path) {
			if !slices.ContainsFunc(all, func(l layer) bool { return l.path == dir }) {
				add(dir, pin)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b layer) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

func setReadOnly(path string, flags uint) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// putBack mounts a granted path where it was, as it was.
func putBack(l layer, _ []layer) error {
	return unix.MoveMount(l.fd, "", unix.AT_FDCWD, l.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func putBackReadOnly(l layer, all []layer) error {
	if err := putBack(l, all); err != nil {
		return err
	}
	return setReadOnly(l.path, unix.AT_RECURSIVE)
}

// pin mounts a folder that holds a kept path on itself: a mount point cannot be renamed, and so nothing
// can be put in its place.
func pin(l layer, _ []layer) error {
	return unix.Mount(l.path, l.path, "", unix.MS_BIND|unix.MS_REC, "")
}

// freeze makes what is at a path, mounts included, read-only.
func freeze(l layer, all []layer) error {
	if err := pin(l, all); err != nil {
		return err
	}
	return setReadOnly(l.path, unix.AT_RECURSIVE)
}

// hide covers a folder by an empty one, with places for what is to be put back into it, and a file by
// nothing.
func hide(l layer, all []layer) error {
	st, _ := os.Stat(l.path)
	if st == nil {
		return nil // it is inside something that is hidden already
	}
	if !st.IsDir() {
		return unix.Mount("/dev/null", l.path, "", unix.MS_BIND, "")
	}
	if err := unix.Mount("tmpfs", l.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=64k"); err != nil {
		return err
	}
	for _, o := range all {
		if o.fd < 0 || o.path == l.path || !under(o.path, l.path) {
			continue
		}
		if err := o.place(); err != nil {
			return err
		}
	}
	return setReadOnly(l.path, 0)
}

// place makes what a granted path is mounted on.
func (l layer) place() error {
	if l.dir {
		return os.MkdirAll(l.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(l.path, nil, 0o644)
}

// between lists the folders from below what is granted down to above path.
func between(granted []string, path string) (dirs []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		inside := slices.ContainsFunc(granted, func(g string) bool { return g != dir && under(dir, g) })
		if !inside {
			return dirs
		}
		dirs = append(dirs, dir)
	}
}

// cover puts the private folder in the place of /tmp, for programs that do not look at TMPDIR, unless
// something else that the policy grants is there.
func cover(p Policy, tmp string) error {
	for _, path := range slices.Concat(p.Read, p.Write) {
		if path != tmp && under(path, "/tmp") {
			return nil
		}
	}
	if tmp == "" {
		return nil
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, tmp, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Mount(tmp, "/tmp", "", unix.MS_BIND, ""); err != nil || !under(tmp, "/tmp") {
		return err
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, tmp, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
