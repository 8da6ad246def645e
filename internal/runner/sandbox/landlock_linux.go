package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights on files, as Landlock groups them here. Making device nodes is granted to nobody.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK

	deviceRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	// fileRights are those that mean something for what is not a folder; the kernel refuses others.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

const (
	rulePathBeneath = 1
	ruleNetPort     = 2
)

// devices can be used by everyone. Terminals are not among them: the person's own is one.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// landlockABI is the version that this kernel speaks; 0 is none.
var landlockABI = sync.OnceValue(func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
})

// handled is all that a version knows to forbid.
func handled(abi int) (files, net, scopes uint64) {
	files = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	if abi >= 2 {
		files |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		files |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return files, net, scopes
}

// ruleset is a Landlock ruleset under construction.
type ruleset struct {
	fd    int
	files uint64
}

// newRuleset makes one for a policy. veiled says that what the policy keeps is mounted over already.
func newRuleset(p Policy, abi int, veiled bool) (*ruleset, error) {
	files, net, scopes := handled(abi)
	if contains(p.Connect, AnyPort) {
		net &^= unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if contains(p.Bind, AnyPort) {
		net &^= unix.LANDLOCK_ACCESS_NET_BIND_TCP
	}
	attr := [3]uint64{files, net, scopes}
	size := unsafe.Sizeof(attr[0])
	switch {
	case abi >= 6:
		size *= 3
	case abi >= 4:
		size *= 2
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, errno
	}
	r := &ruleset{fd: int(fd), files: files}
	err := r.allowFiles(p, veiled)
	if err == nil && net&unix.LANDLOCK_ACCESS_NET_CONNECT_TCP != 0 {
		err = r.allowPorts(p.Connect, unix.LANDLOCK_ACCESS_NET_CONNECT_TCP)
	}
	if err == nil && net&unix.LANDLOCK_ACCESS_NET_BIND_TCP != 0 {
		err = r.allowPorts(p.Bind, unix.LANDLOCK_ACCESS_NET_BIND_TCP)
	}
	if err != nil {
		_ = unix.Close(r.fd)
		return nil, err
	}
	return r, nil
}

// enforce binds the calling thread, and all that it forks, for ever.
func (r *ruleset) enforce() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	_ = unix.Close(r.fd)
	if errno != 0 {
		return errno
	}
	return nil
}

func (r *ruleset) allowFiles(p Policy, veiled bool) error {
	a := around{readOnly: p.ReadOnly, hidden: p.Hidden, veiled: veiled}
	var without uint64
	if p.Exec != nil {
		without = unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	for _, path := range p.Read {
		a.grant(path, readRights&^without)
	}
	for _, path := range p.Exec {
		a.give(path, unix.LANDLOCK_ACCESS_FS_EXECUTE)
	}
	if p.Lenient {
		a = around{veiled: true, grants: a.grants}
	}
	for _, path := range p.Write {
		a.grant(path, writeRights&^without)
	}
	for _, path := range devices {
		a.give(path, deviceRights)
	}
	if veiled {
		a.give("/dev/shm", writeRights)
	}
	for _, g := range a.grants {
		if err := r.allow(g); err != nil {
			return err
		}
	}
	return nil
}

// allow adds one path. One that has gone meanwhile needs no rule, and a link is never followed: what it
// leads to has to be granted by itself.
func (r *ruleset) allow(g grant) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := g.rights & r.files
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil
	default:
		rights &= fileRights
	}
	rule := pathBeneath{rights: rights, fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), rulePathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 && !errors.Is(errno, unix.EBADFD) {
		return errno
	}
	return nil
}

// pathBeneath is struct landlock_path_beneath_attr, which is packed: the kernel reads 12 bytes.
type pathBeneath struct {
	rights uint64
	fd     int32
	_      int32
}

func (r *ruleset) allowPorts(ports []uint16, right uint64) error {
	for _, port := range ports {
		rule := [2]uint64{right, uint64(port)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return errno
		}
	}
	return nil
}

type grant struct {
	path   string
	rights uint64
}

// around grants folders without what is kept from within them.
type around struct {
	readOnly, hidden []string
	veiled           bool
	grants           []grant
}

func (a *around) give(path string, rights uint64) { a.grants = append(a.grants, grant{path, rights}) }

// grant gives path, or, where something under it is kept and not mounted over, its entries one by one.
func (a *around) grant(path string, rights uint64) {
	if a.veiled {
		a.give(path, rights)
		return
	}
	inside := false
	for _, kept := range a.hidden {
		if kept == path {
			return
		}
		inside = inside || under(kept, path)
	}
	for _, kept := range a.readOnly {
		if kept == path {
			rights &= readRights
		}
		inside = inside || kept != path && rights&^readRights != 0 && under(kept, path)
	}
	if !inside {
		a.give(path, rights)
		return
	}
	a.give(path, unix.LANDLOCK_ACCESS_FS_READ_DIR)
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			a.grant(filepath.Join(path, e.Name()), rights)
		}
	}
}

func contains(ports []uint16, port uint16) bool {
	for _, p := range ports {
		if p == port {
			return true
		}
	}
	return false
}
