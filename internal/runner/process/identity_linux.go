package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// epoch tells this boot and this pid namespace from others.
func epoch() []string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return []string{strings.TrimSpace(string(boot)), ns}
}

// look reads the start time of a process, in clock ticks since boot, and whether it runs; zero
// when there is none.
func look(pid int) (started uint64, running bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name, in parentheses, may hold anything; what follows its last one is fixed: state is
	// field 3, the start time field 22.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return 0, false
	}
	started, _ = strconv.ParseUint(string(f[19]), 10, 64)
	state := f[0][0]
	return started, state != 'Z' && state != 'X'
}

// keeper reports whether a process keeps a confined child, and so ends by itself when it is asked to.
func keeper(pid int) bool {
	args, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	_, rest, _ := bytes.Cut(args, []byte{0})
	return bytes.HasPrefix(rest, []byte(sandbox.ConfineArg+"\x00"))
}

// session lists the running processes of the session that pid leads or led, without pid itself.
// Asking the kernel for the session of each is far cheaper than reading what /proc says of each.
func session(pid int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer shut(dir)
	names, _ := dir.Readdirnames(-1)
	var found []int
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		n, err := strconv.Atoi(name)
		if err != nil || n == pid {
			continue
		}
		if sid, err := unix.Getsid(n); err != nil || sid != pid {
			continue
		}
		if _, running := look(n); running {
			found = append(found, n)
		}
	}
	return found
}

// occupied reports whether anything but the leader is left of its session.
func occupied(pid int) bool { return len(session(pid)) > 0 }

// signalGroup reaches the group, and those of the session that made a group of their own, as
// timeout(1) and shells with job control do.
func signalGroup(pid int, sig unix.Signal) {
	_ = unix.Kill(-pid, sig)
	for _, n := range session(pid) {
		if g, err := unix.Getpgid(n); err == nil && g != pid {
			_ = unix.Kill(n, sig)
		}
	}
}
