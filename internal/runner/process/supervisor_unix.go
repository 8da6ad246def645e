//go:build unix

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	readyLine = "supervising"
	// marker is set for the supervisor alone. A program that forgot to call Supervise finds it when
	// it comes to run a child, and stops there instead of starting itself without end.
	marker = "CAIRN_SUPERVISOR"

	readyWithin = 20 * time.Second
	writeWithin = 5 * time.Second
	// briefly is the life below which a dead supervisor is replaced with a pause, so that one that
	// cannot live does not keep the engine busy.
	briefly = time.Second
)

var supervisor = &watchman{groups: map[int]uint64{}}

// watchman is the engine's side of the supervisor: the one writer of its pipe. The list is kept here
// too, so that a supervisor that somebody killed is replaced by one that knows as much.
type watchman struct {
	mu     sync.Mutex
	groups map[int]uint64 // pid of the leader to its start time
	cmd    *exec.Cmd      // nil while there is no supervisor
	pipe   *os.File
	gone   sync.WaitGroup // of supervisors that have not been collected
}

// add lists a group. Once it returns nil, the line is in the pipe and will be read even if the engine
// dies at once.
func (w *watchman) add(pid int, started uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups[pid] = started
	if w.cmd != nil && w.say(fmt.Sprintf("+%d %d\n", pid, started)) == nil {
		return nil
	}
	if err := w.start(); err != nil {
		delete(w.groups, pid)
		return err
	}
	return nil
}

// remove takes a group off the list. A supervisor that cannot be told is about to be replaced by
// one that never hears of the group.
func (w *watchman) remove(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.groups, pid)
	if w.cmd != nil {
		_ = w.say(fmt.Sprintf("-%d\n", pid))
	}
}

func (w *watchman) close() {
	w.mu.Lock()
	clear(w.groups)
	shut(w.pipe)
	w.cmd, w.pipe = nil, nil
	w.mu.Unlock()
	w.gone.Wait()
}

// say writes one line, short enough for the pipe to take it whole or not at all. A supervisor that does
// not take it is put out of action before its pipe is closed: it would take that for the engine's end.
func (w *watchman) say(line string) error {
	_ = w.pipe.SetWriteDeadline(time.Now().Add(writeWithin))
	_, err := w.pipe.WriteString(line)
	if err != nil {
		_ = w.cmd.Process.Kill()
		shut(w.pipe)
		w.cmd, w.pipe = nil, nil
	}
	return err
}

// start starts a supervisor that knows all that is listed. It returns when the supervisor has said
// that it listens.
func (w *watchman) start() error {
	if os.Getenv(marker) != "" {
		return fault.New(fault.Internal, "this program was started as a supervisor, but did not call process.Supervise").
			Remedy("call it first thing in main, or in TestMain, when the first argument is %s", SupervisorArg)
	}
	cmd, pipe, ready, err := launch(w.orders())
	if err != nil {
		return fault.Wrap(fault.Internal, err, "cannot start the supervisor of child processes").
			Remedy("check that this program may start itself, and the limits of processes: ulimit -u")
	}
	defer shut(ready)
	_ = ready.SetReadDeadline(time.Now().Add(readyWithin))
	if line, err := bufio.NewReader(ready).ReadString('\n'); strings.TrimSpace(line) != readyLine {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		shut(pipe)
		return fault.New(fault.Internal, "the supervisor of child processes does not answer: %q, %v", strings.TrimSpace(line), err).
			Remedy("main, or TestMain, must call process.Supervise when the first argument is %s", SupervisorArg)
	}
	w.cmd, w.pipe = cmd, pipe
	began := time.Now()
	w.gone.Go(func() { w.attend(cmd, began) })
	return nil
}

// orders is the whole list.
func (w *watchman) orders() string {
	var b strings.Builder
	for pid, started := range w.groups {
		fmt.Fprintf(&b, "+%d %d\n", pid, started)
	}
	return b.String()
}

// launch starts this binary as a supervisor: out of reach of the terminal, and of everything else
// but the pipe. Its first orders are in the pipe before it starts, so that there is no moment at which
// it lives, the engine dies, and it knows of nothing.
func launch(first string) (cmd *exec.Cmd, pipe, ready *os.File, err error) {
	self, err := executablePath()
	if err != nil {
		return nil, nil, nil, err
	}
	orders, pipe, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer shut(orders)
	_ = pipe.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err := pipe.WriteString(first); err != nil {
		shut(pipe)
		return nil, nil, nil, err
	}
	ready, answer, err := os.Pipe()
	if err != nil {
		shut(pipe)
		return nil, nil, nil, err
	}
	defer shut(answer)
	cmd = &exec.Cmd{
		Path: self, Args: []string{os.Args[0], SupervisorArg}, Dir: "/", Env: []string{marker + "=1"},
		Stdin: orders, Stdout: answer, SysProcAttr: &unix.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		shut(pipe, ready)
		return nil, nil, nil, err
	}
	return cmd, pipe, ready, nil
}

// attend collects a supervisor when it ends, and replaces one that ended while it was needed.
func (w *watchman) attend(cmd *exec.Cmd, since time.Time) {
	_ = cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.cmd {
	case nil: // it did not take a line, or was let go
	case cmd:
		shut(w.pipe)
		w.cmd, w.pipe = nil, nil
	default:
		return
	}
	if time.Since(since) < briefly {
		time.AfterFunc(briefly, w.mend)
		return
	}
	w.revive()
}

func (w *watchman) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revive()
}

func (w *watchman) revive() {
	if w.cmd == nil && len(w.groups) > 0 {
		_ = w.start() // when it fails, the next child tries again
	}
}
