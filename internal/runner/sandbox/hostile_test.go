//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// TestHostileTasks runs every trick with all that this system has, and with Landlock alone; each must be held. Then
// it tells which would be held without Landlock.
func TestHostileTasks(t *testing.T) {
	if sandbox.LandlockABI() < 6 {
		t.Skip("this kernel has no Landlock that knows signals")
	}
	leak(t)
	for _, mode := range []struct {
		name    string
		without []string
		must    bool
	}{
		{"all", nil, true},
		{"without namespaces", []string{"namespaces"}, true},
		{"without Landlock", []string{"landlock"}, false},
		{"without Landlock and namespaces", []string{"landlock", "namespaces"}, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if !mode.must && !testing.Verbose() {
				t.Skip("it only tells, to those who ask with -v")
			}
			sandbox.Without(t, mode.without...)
			var open []string
			for _, k := range tricks {
				lacking := k.needs != "" && strings.Contains(strings.Join(mode.without, ","), k.needs)
				t.Run(k.name, func(t *testing.T) {
					if why := try(t, k); why != "" {
						open = append(open, k.name)
						if mode.must && !lacking {
							t.Error(why)
						}
					}
				})
			}
			t.Logf("%s: %d of %d tricks held", mode.name, len(tricks)-len(open), len(tricks))
			for _, name := range open {
				t.Logf("  not held: %s", name)
			}
		})
	}
}

// leak leaves things lying around that must not reach a task: a descriptor and a variable.
func leak(t *testing.T) {
	t.Helper()
	t.Setenv("LD_PRELOAD", "/nowhere.so")
	fd, err := syscall.Open(filepath.Join(t.TempDir(), "open"), syscall.O_CREAT|syscall.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
}

// try runs a trick and says why it was not held.
func try(t *testing.T, k trick) string {
	w := newWorld(t)
	w.supervisor = childOf(os.Getpid(), process.SupervisorArg)
	if k.with != nil {
		k.with(&w.policy)
	}
	spec := w.spec(t, k.script)
	if k.spec != nil {
		k.spec(&spec)
	}
	r := w.run(t, spec)
	held := k.held
	if held == nil {
		held = silent
	}
	switch {
	case len(r.left) > 0:
		return fmt.Sprintf("it left %d processes running", len(r.left))
	case !held(w, r):
		return fmt.Sprintf("exit %d %s, limit %q, error %v after %v, it says\n%.2000s", r.Exit, r.Signal, r.Limit, r.err, r.took, r.out)
	}
	return ""
}
