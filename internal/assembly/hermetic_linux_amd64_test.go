package assembly_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
)

// Every example is carried out, and then replayed by a process that can neither open a socket nor start a process.
func TestReplayOfEveryExampleIsHermetic(t *testing.T) {
	files, err := filepath.Glob("../../examples/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := carryOutFile(dir, name, ""); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CAIRN_TEST_REPLAY="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "the same again") {
				t.Errorf("%s", out)
			}
		})
	}
}

// replayDenied replays every plan of a folder after giving up sockets and processes.
func replayDenied(dir string) error {
	if err := deny(); err != nil {
		return err
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close()
		return fmt.Errorf("a socket could be opened")
	}
	if err := exec.Command("/bin/true").Run(); err == nil {
		return fmt.Errorf("a process could be started")
	}
	ctx := context.Background()
	h, err := assembly.Open(ctx, options(dir, ""))
	if err != nil {
		return err
	}
	defer h.Close()
	home, err := h.Audit()
	if err != nil {
		return err
	}
	names, err := h.Store.Plans(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		head, err := h.Store.Head(ctx, name)
		if err != nil {
			return err
		}
		got, err := audit.Replay(ctx, home, name)
		if err != nil {
			return err
		}
		if got.Head != head.Hash {
			return fmt.Errorf("%s ends in %s, not in %s", name, got.Head, head.Hash)
		}
		fmt.Printf("%s: the same again\n", name)
	}
	return nil
}

// deny forbids, with a seccomp filter on all threads: socket, connect, execve, execveat, fork, vfork, and clone but for
// threads.
func deny() error {
	runtime.LockOSThread()
	const (
		load, jeq, jset, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
			unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
		allow, refuse, unknown = 0x7fff0000, 0x00050000 | uint32(unix.EPERM), 0x00050000 | uint32(unix.ENOSYS)
	)
	f := []unix.SockFilter{{Code: load, K: 0}} // the number of the call
	for _, nr := range []uint32{unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_FORK, unix.SYS_VFORK} {
		f = append(f, unix.SockFilter{Code: jeq, Jf: 1, K: nr}, unix.SockFilter{Code: ret, K: refuse})
	}
	f = append(f,
		unix.SockFilter{Code: jeq, Jf: 1, K: unix.SYS_CLONE3}, unix.SockFilter{Code: ret, K: unknown},
		unix.SockFilter{Code: jeq, Jf: 3, K: unix.SYS_CLONE},
		unix.SockFilter{Code: load, K: 16}, // its first argument: the flags
		unix.SockFilter{Code: jset, Jt: 1, K: unix.CLONE_THREAD},
		unix.SockFilter{Code: ret, K: refuse},
		unix.SockFilter{Code: ret, K: allow})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	const setFilter, allThreads = 1, 1
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}
