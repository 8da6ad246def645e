package sandbox

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are the calls that no task needs, and that reach around what the other protections watch:
// the kernel's own workings, mounts, other namespaces, keys, rings that do work on one's behalf.
var refused = []uintptr{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_ACCT,
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// peeking are the calls into other processes. Landlock holds them to the task's own; without it
// they are refused, debuggers or not.
var peeking = []uintptr{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
}

// architectures are those whose call numbers are known here.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Offsets in struct seccomp_data. Both architectures are little-endian: the low half comes first.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
	offArg2   = 32

	x32 = 0x40000000 // marks the calls of a second table on amd64
)

// filter is a seccomp program under construction. Each test jumps over the answer that follows it.
type filter []unix.SockFilter

func (f *filter) load(offset uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (f *filter) answer(value uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value})
}

// unless skips the next n instructions when the loaded word compares as code says.
func (f *filter) unless(code uint16, k uint32, n uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jt: n})
}

// only skips the next n instructions when it does not.
func (f *filter) only(code uint16, k uint32, n uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jf: n})
}

func deny(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// newFilter makes the program for a policy; nil when this architecture is not known.
func newFilter(p Policy, traced bool) filter {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	var f filter
	f.load(offArch)
	f.unless(unix.BPF_JEQ, arch, 1)
	f.answer(deny(unix.EPERM)) // calls of another architecture have other numbers
	f.load(offNumber)
	f.only(unix.BPF_JGE, x32, 1)
	f.answer(deny(unix.EPERM))
	calls := slices.Concat(refused, moreRefused)
	if !traced {
		calls = slices.Concat(calls, peeking)
	}
	for _, nr := range calls {
		f.only(unix.BPF_JEQ, uint32(nr), 1)
		f.answer(deny(unix.EPERM))
	}
	// clone3 hides its flags behind a pointer; told that there is none, libraries use clone.
	f.only(unix.BPF_JEQ, unix.SYS_CLONE3, 1)
	f.answer(deny(unix.ENOSYS))
	for _, nr := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		f.only(unix.BPF_JEQ, nr, 4)
		f.load(offArg0)
		f.only(unix.BPF_JSET, unix.CLONE_NEWUSER, 1)
		f.answer(deny(unix.EPERM))
		f.answer(unix.SECCOMP_RET_ALLOW)
	}
	f.sockets(p)
	f.answer(unix.SECCOMP_RET_ALLOW)
	return f
}

// sockets refuses the families that the policy does not need, and of those that it does the protocols that
// Landlock does not see though they carry TCP or much the same: MPTCP, SCTP.
func (f *filter) sockets(p Policy) {
	var s filter
	s.load(offArg0)
	s.allow(unix.BPF_JEQ, unix.AF_NETLINK)
	if p.Unix {
		s.allow(unix.BPF_JEQ, unix.AF_UNIX)
	}
	if p.network() {
		s.unless(unix.BPF_JEQ, unix.AF_INET, 2)
		s.unless(unix.BPF_JEQ, unix.AF_INET6, 1)
		s.answer(deny(unix.EACCES))
		s.load(offArg1)
		s = append(s, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}) // without the flags
		s.unless(unix.BPF_JEQ, unix.SOCK_STREAM, 2)
		s.unless(unix.BPF_JEQ, unix.SOCK_DGRAM, 1)
		s.answer(deny(unix.EACCES))
		s.load(offArg2)
		for _, protocol := range []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6} {
			s.allow(unix.BPF_JEQ, protocol)
		}
	}
	s.answer(deny(unix.EACCES))
	f.only(unix.BPF_JEQ, unix.SYS_SOCKET, uint8(len(s)))
	*f = append(*f, s...)
}

func (f *filter) allow(code uint16, k uint32) {
	f.only(code, k, 1)
	f.answer(unix.SECCOMP_RET_ALLOW)
}

// install binds the calling thread, and all that it forks, for ever.
func (f filter) install() error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

func seccompAction(action *uint32) bool {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(action)))
	return errno == 0
}
