//go:build linux

package process

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
)

// startEngine prepares an engine that dies at the step and runs the script.
func startEngine(t *testing.T, step, script string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), engineRole+"="+step)
	cmd.Stderr = os.Stderr
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestEngineKilledAtEachStep(t *testing.T) {
	const script = `: > "$1/ran"; (trap '' TERM; echo $(exec sh -c 'echo $PPID') > "$1/deaf"; while :; do sleep 1; done) &
		sleep 600 & echo $! > "$1/sleep"; until [ -s "$1/deaf" ]; do sleep 0.01; done; echo ready; $2`
	for _, c := range []struct {
		step string
		runs bool
		last string
	}{
		{"started", false, "wait"}, {"listed", false, "wait"}, {"spawning", false, "wait"}, {"spawned", false, "wait"},
		{"released", true, "wait"}, {"running", true, "wait"}, {"running", true, "while :; do echo more; done"},
		{"running", true, "exit"}, {"ended", true, "exit"},
	} {
		t.Run(c.step+" "+c.last, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := startEngine(t, c.step, strings.ReplaceAll(script, "$2", c.last), dir)
			out, _ := cmd.Output()
			if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !st.Signaled() {
				t.Fatalf("the engine was not killed: %v", cmd.ProcessState)
			}
			var leader capability.Process
			if line, _, _ := strings.Cut(string(out), "\n"); line != "" {
				if err := json.Unmarshal([]byte(line), &leader); err != nil {
					t.Fatal(err)
				}
			}
			gone := func() bool {
				return !Alive(leader) && (leader.PID == 0 || !occupied(leader.PID)) && len(holding(dir)) == 0
			}
			if !poll(20*time.Second, gone) {
				t.Errorf("left behind: %v %v", leader, holding(dir))
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); !c.runs && err == nil {
				t.Error("the child ran although it was never let go")
			}
		})
	}
}

// holding lists running processes that were started with dir as an argument.
func holding(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		b, _ := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if _, running := look(pid); running && strings.Contains(string(b), dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A supervisor that is killed is replaced, and the one that replaces it knows what runs.
func TestSupervisorKilled(t *testing.T) {
	cmd := startEngine(t, "none", `echo ready; exec sleep 600`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var leader capability.Process
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &leader) != nil || !lines.Scan() {
		t.Fatal("the engine told nothing")
	}
	first := 0
	if !poll(20*time.Second, func() bool { first = supervisorOf(cmd.Process.Pid, 0); return first != 0 }) {
		t.Fatal("no supervisor")
	}
	poll(briefly+100*time.Millisecond, func() bool { return false })
	_ = syscall.Kill(first, syscall.SIGTERM) // which it ignores
	_ = syscall.Kill(first, syscall.SIGKILL)
	second := 0
	if !poll(20*time.Second, func() bool { second = supervisorOf(cmd.Process.Pid, first); return second != 0 }) {
		t.Fatal("no second supervisor")
	}
	if !Alive(leader) {
		t.Error("the child died with the first supervisor")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !poll(20*time.Second, func() bool { return !Alive(leader) }) {
		t.Error("the child outlived the engine")
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func supervisorOf(engine, not int) int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range all {
		b, _ := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if pid != not && strings.Contains(string(b), ") S "+strconv.Itoa(engine)+" ") && strings.Contains(string(args), "\x00"+SupervisorArg+"\x00") {
			return pid
		}
	}
	return 0
}
