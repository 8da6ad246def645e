//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// The gate: a shell that waits for a line on descriptor 3, closes it and becomes the program. It is a
// shell because it starts several times faster than this binary would. 125 says that the gate
// was never opened; a program that cannot be executed after all gives the shell's 126 or 127.
const (
	gateShell  = "/bin/sh"
	gateScript = `read -r _ <&3 || exit 125; exec 3<&-; exec "$@"`
)

// child is a process that Run started and owns.
type child struct {
	cmd    *exec.Cmd
	self   capability.Process
	ended  chan struct{} // closed when the leader has ended
	listed bool
	status syscall.WaitStatus // of the leader, once it was collected

	cell   *sandbox.Cell // of a confined child
	killed time.Time     // when its keeper was told to kill it
	report *os.File      // what its keeper says at the end

	gate           *os.File // and, to a keeper, all that is said
	stdin          *os.File // our end; nil when there is nothing to feed
	stdout, stderr *os.File
}

// hold starts p, held at the gate.
func hold(p Spec) (*child, error) {
	argv, err := program(p)
	if err != nil {
		return nil, err
	}
	for _, e := range p.Env {
		if name, _, _ := strings.Cut(e, "="); !identifier(name) {
			return nil, fault.New(fault.Invalid, "%q cannot be the name of an environment variable: a shell would lose it", name).
				Remedy("use letters, digits and _, not beginning with a digit")
		}
	}
	keepFiles()
	if p.Dir != "" {
		p.Env = append(slices.Clip(p.Env), "PWD="+p.Dir)
	}
	c := &child{ended: make(chan struct{})}
	c.cmd = &exec.Cmd{
		Path: gateShell, Args: append([]string{"sh", "-c", gateScript, "sh"}, argv...),
		Dir: p.Dir, Env: p.Env, SysProcAttr: &unix.SysProcAttr{Setsid: true},
	}
	if p.Confine != nil {
		if c.cell, err = sandbox.Prepare(*p.Confine); err != nil {
			return nil, err
		}
	}
	if err := c.start(p, argv); err != nil {
		c.closePipes()
		c.vacate()
		return nil, cannotStart(p.Argv[0], err)
	}
	started, _ := look(c.cmd.Process.Pid)
	c.self = capability.Process{PID: c.cmd.Process.Pid, Started: started, Host: here()}
	go c.watch()
	return c, nil
}

// start opens the pipes and starts the command; the child's ends are closed again in any case.
func (c *child) start(p Spec, argv []string) (err error) {
	var theirs []*os.File
	defer func() { shut(theirs...) }()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var gate, in, out, errs, report *os.File
	gate, c.gate = pipe()
	c.stdout, out = pipe()
	c.stderr, errs = pipe()
	if f, ok := p.Stdin.(*os.File); ok {
		c.cmd.Stdin = f
	} else if p.Stdin != nil {
		in, c.stdin = pipe()
		c.cmd.Stdin = in
	}
	if c.cell != nil {
		c.report, report = pipe()
	}
	theirs = []*os.File{gate, in, out, errs, report}
	if err != nil {
		return err
	}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = out, errs, []*os.File{gate}
	if c.cell == nil {
		return c.cmd.Start()
	}
	c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, report)
	return c.lockUp(p, argv)
}

func (c *child) enlist() error {
	c.listed = true
	return supervisor.add(c.self.PID, c.self.Started)
}

func (c *child) release() error {
	if c.cell != nil {
		return c.say(sandbox.Go)
	}
	_, err := c.gate.Write([]byte{'\n'})
	return errors.Join(err, c.gate.Close())
}

// feed copies stdin into the child until either has had enough; the channel closes when it is done.
func (c *child) feed(stdin io.Reader) <-chan struct{} {
	done := make(chan struct{})
	if c.stdin == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		_, _ = io.Copy(c.stdin, stdin) // a child need not read it all
		shut(c.stdin)
	}()
	return done
}

// reap takes the leader off the supervisor's list while its pid is still its own, then collects it.
func (c *child) reap() {
	if c.listed {
		supervisor.remove(c.self.PID)
	}
	c.status = c.collect()
}

// discard ends a child that was never let go.
func (c *child) discard() {
	c.closePipes()
	_ = unix.Kill(-c.self.PID, unix.SIGKILL)
	<-c.ended
	c.reap()
	c.vacate()
}

func (c *child) terminate() {
	if !c.kept() || c.say(sandbox.Term) != nil {
		terminateGroup(c.self.PID)
	}
}

func (c *child) kill() {
	if !c.kept() || !c.killByKeeper() {
		killGroup(c.self.PID)
	}
}

func (c *child) others() bool { return occupied(c.self.PID) }

// closeIn lets what is in the pipes be read, but for no longer than d.
func (c *child) closeIn(d time.Duration) {
	shut(c.stdin)
	over := time.Now().Add(d)
	_ = c.stdout.SetReadDeadline(over)
	_ = c.stderr.SetReadDeadline(over)
}

func (c *child) closePipes() { shut(c.gate, c.stdin, c.stdout, c.stderr, c.report) }

// readNow reads what is there without waiting for more.
func readNow(f *os.File, b []byte) (n int) {
	conn, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Time{}) != nil {
		return 0
	}
	_ = conn.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), b)
		return true
	})
	return n
}

// terminateGroup asks a group to end; what is stopped has to go on to hear it.
func terminateGroup(pid int) {
	signalGroup(pid, unix.SIGTERM)
	signalGroup(pid, unix.SIGCONT)
}

func killGroup(pid int) { signalGroup(pid, unix.SIGKILL) }

func cannotStart(name string, err error) error {
	f := fault.Wrap(fault.Internal, err, "cannot start %s", name)
	switch {
	case errors.Is(err, unix.E2BIG):
		return fault.Wrap(fault.Invalid, err, "the command or its environment is too long for the system").
			Remedy("put the text into a file and run that, or hand it over through stdin")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.EAGAIN):
		return f.Remedy("run fewer tasks at once (workers), or raise the limits of open files and processes: ulimit -n, ulimit -u")
	case errors.Is(err, os.ErrNotExist):
		return f.Remedy("cairn starts every process through %s, which must be there", gateShell)
	}
	return f
}
