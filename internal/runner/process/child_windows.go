package process

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// child is a process that Run started and owns. It is born suspended, which is the gate, and put into
// a job that ends with the engine's handle of it.
type child struct {
	cmd   *exec.Cmd
	self  capability.Process
	ended chan struct{} // closed when it has ended
	job   windows.Handle
	cell  *sandbox.Cell // of a confined child

	stdin          *os.File
	stdout, stderr *os.File
}

// hold starts p, suspended.
func hold(p Spec) (*child, error) {
	argv, err := program(p)
	if err != nil {
		return nil, err
	}
	c := &child{ended: make(chan struct{})}
	if p.Confine != nil {
		if c.cell, err = sandbox.Prepare(*p.Confine); err != nil {
			return nil, err
		}
		p.Env = c.cell.Env(p.Env)
	}
	c.cmd = &exec.Cmd{
		Path: argv[0], Args: argv, Dir: p.Dir, Env: p.Env,
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP},
	}
	if err := c.start(p.Stdin); err != nil {
		c.closePipes()
		c.vacate()
		return nil, fault.Wrap(fault.Internal, err, "cannot start %s", p.Argv[0])
	}
	started, _ := look(c.cmd.Process.Pid)
	c.self = capability.Process{PID: c.cmd.Process.Pid, Started: started, Host: here()}
	go func() {
		_ = c.cmd.Wait() // an exit status is no error here
		close(c.ended)
	}()
	return c, nil
}

func (c *child) start(stdin io.Reader) (err error) {
	var out, errs, in *os.File
	if c.stdout, out, err = os.Pipe(); err != nil {
		return err
	}
	defer shut(out)
	if c.stderr, errs, err = os.Pipe(); err != nil {
		return err
	}
	defer shut(errs)
	c.cmd.Stdout, c.cmd.Stderr = out, errs
	if f, ok := stdin.(*os.File); ok {
		c.cmd.Stdin = f
	} else if stdin != nil {
		if in, c.stdin, err = os.Pipe(); err != nil {
			return err
		}
		defer shut(in)
		c.cmd.Stdin = in
	}
	return c.cmd.Start()
}

// enlist puts the child into a job of its own. An engine that dies before leaves it suspended: it
// has done nothing and never will.
func (c *child) enlist() (err error) {
	if c.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot make a job object")
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	c.bound(&info)
	if _, err = windows.SetInformationJobObject(c.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot bind a job object to the engine")
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.self.PID))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "cannot open process %d", c.self.PID)
	}
	defer closeHandle(h)
	if err := windows.AssignProcessToJobObject(c.job, h); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot put process %d into its job", c.self.PID)
	}
	return nil
}

// bound adds the limits of a confined child's policy to its job.
func (c *child) bound(info *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) {
	if c.cell == nil {
		return
	}
	b, basic := c.cell.Bounds(), &info.BasicLimitInformation
	if b.Memory > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = b.Memory
	}
	if b.Processes > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		basic.ActiveProcessLimit = b.Processes
	}
	if b.CPU > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_TIME
		basic.PerJobUserTimeLimit = int64(b.CPU / 100) // in steps of 100 ns
	}
}

// conclude tells how the child ended; a limit ends a job without a word.
func (c *child) conclude(o *Outcome) error {
	o.Exit = c.cmd.ProcessState.ExitCode()
	if c.cell != nil {
		o.Unprotected = c.cell.Lacks()
	}
	return nil
}

// vacate removes the temporary folder of a confined child.
func (c *child) vacate() {
	if c.cell != nil {
		c.cell.Close()
	}
}

// release resumes the one thread that a suspended process has.
func (c *child) release() error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer closeHandle(all)
	t := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(all, &t); err == nil; err = windows.Thread32Next(all, &t) {
		if t.OwnerProcessID == uint32(c.self.PID) {
			return resume(t.ThreadID)
		}
	}
	return err
}

func resume(thread uint32) error {
	h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, thread)
	if err != nil {
		return err
	}
	defer closeHandle(h)
	_, err = windows.ResumeThread(h)
	return err
}

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

// reap ends the job, and with it whatever the child left behind.
func (c *child) reap() {
	c.kill()
	if c.job != 0 {
		closeHandle(c.job)
	}
}

func (c *child) discard() {
	c.kill()
	<-c.ended
	c.reap()
	c.closePipes()
	c.vacate()
}

func (c *child) terminate() { terminateGroup(c.self.PID) }

func (c *child) kill() {
	if c.job == 0 || windows.TerminateJobObject(c.job, 1) != nil {
		_ = c.cmd.Process.Kill()
	}
}

// others is false: reap ends the whole job.
func (c *child) others() bool { return false }

// closeIn leaves the outputs to end with the job, which nobody can leave.
func (c *child) closeIn(time.Duration) { shut(c.stdin) }

// readNow is not needed: without deadlines a pipe is read to its end.
func readNow(*os.File, []byte) int { return 0 }

func (c *child) closePipes() { shut(c.stdin, c.stdout, c.stderr) }
