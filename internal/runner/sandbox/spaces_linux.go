package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/fault"
)

// marker is set for keepers alone. A program that forgot to call Confine finds it when it comes to
// confine a child, and stops there instead of starting itself without end.
const marker = "CAIRN_KEEPER"

// keeperEnv is all that a keeper sees of an environment: nothing that a plan or a person set may change what
// it does. One processor and little collection let it start faster.
var keeperEnv = append([]string{marker + "=1", "GOMAXPROCS=1", "GOGC=400"}, raceEnv...)

// noSpaces is set once the system has refused namespaces, noNetwork once it has refused one for the network; it
// will not change its mind.
var noSpaces, noNetwork atomic.Bool

// Kept says that a confined child has a keeper, which reports, and takes words for as long as it lives.
const Kept = true

// Start makes cmd a keeper of this cell and starts it, with as many namespaces of its own as are to be had. The
// caller has set its streams and its two pipes.
func (c *Cell) Start(cmd *exec.Cmd) (started *exec.Cmd, err error) {
	if os.Getenv(marker) != "" {
		return nil, fault.New(fault.Internal, "this program was started as a keeper, but did not call sandbox.Confine").
			Remedy("call it first thing in main, or in TestMain, when the first argument is %s", ConfineArg)
	}
	cmd.Path, cmd.Args, cmd.Dir = "/proc/self/exe", []string{"cairn", ConfineArg}, "/"
	cmd.Env = keeperEnv
	private := c.policy.Loopback && !c.policy.network()
	for _, try := range []struct {
		network bool
		refused *atomic.Bool
	}{{true, &noNetwork}, {false, &noSpaces}} {
		if try.refused.Load() || noSpaces.Load() || try.network && !private {
			continue
		}
		next := *cmd // a command that could not be started cannot be tried again
		next.SysProcAttr = spaceAttr(try.network)
		if err := next.Start(); !refusal(err) {
			c.spaces, c.network = true, try.network
			if private && !try.network {
				c.lacks = append(c.lacks, noLoopback)
			}
			return &next, err
		}
		try.refused.Store(true)
	}
	plain := *cmd
	plain.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.lacks = append(c.lacks, "there are no namespaces: "+c.policy.unveiled())
	if landlockABI() == 0 {
		// Nothing else keeps a task from our memory and environment. The price is that core dumps, and
		// debuggers of anyone but root, find nothing here either.
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	return &plain, plain.Start()
}

// spaceProblem tells why there are no namespaces of use; empty when there are.
func spaceProblem() string {
	if noSpaces.Load() {
		return "the system refuses them"
	}
	return trial()
}

// spaceAttr asks for a mount and a process namespace, for one of the network, and for a user namespace to be allowed
// to have them.
func spaceAttr(network bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
	if network {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	}
	return a
}

// refusal tells a system that does not give namespaces from a command that cannot be started.
func refusal(err error) bool {
	for _, e := range []error{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// trial starts a keeper that only tries its namespaces, and tells what came of it.
var trial = sync.OnceValue(func() (problem string) {
	c := &Cell{policy: Policy{Loopback: true}}
	control, engine, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer engine.Close()
	defer control.Close()
	heard, out, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer heard.Close()
	var said bytes.Buffer
	cmd, err := c.Start(&exec.Cmd{ExtraFiles: []*os.File{control, out}, Stderr: &said})
	out.Close()
	if err != nil {
		return err.Error()
	}
	defer func() { _ = cmd.Wait() }()
	line, err := c.Order(Command{})
	if err == nil {
		_, err = engine.Write(line)
	}
	if err != nil {
		return err.Error()
	}
	engine.Close()
	rep, ok := ReadReport(heard)
	switch {
	case !ok:
		return "the keeper does not answer: " + said.String()
	case !c.spaces:
		return "the system refuses them"
	case rep.Error != "":
		return rep.Error
	}
	return ""
})
