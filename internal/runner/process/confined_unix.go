//go:build unix

package process

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// byForce is how long a keeper that was told to kill is trusted to do so.
const byForce = 2 * time.Second

// lockUp starts the keeper of a confined child and gives it its order. The child is held until the
// keeper is told to let it go.
func (c *child) lockUp(p Spec, argv []string) error {
	cmd, err := c.cell.Start(c.cmd)
	if err != nil {
		return err
	}
	c.cmd = cmd
	line, err := c.cell.Order(sandbox.Command{
		Argv: argv, Env: c.cell.Env(p.Env), Dir: p.Dir, Linger: linger, Grace: p.Grace,
	})
	if err == nil {
		err = c.say(string(line))
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

// say writes to the keeper, which reads without delay unless something is wrong with it.
func (c *child) say(words string) error {
	_ = c.gate.SetWriteDeadline(time.Now().Add(writeWithin))
	_, err := c.gate.WriteString(words)
	return err
}

// kept reports whether a keeper is between us and the child for as long as it lives.
func (c *child) kept() bool { return c.cell != nil && sandbox.Kept }

// killByKeeper has the keeper kill all that came of the child; killing the keeper instead would set
// free what has left its session. It gives up on a keeper that does not get done.
func (c *child) killByKeeper() bool {
	if c.killed.IsZero() {
		c.killed = time.Now()
		return c.say(sandbox.Kill) == nil
	}
	return time.Since(c.killed) < byForce
}

// conclude tells how the child ended: what its keeper says, or what became of the leader itself. The error
// says that it was never started.
func (c *child) conclude(o *Outcome) error {
	o.Exit = c.status.ExitStatus()
	if c.status.Signaled() {
		o.Exit, o.Signal = 128+int(c.status.Signal()), unix.SignalName(c.status.Signal())
	}
	if c.cell == nil {
		return nil
	}
	_ = c.report.SetReadDeadline(time.Now().Add(drain))
	rep, ok := sandbox.ReadReport(c.report)
	o.Limit, o.Unprotected = rep.Limit, append(c.cell.Lacks(), rep.Lacks...)
	switch {
	case rep.Errno != 0:
		return cannotStart("the process", rep.Errno)
	case rep.Error != "":
		return cannotStart("the process", errors.New(rep.Error))
	case ok:
		o.Exit, o.Signal = rep.Exit, unix.SignalName(unix.Signal(rep.Signal))
	case c.kept() && !c.status.Signaled():
		return fault.New(fault.Internal, "the keeper of process %d ended without a word, with status %d", c.self.PID, o.Exit).
			Remedy("main, or TestMain, must call sandbox.Confine when the first argument is %s", sandbox.ConfineArg)
	}
	return nil
}

// vacate removes the temporary folder of a confined child.
func (c *child) vacate() {
	if c.cell != nil {
		c.cell.Close()
	}
}
