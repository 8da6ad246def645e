//go:build linux

package process

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func files(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestManyLeaveNothing(t *testing.T) {
	run(t, sh("true")) // the supervisor is there from now on
	before, running := files(t), goleak.IgnoreCurrent()
	work := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range work {
				o, err := Run(t.Context(), &desk{}, sh("echo out; echo err >&2; exit "+itoa(i%100)))
				if err != nil || o.Exit != i%100 || string(o.Stdout) != "out\n" || string(o.Stderr) != "err\n" {
					t.Errorf("%d: %v, %+v", i, err, o)
				}
			}
		})
	}
	for i := range 200 {
		work <- i
	}
	close(work)
	wg.Wait()
	goleak.VerifyNone(t, running)
	if after := files(t); after > before {
		t.Errorf("%d files open, %d before", after, before)
	}
	supervisor.mu.Lock()
	defer supervisor.mu.Unlock()
	if len(supervisor.groups) != 0 {
		t.Errorf("still listed: %v", supervisor.groups)
	}
	var st syscall.WaitStatus
	if pid, _ := syscall.Wait4(-1, &st, syscall.WNOHANG, nil); pid > 0 {
		t.Errorf("process %d was not collected", pid)
	}
}

// A supervisor that went unnoticed is replaced by the next child.
func TestSupervisorGoneBeforeTheNextChild(t *testing.T) {
	run(t, sh("true"))
	supervisor.mu.Lock()
	was := supervisor.cmd.Process
	_ = was.Kill()
	supervisor.mu.Unlock()
	if !poll(20*time.Second, func() bool {
		run(t, sh("true"))
		supervisor.mu.Lock()
		defer supervisor.mu.Unlock()
		return supervisor.cmd != nil && supervisor.cmd.Process != was
	}) {
		t.Error("the dead supervisor is still in office")
	}
}

func BenchmarkTrue(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("sh", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("run", func(b *testing.B) {
		p := sh("true")
		for b.Loop() {
			if _, err := Run(b.Context(), &desk{}, p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
