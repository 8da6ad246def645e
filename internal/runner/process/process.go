// Package process runs children of the engine so that none outlives it, and none does anything
// before it is on record.
//
// A child is started held at a gate, leading a session (and so a process group) of its own. It is
// listed with the supervisor, then recorded by the host; only then is the gate opened. An engine that
// dies earlier leaves a gate that reads end of file, and the child goes without having done anything. An
// engine that dies later is noticed by the supervisor, the same binary in a session of its own at the
// other end of a pipe: at end of file it ends every group still listed. On Windows a job object that
// the kernel closes with the engine takes the place of both.
//
// Whoever calls Run owns the child until Run returns, and then nothing of it is left: what a leader
// leaves behind in its session is killed. Two things escape: a descendant that opens a session of
// its own (setsid, as daemons do), and, on macOS, one that leaves its process group. Neither holds Run up:
// waiting for pipes that others keep open is bounded.
//
// A child with a policy is started through a keeper of package sandbox, which is then what is on record
// and what the supervisor knows. On Linux it is the parent of all that comes of the child, and nothing
// escapes it, sessions or not. It too sees the engine die, by the end of its pipe.
//
// Pdeathsig is not used: it fires when the OS thread that forked ends, which the Go runtime may do at
// any time while the engine lives, and it would reach the leader alone.
package process

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// TailSize is how much of the end of a stream an Outcome keeps.
const TailSize = 4 << 10

const (
	defaultOutput = 16 << 20
	defaultGrace  = 3 * time.Second

	// drain bounds the wait for pipes that somebody outside the session holds open.
	drain = 250 * time.Millisecond
	// stuck bounds the wait for a process that even SIGKILL does not end, as on a dead network disk.
	stuck = 5 * time.Second
)

// linger is what the rest of a group is given once its leader has ended by itself: enough for
// the `tee` of a process substitution to write its last, too little to be a daemon. Only a test,
// which cannot know how busy the machine is, changes it.
var linger = 100 * time.Millisecond

// Spec is a child to be run.
type Spec struct {
	Argv  []string  // the program, looked up on the PATH of Env, and its arguments
	Dir   string    // absolute
	Env   []string  // all of it: nothing is inherited. See Env
	Stdin io.Reader // nil: empty. An *os.File is handed over as it is; another must not block for ever

	MaxOutput int64         // of each stream, what the sinks get; 16 MiB when zero
	Grace     time.Duration // from asking to end to killing; 3s when zero
	Stdout    io.Writer     // may be nil
	Stderr    io.Writer     // may be nil

	Confine *sandbox.Policy // what the child is kept to; nil: it may do whatever we may
}

// Outcome is how a child ended.
type Outcome struct {
	Exit   int    // 128 and the signal's number when a signal ended it, as a shell says it
	Signal string // SIGKILL, ...; empty when it ended by itself

	Stdout, Stderr           []byte // the last TailSize bytes, cut between characters
	StdoutBytes, StderrBytes int64  // all that was written, kept or not
	Truncated                int64  // bytes of both that the cap kept from the sinks

	Limit       string   // the limit of its policy for which it was ended, in words
	Unprotected []string // what its policy asks for and this system does not hold, in words

	Process  capability.Process
	Duration time.Duration
}

// at is called between the steps of a child's life, so that a test can die at each of them.
var at = func(string) {}

// Run runs a child to its end. The error is nil whenever the child ended by itself, whatever its exit
// status. When ctx ends first, the child is ended and the error wraps the cause of ctx; when the
// child could not be started, or Spawned refused it, it has done nothing. Between these two, a sink
// that failed is told last.
func Run(ctx context.Context, host capability.Host, p Spec) (Outcome, error) {
	p = p.withDefaults()
	if err := p.check(); err != nil {
		return Outcome{}, err
	}
	if ctx.Err() != nil {
		return Outcome{}, stopped(ctx)
	}
	c, err := hold(p)
	if err != nil {
		return Outcome{}, err
	}
	if err := c.admit(ctx, host); err != nil {
		c.discard()
		return Outcome{}, err
	}
	return c.follow(ctx, host, p)
}

func (p Spec) withDefaults() Spec {
	if p.MaxOutput <= 0 {
		p.MaxOutput = defaultOutput
	}
	if p.Grace <= 0 {
		p.Grace = defaultGrace
	}
	return p
}

func (p Spec) check() error {
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return fault.New(fault.Invalid, "there is no program to run")
	}
	if st, err := os.Stat(p.Dir); p.Dir != "" && (err != nil || !st.IsDir()) {
		return fault.New(fault.NotFound, "the working directory %s is not there", p.Dir).
			Remedy("create it first, or name another in dir")
	}
	return nil
}

// admit takes a held child through what must be on record before it may do anything.
func (c *child) admit(ctx context.Context, host capability.Host) error {
	at("started")
	if c.self.Started == 0 {
		return fault.New(fault.Internal, "cannot tell when process %d was started, so it could not be found again after a crash", c.self.PID).
			Remedy("on Linux /proc must be mounted: mount -t proc proc /proc")
	}
	if err := c.enlist(); err != nil {
		return err
	}
	at("listed")
	if err := host.Spawned(c.self); err != nil {
		return err
	}
	at("spawned")
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if err := c.release(); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot let process %d go", c.self.PID)
	}
	at("released")
	return nil
}

// follow sees a released child to its end.
func (c *child) follow(ctx context.Context, host capability.Host, p Spec) (Outcome, error) {
	began := time.Now()
	beat := pulse(host)
	out := stream{from: c.stdout, sink: p.Stdout, limit: p.MaxOutput, beat: beat}
	errs := stream{from: c.stderr, sink: p.Stderr, limit: p.MaxOutput, beat: beat}
	var pumps sync.WaitGroup
	pumps.Go(out.drain)
	pumps.Go(errs.drain)
	fed := c.feed(p.Stdin)

	cut, err := c.await(ctx, p.Grace)
	o := Outcome{Process: c.self, Duration: time.Since(began)}
	if err == nil {
		at("ended")
		c.reap()
		err = c.conclude(&o)
	}
	c.closeIn(drain)
	pumps.Wait()
	select {
	case <-fed:
	case <-time.After(drain):
	}
	c.closePipes()
	c.vacate()

	o.Stdout, o.StdoutBytes = out.tail.cut(), out.seen
	o.Stderr, o.StderrBytes = errs.tail.cut(), errs.seen
	o.Truncated = out.left() + errs.left()
	switch {
	case err != nil:
		return o, err
	case cut:
		return o, stopped(ctx)
	case out.err != nil:
		return o, fault.Wrap(fault.Internal, out.err, "cannot keep the standard output")
	case errs.err != nil:
		return o, fault.Wrap(fault.Internal, errs.err, "cannot keep the standard error")
	}
	return o, nil
}

// await returns once the leader has ended and nothing else of its session is left; cut says that
// this was not its own doing.
func (c *child) await(ctx context.Context, grace time.Duration) (cut bool, err error) {
	select {
	case <-c.ended:
	case <-ctx.Done():
		select {
		case <-c.ended: // both happened: it was faster
		default:
			cut = true
		}
	}
	if !cut {
		c.clear(linger)
		return false, nil
	}
	c.terminate()
	over := time.Now().Add(grace)
	select {
	case <-c.ended:
	case <-time.After(grace):
	}
	c.clear(time.Until(over))
	select {
	case <-c.ended:
		return true, nil
	case <-time.After(stuck):
		return true, fault.New(fault.Internal, "process %d does not end, not even by force", c.self.PID).
			Remedy("look at it with: ps -o pid,stat,wchan,args -p %d; it often hangs on a disk or a network that is gone", c.self.PID)
	}
}

// clear gives what is left of the session d to go, then kills it.
func (c *child) clear(d time.Duration) {
	if c.settle(d) {
		return
	}
	c.kill()
	for over := time.Now().Add(stuck); !c.settle(5*time.Millisecond) && time.Now().Before(over); {
		c.kill() // it may have forked meanwhile
	}
}

// settle waits until the leader has ended and the session is empty, at most d.
func (c *child) settle(d time.Duration) bool {
	return poll(d, func() bool {
		select {
		case <-c.ended:
			return !c.others()
		default:
			return false
		}
	})
}

// poll asks until the answer is yes, at once and then ever more seldom, for at most d.
func poll(d time.Duration, yes func() bool) bool {
	over := time.Now().Add(d)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if yes() {
			return true
		}
		left := time.Until(over)
		if left <= 0 {
			return false
		}
		<-time.After(min(pause, left))
	}
}

// shut closes what is open of files that nothing is lost with: pipes, and what was only read.
func shut(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

func stopped(ctx context.Context) error {
	return fault.Wrap(fault.Interrupted, context.Cause(ctx), "the process was stopped")
}
