//go:build linux

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// stray starts a process as an engine that crashed would have left it.
func stray(t *testing.T, script string, args ...string) capability.Process {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); <-done })
	started, _ := look(cmd.Process.Pid)
	return capability.Process{PID: cmd.Process.Pid, Started: started, Host: here()}
}

func TestEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := stray(t, `(trap '' TERM; echo $(exec sh -c 'echo $PPID') > "$1"; while :; do sleep 1; done) & wait`, file)
	deaf := known(t, file)
	if !Alive(p) || !Alive(deaf) {
		t.Fatal("not alive")
	}
	if ended, err := End(p); !ended || err != nil {
		t.Errorf("ended %v, %v", ended, err)
	}
	if Alive(p) || Alive(deaf) {
		t.Error("still alive")
	}
	if ended, err := End(p); ended || err != nil {
		t.Errorf("ended %v twice, %v", ended, err)
	}
}

func TestEndHitsNobodyElse(t *testing.T) {
	p := stray(t, "exec sleep 600")
	for name, change := range map[string]func(*capability.Process){
		"another start": func(q *capability.Process) { q.Started++ },
		"another host":  func(q *capability.Process) { q.Host = "elsewhere" + q.Host },
		"another boot":  func(q *capability.Process) { q.Host, _, _ = strings.Cut(q.Host, "@") },
		"no start":      func(q *capability.Process) { q.Started = 0 },
		"everybody":     func(q *capability.Process) { q.PID = 1; q.Started, _ = look(1) },
		"ourselves":     func(q *capability.Process) { q.PID = 0 },
		"minus":         func(q *capability.Process) { q.PID = -q.PID },
	} {
		q := p
		change(&q)
		if ended, err := End(q); ended || err != nil || Alive(q) {
			t.Errorf("%s: ended %v, %v", name, ended, err)
		}
		if !Alive(p) {
			t.Fatalf("%s: hit", name)
		}
	}
	if ours(p.PID, p.Started+1) || !ours(p.PID, p.Started) {
		t.Error("the supervisor does not look at the start time")
	}
}

func TestSupervisorEndsWhatIsListed(t *testing.T) {
	dead, off, spared, other := stray(t, "exec sleep 600"), stray(t, "exec sleep 600"), stray(t, "exec sleep 600"), stray(t, "trap '' TERM; while :; do sleep 1; done")
	line := func(sign string, p capability.Process, by uint64) string {
		return sign + itoa(p.PID) + " " + itoa(int(p.Started+by)) + "\n"
	}
	groups := heed(strings.NewReader(line("+", dead, 0) + line("+", off, 0) + line("+", other, 0) +
		line("+", spared, 1) + "-" + itoa(off.PID) + "\n+1 1\n+0 0\nnonsense\n+\n"))
	if len(groups) != 3 {
		t.Fatalf("listed %v", groups)
	}
	endAll(groups)
	if Alive(dead) || Alive(other) {
		t.Error("what is listed lives")
	}
	if !Alive(off) || !Alive(spared) {
		t.Error("what is not listed was ended")
	}
}

// A leader that is gone does not hide the rest of its group.
func TestSupervisorEndsALeaderlessGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := stray(t, `sleep 600 & echo $! > "$1"`, file)
	rest := known(t, file)
	if !poll(20*time.Second, func() bool { n, _ := look(p.PID); return n == 0 }) {
		t.Fatal("the leader stays")
	}
	endAll(map[int]uint64{p.PID: p.Started})
	if Alive(rest) {
		t.Error("still alive")
	}
}

func TestSuperviseIsNotForPeople(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", SupervisorArg).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "for cairn itself") {
		t.Errorf("%q, %v", out, err)
	}
}

// A program that forgets to call Supervise is told so, rather than starting itself for ever.
func TestSuperviseForgotten(t *testing.T) {
	t.Setenv(marker, "1")
	w := &watchman{groups: map[int]uint64{}}
	if err := w.add(os.Getpid(), 1); err == nil || !strings.Contains(fault.HintOf(err), "TestMain") || len(w.groups) != 0 {
		t.Errorf("%v, %v", err, w.groups)
	}
}
