//go:build linux

package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
)

// known reads a pid that a script left in a file, and its start time.
func known(t *testing.T, file string) capability.Process {
	t.Helper()
	var p capability.Process
	if !poll(20*time.Second, func() bool {
		b, _ := os.ReadFile(file)
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		p = capability.Process{PID: pid, Host: here()}
		return err == nil && strings.HasSuffix(string(b), "\n")
	}) {
		t.Fatalf("%s never told a pid", file)
	}
	p.Started, _ = look(p.PID)
	return p
}

func TestNoOrphans(t *testing.T) {
	for name, script := range map[string]string{
		"holding the pipes":     `sleep 600 & echo $! > "$1"`,
		"quiet":                 `sleep 600 >/dev/null 2>&1 </dev/null & echo $! > "$1"`,
		"deaf":                  `(trap '' TERM HUP; echo $(exec sh -c 'echo $PPID') > "$1"; while :; do sleep 1; done) & until [ -s "$1" ]; do sleep 0.01; done`,
		"in a group of its own": `timeout 600 sleep 600 & echo $! > "$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			o := run(t, sh(script, file))
			b, _ := os.ReadFile(file)
			pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
			if _, running := look(pid); pid == 0 || running {
				t.Errorf("%q still runs", b)
			}
			if o.Exit != 0 || o.Duration > 10*time.Second {
				t.Errorf("exit %d after %v", o.Exit, o.Duration)
			}
		})
	}
}

// A daemon that leaves the session is out of reach, but does not keep Run waiting.
func TestEscapeeHoldsThePipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	o := run(t, sh(`setsid sh -c 'echo $$ > "$1"; exec sleep 600' sh "$1" & echo said; until [ -s "$1" ]; do sleep 0.01; done`, file))
	if took := time.Since(began); string(o.Stdout) != "said\n" || took > 20*time.Second {
		t.Errorf("%q after %v", o.Stdout, took)
	}
	p := known(t, file)
	if ended, err := End(p); !ended || err != nil || Alive(p) {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestTailOfASubstitutionIsNotLost(t *testing.T) {
	was := linger
	t.Cleanup(func() { linger = was })
	linger = 20 * time.Second
	file := filepath.Join(t.TempDir(), "log")
	run(t, sh(`(sleep 0.02; echo late > "$1") &`, file))
	if b, _ := os.ReadFile(file); string(b) != "late\n" {
		t.Errorf("wrote %q", b)
	}
}
