//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

const engineArg = "__engine"

// engine is the test binary as an engine that runs one confined task, tells its process, and says when the task does.
func engine(root, home, script string) int {
	sandbox.Lose()
	policy := sandbox.Default(root, home)
	host := desk{spawned: func(p capability.Process) { _ = json.NewEncoder(os.Stdout).Encode(p) }}
	o, err := process.Run(context.Background(), host, process.Spec{
		Argv: []string{"sh", "-c", script}, Dir: root, Confine: &policy, Stdout: os.Stdout,
		Env: process.Env(map[string]string{"MARK": os.Getenv("MARK")}),
	})
	fmt.Println("ended", o.Exit, err)
	return 0
}

// stubborn starts processes that do not want to end, in sessions of their own, and says when they run.
const stubborn = `
deaf='trap "" TERM HUP INT; echo up >> src/up; while :; do sleep 1; done'
setsid sh -c "$deaf" &
(setsid sh -c "(env -i PATH=$PATH MARK=$MARK sh -c '$deaf' &)" &)
sh -c "$deaf" &
until [ "$(wc -l < src/up)" = 3 ]; do sleep 0.02; done 2>/dev/null
echo ready; sleep 600`

// A task whose engine died leaves nothing behind, whatever sessions it opened, also when the supervisor or the
// keeper died with it.
func TestEngineDies(t *testing.T) {
	for _, without := range []string{"", "namespaces", "landlock,namespaces"} {
		for _, victims := range []string{"engine", "engine and supervisor", "keeper", "engine and keeper"} {
			if strings.Contains(victims, "keeper") && without != "" {
				continue // then only the kernel could end what has left the session
			}
			t.Run(victims+" without "+without, func(t *testing.T) {
				w := newWorld(t)
				cmd := exec.Command(self(t), engineArg, w.project, w.home, stubborn)
				cmd.Env = append(os.Environ(), "MARK="+w.base, "CAIRN_TEST_WITHOUT="+without)
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
				lines := bufio.NewScanner(out)
				var leader capability.Process
				if !lines.Scan() || json.Unmarshal(lines.Bytes(), &leader) != nil || !lines.Scan() || lines.Text() != "ready" {
					t.Fatalf("the engine told nothing: %s", lines.Text())
				}
				if n := len(w.running()); n < 4 {
					t.Fatalf("only %d processes of the task run", n)
				}
				if strings.Contains(victims, "supervisor") {
					_ = syscall.Kill(childOf(cmd.Process.Pid, process.SupervisorArg), syscall.SIGKILL)
				}
				if strings.Contains(victims, "engine") {
					_ = cmd.Process.Kill()
				}
				if strings.Contains(victims, "keeper") {
					_ = syscall.Kill(leader.PID, syscall.SIGKILL)
				}
				w.expectNobody(t, cmd.Process.Pid)
			})
		}
	}
}

// expectNobody waits until nothing of the world runs, but for the engine if it is still alive.
func (w *world) expectNobody(t *testing.T, engine int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		left := 0
		for _, pid := range w.running() {
			if pid != engine {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes are left: %v", left, w.running())
		}
		<-time.After(10 * time.Millisecond)
	}
}

// A resume ends what an engine and a supervisor that both died left behind.
func TestResumeEndsAKeeper(t *testing.T) {
	sandbox.Without(t, "namespaces")
	w := newWorld(t)
	ready, gone := make(chan struct{}), make(chan result, 1)
	var leader capability.Process
	spec := w.spec(t, stubborn)
	spec.Stdout = onReady(func() { close(ready) })
	go func() {
		o, err := process.Run(t.Context(), desk{spawned: func(p capability.Process) { leader = p }}, spec)
		gone <- result{Outcome: o, err: err}
	}()
	<-ready
	if ended, err := process.End(leader); !ended || err != nil {
		t.Errorf("ended %v, %v", ended, err)
	}
	if left := w.running(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if r := <-gone; r.err != nil || r.Signal != "SIGTERM" && r.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", r.Outcome, r.err)
	}
}

// A task that is called off is asked, and what does not listen is killed, whatever its session.
func TestCancel(t *testing.T) {
	for _, without := range []string{"", "namespaces"} {
		sandbox.Without(t, without)
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		spec := w.spec(t, `trap 'echo bye; exit 7' TERM; `+strings.Replace(stubborn, "sleep 600", "sleep 600 & wait", 1))
		spec.Stdout = onReady(cancel)
		o, err := process.Run(ctx, desk{}, spec)
		if err == nil || o.Exit != 7 || !strings.Contains(string(o.Stdout), "bye") {
			t.Errorf("without %q: %v, exit %d %s, said %q", without, err, o.Exit, o.Signal, o.Stdout)
		}
		if left := w.running(); len(left) > 0 {
			t.Errorf("without %q: left behind: %v", without, left)
		}
		if all, _ := filepath.Glob(filepath.Join(w.base, "cairn-task-*")); len(all) > 0 {
			t.Errorf("temporary folders are left: %v", all)
		}
	}
}

type readyWriter struct{ f func() }

func onReady(f func()) *readyWriter { return &readyWriter{f} }

func (r *readyWriter) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "ready\n") && r.f != nil {
		r.f()
		r.f = nil
	}
	return len(b), nil
}
