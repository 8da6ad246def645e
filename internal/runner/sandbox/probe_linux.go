package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

const noVeil = "the cairn home, git hooks and git config are kept by granting what is around them, so that nothing new can be made directly in the folders that hold them"

// noLoopback and notKept tell what else is missing without namespaces.
const (
	noLoopback = "there is no network namespace: a command that may reach no host cannot use the loopback either"
	notKept    = "the cairn home, git hooks and git config that are in a folder which tasks may write are not protected"
)

// unveiled tells what becomes of the kept paths of a policy that cannot be mounted over.
func (p Policy) unveiled() string {
	if p.Lenient {
		return notKept
	}
	return noVeil
}

// Probe tells what this system can hold a task with.
func Probe() []Protection {
	abi := landlockABI()
	have := func(name string, ok bool, with, without string) Protection {
		if ok {
			return Protection{name, true, with}
		}
		return Protection{name, false, without}
	}
	problem := spaceProblem()
	return []Protection{
		have("files", abi >= 1, fmt.Sprintf("Landlock version %d keeps tasks to the files of their policy", abi),
			"tasks can read and write whatever you can: use Linux 5.13 or later with Landlock in the lsm= of the kernel"),
		have("network", abi >= 4, "TCP ports by Landlock, everything else by seccomp",
			"single ports cannot be allowed, only all of the network or none: use Linux 6.7 or later"),
		have("signals", abi >= 6, "tasks cannot signal or trace what is not theirs, nor reach abstract sockets",
			"a task could signal your other processes: use Linux 6.12 or later"),
		have("namespaces", problem == "", "nothing of a task outlives it, kept paths are mounted over, and the loopback is its own",
			notKept+"; and commands cannot use the loopback ("+problem+"): allow user namespaces, on Ubuntu by an AppArmor profile for cairn"),
		have("calls", seccompWorks(), "seccomp refuses the system calls that no task needs",
			"the kernel lacks seccomp filters, or this architecture is not known"),
		have("limits", true, "processor time, memory, processes, files and disk are bounded"+rootNote(), ""),
	}
}

func rootNote() string {
	if os.Getuid() != 0 {
		return ""
	}
	return "; as root the kernel itself does not bound processes: the keeper counts them, every 40 ms"
}

// lacking tells what a policy needs and this system does not have. Whether namespaces work is found
// out by the keeper itself, except for a strict policy, which has to know before.
func lacking(p Policy) (lacks []string) {
	abi := landlockABI()
	switch {
	case abi < 1:
		lacks = append(lacks, "there is no Landlock: the task can read and write whatever you can")
	case abi < 3:
		lacks = append(lacks, "this Landlock does not know truncation: the task can empty files that it cannot write")
	}
	if abi < 4 && p.network() && !(contains(p.Connect, AnyPort) && contains(p.Bind, AnyPort)) {
		lacks = append(lacks, "this Landlock does not know ports: the task can use all of them")
	}
	if abi < 6 {
		lacks = append(lacks, "this Landlock does not know signals: without namespaces the task can signal your other processes")
	}
	if !seccompWorks() {
		lacks = append(lacks, "there is no seccomp: the task can use any network but TCP")
	}
	if p.Strict && spaceProblem() != "" {
		lacks = append(lacks, "there are no namespaces: "+p.unveiled())
	}
	return lacks
}

// seccompWorks asks whether a filter would be taken.
var seccompWorks = sync.OnceValue(func() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, known := architectures[runtime.GOARCH]
	return known && seccompAction(&action)
})

// readable reports whether we could open what a policy hides: if not, nobody we start can.
func readable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil
}
