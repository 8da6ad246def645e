//go:build linux

package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	attackArg = "__attack"
	broke     = "BROKE OUT" // what an attack says when it was not held
)

// attack is the test binary as a hostile program, for what a shell cannot do. Each is harmless when it succeeds: it
// says so, and does nothing with it.
func attack(args []string) int {
	var err error
	arg, n := "", 0
	if len(args) > 1 {
		arg = args[1]
		n, _ = strconv.Atoi(arg)
	}
	switch args[0] {
	case "signal":
		err = unix.Kill(n, 0)
	case "trace":
		err = unix.PtraceAttach(n)
	case "vmread":
		b, base := make([]byte, 8), uintptr(0x400000)
		_, err = unix.ProcessVMReadv(n, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: base, Len: 8}}, 0)
	case "mem":
		err = opens(fmt.Sprintf("/proc/%d/mem", n), os.O_RDWR)
	case "dial":
		err = dial(arg, args[2])
	case "send":
		err = send(arg)
	case "listen":
		_, err = net.Listen("tcp", "127.0.0.1:0")
	case "mptcp":
		_, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	case "open":
		err = opens(arg, os.O_RDONLY)
	case "openw":
		err = opens(arg, os.O_WRONLY)
	case "truncate":
		err = unix.Truncate(arg, 0)
	case "mknod":
		err = unix.Mknod(arg, unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0)))
	case "mount":
		err = unix.Mount("tmpfs", arg, "tmpfs", 0, "")
	case "umount":
		err = unix.Unmount(arg, unix.MNT_DETACH)
	case "chroot":
		err = unix.Chroot(arg)
	case "userns":
		cmd := exec.Command("true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		err = cmd.Run()
	case "setns":
		err = enter(n)
	case "clock":
		now := unix.NsecToTimespec(time.Now().UnixNano())
		err = unix.ClockSettime(unix.CLOCK_REALTIME, &now)
	case "uring":
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 2, uintptr(unsafe.Pointer(&params)), 0)
		err = errnoOf(errno)
	case "keys":
		_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false)
	case "memory":
		err = hog(n)
	case "files":
		err = unix.Dup3(1, n, 0)
	case "fds":
		err = scribble()
	case "uid":
		if err = errors.New("the same"); unix.Geteuid() != n {
			err = nil
		}
	default:
		err = errors.New("there is no such attack")
	}
	if err != nil {
		fmt.Println(args[0], "held:", err)
		return 1
	}
	fmt.Println(broke)
	return 0
}

func errnoOf(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

func opens(path string, flag int) error {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.Close()
	}
	return err
}

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

func send(addr string) error {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("secret"))
	return err
}

func enter(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, unix.CLONE_NEWUTS)
}

// hog takes memory for good, a megabyte at a time.
func hog(mb int) error {
	var all [][]byte
	for range mb {
		b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	fmt.Println("took", len(all))
	if mb < 256 {
		time.Sleep(5 * time.Second)
	}
	return nil
}

// scribble writes into every descriptor that it was not given on purpose.
func scribble() error {
	found := errors.New("there is none")
	for fd := 3; fd < 64; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil {
			continue
		}
		target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if strings.HasPrefix(target, "anon_inode:") || st.Mode&unix.S_IFMT == unix.S_IFSOCK {
			continue // the Go runtime's own
		}
		if _, err := unix.Write(fd, []byte(broke)); err == nil {
			found = nil
		}
	}
	return found
}
