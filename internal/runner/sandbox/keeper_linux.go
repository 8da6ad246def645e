package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	controlFD = 3 // from the engine
	reportFD  = 4 // to the engine

	// orphanGrace is what a child is given when its engine has died, or somebody asked the keeper to end.
	orphanGrace = 500 * time.Millisecond
	watchEvery  = 40 * time.Millisecond
	killEvery   = 5 * time.Millisecond
	// killWithin bounds how long the keeper tries; in a process namespace its own end ends the rest.
	killWithin = 3 * time.Second
)

// The inner gate: the child has to be there for its limits to be set, but may do nothing before that.
const (
	gateShell  = "/bin/sh"
	gateScript = `read -r _ <&3 || exit 125; exec 3<&-; exec "$@"`
)

// keeper is the parent of a confined child, and of all that comes of it.
type keeper struct {
	order order
	main  int
	gate  *os.File

	report   Report
	ended    bool // the main child has
	released bool
	killing  time.Time // since when everything is being killed
	files    int64     // that the disks had room for at the beginning
}

// event is the main child, collected; pid is 0 when no process is left.
type event struct {
	pid    int
	status unix.WaitStatus
}

// Confine is a keeper's whole life. It returns the exit status, which says nothing: the report does.
func Confine() int {
	control, out := os.NewFile(controlFD, "control"), os.NewFile(reportFD, "report")
	if control == nil || out == nil || !inherited() {
		fmt.Fprintf(os.Stderr, "%s is for cairn itself: it keeps a process to its policy\n", ConfineArg)
		return 2
	}
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)

	from := bufio.NewReader(control)
	o, err := readOrder(from)
	if err != nil {
		return 125 // the engine died before it gave one
	}
	if len(o.Argv) == 0 {
		return try(o, out)
	}
	k := &keeper{order: o}
	if err := k.start(); err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		k.report = Report{Exit: 126, Error: err.Error(), Errno: errno, Lacks: k.report.Lacks}
	} else {
		k.keep(words(from), collect(k.main), asked)
	}
	_ = json.NewEncoder(out).Encode(k.report)
	return 0
}

// try finds out whether the namespaces that the keeper was started in are of use.
func try(o order, out *os.File) int {
	var rep Report
	err := veil(Policy{}, "")
	if err == nil && o.Net {
		err = loopback()
	}
	if err != nil {
		rep.Error = err.Error()
	}
	_ = json.NewEncoder(out).Encode(rep)
	return 0
}

// inherited reports whether the descriptors are the pipes that an engine hands over.
func inherited() bool {
	for _, fd := range []int{controlFD, reportFD} {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
			return false
		}
	}
	return true
}

// start starts the child, bound and held at the inner gate.
func (k *keeper) start() error {
	p := k.order.Policy
	veiled := false
	if k.order.Spaces {
		if err := veil(p, k.order.Tmp); err != nil {
			k.report.Lacks = append(k.report.Lacks, fmt.Sprintf("%s (%v)", p.unveiled(), err))
		} else {
			veiled = true
		}
	}
	if k.order.Net {
		k.furnish()
	}
	k.files = freeFiles(p.Write)
	inner, gate, err := os.Pipe()
	if err != nil {
		return err
	}
	k.gate = gate
	defer inner.Close()
	if p.Umask != 0 {
		unix.Umask(p.Umask)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- k.fork(veiled, inner)
	}()
	if err := <-done; err != nil {
		return err
	}
	if err := k.limit(); err != nil {
		_ = unix.Kill(k.main, unix.SIGKILL)
		return err
	}
	return k.letGo()
}

// furnish opens the network that is this task's alone to it.
func (k *keeper) furnish() {
	if err := loopback(); err != nil {
		k.report.Lacks = append(k.report.Lacks, fmt.Sprintf("%s (%v)", noLoopback, err))
		return
	}
	k.order.Policy.Connect, k.order.Policy.Bind = []uint16{AnyPort}, []uint16{AnyPort}
}

// fork binds the thread it is on and starts the child from it.
func (k *keeper) fork(veiled bool, inner *os.File) error {
	if err := bind(k.order.Policy, veiled, k.order.Spaces && os.Getuid() != 0); err != nil {
		return fmt.Errorf("cannot confine the process: %w", err)
	}
	var err error
	k.main, err = syscall.ForkExec(gateShell, append([]string{"sh", "-c", gateScript, "sh"}, k.order.Argv...), &syscall.ProcAttr{
		Dir: k.order.Dir, Env: k.order.Env, Files: []uintptr{0, 1, 2, inner.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	return err
}

// limit sets the limits of the child that waits at the gate.
func (k *keeper) limit() error {
	for _, l := range k.order.Policy.limits() {
		if err := k.lower(l); err != nil {
			return fmt.Errorf("cannot limit the process: %w", err)
		}
	}
	if n := k.order.Policy.Processes; n > 0 {
		return k.lower(limit{unix.RLIMIT_NPROC, uint64(n + k.crowd())})
	}
	return nil
}

func (k *keeper) lower(l limit) error {
	var now unix.Rlimit
	if err := unix.Prlimit(k.main, l.resource, nil, &now); err != nil {
		return err
	}
	value := min(l.value, now.Max)
	return unix.Prlimit(k.main, l.resource, &unix.Rlimit{Cur: value, Max: value}, nil)
}

// crowd is how many threads may already count against the user. In a user namespace of our own they
// are this keeper's; elsewhere all that run, for the limit is on the user and not on the task.
func (k *keeper) crowd() int {
	if k.order.Spaces && os.Getuid() != 0 {
		return 32
	}
	b, _ := os.ReadFile("/proc/loadavg")
	_, rest, _ := strings.Cut(string(b), "/")
	total, _, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(total)
	return n
}

// letGo gives up the child's streams, whose ends must not wait for the keeper.
func (k *keeper) letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 3 {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// words hands on what the engine says; the channel closes at its end.
func words(from *bufio.Reader) <-chan string {
	said := make(chan string)
	go func() {
		defer close(said)
		for {
			line, err := from.ReadString('\n')
			if err != nil {
				return
			}
			said <- line
		}
	}()
	return said
}

// collect collects every process that ends. It tells of the main one, and at last that none is left.
func collect(main int) <-chan event {
	events := make(chan event)
	go func() {
		for {
			var st unix.WaitStatus
			pid, err := unix.Wait4(-1, &st, 0, nil)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil:
				events <- event{}
				return
			case pid == main:
				events <- event{pid, st}
			}
		}
	}()
	return events
}

// keep sees the child to its end, and all that came of it to theirs.
func (k *keeper) keep(said <-chan string, events <-chan event, asked <-chan os.Signal) {
	watch, kill := time.NewTicker(watchEvery), time.NewTicker(time.Hour)
	var over <-chan time.Time // when what is left is killed
	end := func(grace time.Duration) {
		if !k.released {
			grace = 0
		}
		k.signal(unix.SIGTERM, unix.SIGCONT)
		over = time.After(grace)
	}
	slay := func() {
		if k.killing.IsZero() {
			k.killing = time.Now()
			kill.Reset(killEvery)
		}
		k.signal(unix.SIGKILL)
	}
	for {
		select {
		case word, ok := <-said:
			switch {
			case !ok:
				said = nil
				end(orphanGrace)
			case word == Go:
				k.released = true
				_, _ = k.gate.WriteString("\n")
				k.gate.Close()
			case word == Term:
				end(k.order.Grace)
			case word == Kill:
				slay()
			}
		case s := <-asked:
			if s != unix.SIGPIPE {
				end(orphanGrace)
			}
		case e := <-events:
			if e.pid == 0 {
				return
			}
			k.conclude(e.status)
			if over == nil {
				over = time.After(k.order.Linger)
			}
		case <-watch.C:
			if k.report.Limit == "" && k.killing.IsZero() && k.released {
				if k.report.Limit = k.exceeded(); k.report.Limit != "" {
					slay()
				}
			}
		case <-over:
			slay()
		case <-kill.C:
			if time.Since(k.killing) > killWithin {
				return
			}
			k.signal(unix.SIGKILL)
		}
	}
}

func (k *keeper) conclude(st unix.WaitStatus) {
	k.ended = true
	k.report.Exit = st.ExitStatus()
	if st.Signaled() {
		k.report.Exit, k.report.Signal = 128+int(st.Signal()), int(st.Signal())
	}
}

// signal reaches every descendant: the main group at once, which a fork cannot outrun, the rest by number.
func (k *keeper) signal(all ...syscall.Signal) {
	pids := descendants()
	for _, s := range all {
		if !k.ended && k.main > 1 {
			_ = unix.Kill(-k.main, s)
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, s)
		}
	}
}

// exceeded names the limit that the whole task is over, if any.
func (k *keeper) exceeded() string {
	p := k.order.Policy
	if p.Processes <= 0 && p.Memory <= 0 && p.CPU <= 0 && p.Disk <= 0 && p.Files <= 0 {
		return ""
	}
	u := measure(p.Disk > 0)
	switch {
	case p.Processes > 0 && u.processes > p.Processes:
		return fmt.Sprintf("it ran %d processes at once, over the %d that it may", u.processes, p.Processes)
	case p.Memory > 0 && u.memory > p.Memory:
		return fmt.Sprintf("it took %d MiB of memory, over the %d that it may", u.memory>>20, p.Memory>>20)
	case p.CPU > 0 && u.cpu > p.CPU:
		return fmt.Sprintf("it took %s of processor time, over the %s that it may", u.cpu.Round(time.Millisecond), p.CPU)
	case p.Disk > 0 && u.written > p.Disk:
		return fmt.Sprintf("it wrote %d MiB to disk, over the %d that it may", u.written>>20, p.Disk>>20)
	case p.Files > 0 && k.files-freeFiles(p.Write) > p.Files:
		return fmt.Sprintf("it made more than the %d files that it may", p.Files)
	}
	return ""
}
