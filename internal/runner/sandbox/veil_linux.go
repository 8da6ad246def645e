package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// veil arranges the mounts of the keeper's namespace so that what the policy keeps from within what it
// grants is read-only or not there. A folder above a kept one is mounted on itself: a mount point
// cannot be renamed, and so nothing can be put in its place.
func veil(p Policy, tmp string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	// Where /proc is partly covered, as in containers, the kernel lets nobody mount a new one.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=25%")

	open, err := reopen(p)
	if err != nil {
		return err
	}
	defer func() {
		for _, o := range open {
			_ = unix.Close(o.fd)
		}
	}()
	var pinned []string
	for _, path := range slices.Concat(p.ReadOnly, p.Hidden) {
		for _, dir := range between(p.Write, path) {
			if !slices.Contains(pinned, dir) {
				pinned = append(pinned, dir)
			}
		}
	}
	slices.SortFunc(pinned, func(a, b string) int { return len(a) - len(b) })
	for _, dir := range pinned {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	for _, path := range p.ReadOnly {
		if err := freeze(path); err != nil {
			return err
		}
	}
	for _, path := range p.Hidden {
		if err := hide(path, open); err != nil {
			return err
		}
	}
	return cover(p, tmp)
}

// cover puts the private folder in the place of /tmp, for programs that do not look at TMPDIR, unless
// something that the policy grants is there.
func cover(p Policy, tmp string) error {
	if tmp == "" {
		return nil
	}
	for _, path := range slices.Concat(p.Read, p.Write) {
		if path != tmp && under(path, "/tmp") {
			return nil
		}
	}
	if !under(tmp, "/tmp") {
		return unix.Mount(tmp, "/tmp", "", unix.MS_BIND, "")
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, tmp, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1M"); err != nil {
		return err
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, tmp, unix.MOVE_MOUNT_F_EMPTY_PATH)
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

// freeze makes what is at path, mounts included, read-only.
func freeze(path string) error {
	if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// exposed is a granted path inside a hidden one, held open to be put back.
type exposed struct {
	path string
	dir  bool
	fd   int
}

// reopen takes hold of granted paths that are about to be hidden with what is around them.
func reopen(p Policy) (all []exposed, err error) {
	for _, path := range slices.Concat(p.Read, p.Write) {
		if !slices.ContainsFunc(p.Hidden, func(h string) bool { return h != path && under(path, h) }) {
			continue
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return all, err
		}
		st, err := os.Stat(path)
		all = append(all, exposed{path, err == nil && st.IsDir(), fd})
	}
	slices.SortFunc(all, func(a, b exposed) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// hide covers a folder by an empty one, with the granted paths put back into it, and a file by nothing.
func hide(path string, open []exposed) error {
	st, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !st.IsDir() {
		return unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=64k"); err != nil {
		return err
	}
	for _, o := range open {
		if !under(o.path, path) {
			continue
		}
		if err := o.place(); err != nil {
			return err
		}
	}
	// Not recursive: what was put back keeps its own rights.
	return unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

func (o exposed) place() error {
	var err error
	if o.dir {
		err = os.MkdirAll(o.path, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(o.path), 0o755); err == nil {
		var f *os.File
		f, err = os.OpenFile(o.path, os.O_CREATE|os.O_WRONLY, 0o644)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	return unix.MoveMount(o.fd, "", unix.AT_FDCWD, o.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
