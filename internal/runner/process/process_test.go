//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == SupervisorArg {
		os.Exit(Supervise())
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.ConfineArg {
		os.Exit(sandbox.Confine())
	}
	if os.Getenv(engineRole) != "" {
		os.Exit(engine())
	}
	code := m.Run()
	Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// desk is a host that notes what it is told.
type desk struct {
	spawned func(capability.Process) error
	beats   atomic.Int32
}

func (d *desk) Spawned(p capability.Process) error {
	if d.spawned != nil {
		return d.spawned(p)
	}
	return nil
}
func (d *desk) Beat() { d.beats.Add(1) }
func (d *desk) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	return capability.Ref{}, errors.New("a process puts nothing")
}

func sh(script string, args ...string) Spec {
	return Spec{Argv: append([]string{"sh", "-c", script, "sh"}, args...), Env: Env(nil)}
}

func run(t *testing.T, p Spec) Outcome {
	t.Helper()
	o, err := Run(t.Context(), &desk{}, p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		script, signal string
		exit           int
	}{
		{"true", "", 0},
		{"exit 3", "", 3},
		{"exit 125", "", 125},
		{"no-such-command-at-all", "", 127},
		{"kill -KILL $$", "SIGKILL", 137},
		{"kill -TERM $$", "SIGTERM", 143},
	} {
		if o := run(t, sh(c.script)); o.Exit != c.exit || o.Signal != c.signal {
			t.Errorf("%s: exit %d %q, want %d %q", c.script, o.Exit, o.Signal, c.exit, c.signal)
		}
	}
}

func TestCannotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec Spec
		code fault.Code
	}{
		"nothing":        {Spec{}, fault.Invalid},
		"unknown":        {Spec{Argv: []string{"no-such-program"}, Env: Env(nil)}, fault.NotFound},
		"not executable": {Spec{Argv: []string{file}, Env: Env(nil)}, fault.NotFound},
		"no directory":   {Spec{Argv: []string{"true"}, Env: Env(nil), Dir: file}, fault.NotFound},
		"odd variable":   {Spec{Argv: []string{"true"}, Env: Env(map[string]string{"a.b": "c"})}, fault.Invalid},
		"too long":       {sh(strings.Repeat("#", 3<<20)), fault.Invalid},
	} {
		_, err := Run(t.Context(), &desk{}, c.spec)
		if err == nil || fault.CodeOf(err) != c.code || fault.HintOf(err) == "" && name != "nothing" {
			t.Errorf("%s: %v (%s), hint %q", name, err, fault.CodeOf(err), fault.HintOf(err))
		}
	}
}

func TestOutput(t *testing.T) {
	var out, errs bytes.Buffer
	p := sh(`printf 'to out'; printf 'to err' >&2`)
	p.Stdout, p.Stderr = &out, &errs
	o := run(t, p)
	if out.String() != "to out" || errs.String() != "to err" || string(o.Stdout) != "to out" || string(o.Stderr) != "to err" {
		t.Errorf("sinks %q %q, tails %q %q", &out, &errs, o.Stdout, o.Stderr)
	}
	if o.StdoutBytes != 6 || o.StderrBytes != 6 || o.Truncated != 0 {
		t.Errorf("counted %d and %d, %d truncated", o.StdoutBytes, o.StderrBytes, o.Truncated)
	}
	if o.Process.PID < 2 || o.Process.Started == 0 || o.Process.Host == "" || o.Duration <= 0 {
		t.Errorf("outcome %+v", o)
	}
}

func TestOutputCap(t *testing.T) {
	const total = 200 << 20
	var kept counter
	p := sh(fmt.Sprintf(`head -c %d /dev/zero; printf 'the end'; printf 12345678 >&2`, total))
	p.Stdout, p.Stderr, p.MaxOutput = &kept, io.Discard, 5
	d := &desk{}
	o, err := Run(t.Context(), d, p)
	if err != nil {
		t.Fatal(err)
	}
	if kept != 5 || o.StdoutBytes != total+7 || o.StderrBytes != 8 || o.Truncated != total+2+3 {
		t.Errorf("kept %d, seen %d and %d, truncated %d", kept, o.StdoutBytes, o.StderrBytes, o.Truncated)
	}
	if len(o.Stdout) != TailSize || !bytes.HasSuffix(o.Stdout, []byte("\x00the end")) {
		t.Errorf("tail of %d bytes ends in %q", len(o.Stdout), o.Stdout[len(o.Stdout)-10:])
	}
	if n := d.beats.Load(); n < 1 || float64(n) > 2+o.Duration.Seconds() {
		t.Errorf("%d beats in %v", n, o.Duration)
	}
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func TestSinkFails(t *testing.T) {
	full := errors.New("disk full")
	for _, stream := range []string{"stdout", "stderr"} {
		p := sh(`head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2`)
		if stream == "stdout" {
			p.Stdout = refuser{full}
		} else {
			p.Stderr = refuser{full}
		}
		o, err := Run(t.Context(), &desk{}, p)
		if !errors.Is(err, full) || o.Exit != 0 || o.StdoutBytes != 1e6 || o.StderrBytes != 1e6 {
			t.Errorf("%s: %v after %+v", stream, err, o.Exit)
		}
	}
}

type refuser struct{ err error }

func (r refuser) Write([]byte) (int, error) { return 0, r.err }

func TestTailIsCutBetweenCharacters(t *testing.T) {
	for _, r := range []string{"é", "€", "𝄞"} {
		for pad := range 4 {
			text := strings.Repeat(r, 2000) + strings.Repeat("x", pad)
			var whole, bytewise tail
			whole.add([]byte(text))
			for i := range len(text) {
				bytewise.add([]byte{text[i]})
			}
			got := string(whole.cut())
			if !strings.HasSuffix(text, got) || len(got) > TailSize && len(text) > TailSize || len(got) < min(len(text), TailSize)-3 {
				t.Errorf("%s+%d: %d bytes", r, pad, len(got))
			}
			if strings.ToValidUTF8(got, "?") != got {
				t.Errorf("%s+%d: begins %q", r, pad, got[:4])
			}
			if string(bytewise.cut()) != got {
				t.Errorf("%s+%d: depends on how it was written", r, pad)
			}
		}
	}
	short := tail{}
	short.add([]byte("\x80\x80raw"))
	if string(short.cut()) != "\x80\x80raw" {
		t.Errorf("a short tail was cut to %q", short.cut())
	}
}

func TestStdin(t *testing.T) {
	p := sh("cat; echo; pwd -P; echo $PWD")
	p.Stdin = strings.NewReader(strings.Repeat("x", 1000) + "\nlast")
	p.Dir, _ = filepath.EvalSymlinks(t.TempDir())
	if o := run(t, p); !strings.HasSuffix(string(o.Stdout), "x\nlast\n"+p.Dir+"\n"+p.Dir+"\n") {
		t.Errorf("stdout %q", o.Stdout)
	}
	p = sh("exit 4") // reads nothing of more than a pipe holds
	p.Stdin = io.LimitReader(zeros{}, 1<<30)
	if o := run(t, p); o.Exit != 4 {
		t.Errorf("exit %d", o.Exit)
	}
	if o := run(t, sh("cat; echo none")); string(o.Stdout) != "none\n" {
		t.Errorf("without stdin: %q", o.Stdout)
	}
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer shut(f)
	p = sh("head -c 4 | tail -c 3")
	p.Stdin = f
	if o := run(t, p); len(o.Stdout) != 3 {
		t.Errorf("from a file: %q", o.Stdout)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestChildHasNoOtherFiles(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc")
	}
	p := Spec{Argv: []string{"ls", "/proc/self/fd"}, Env: Env(nil)}
	if o := run(t, p); strings.Join(strings.Fields(string(o.Stdout)), " ") != "0 1 2 3" { // 3 is the listing's own
		t.Errorf("open files: %q", o.Stdout)
	}
}

func TestSpawnedRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	no := errors.New("the journal is full")
	var p capability.Process
	_, err := Run(t.Context(), &desk{spawned: func(q capability.Process) error { p = q; return no }}, sh(`: > "$1"`, file))
	if !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	if Alive(p) || p.PID == 0 {
		t.Errorf("process %+v is alive", p)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the child ran")
	}
}

func TestSpawnedComesFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	host := &desk{spawned: func(p capability.Process) error {
		if !Alive(p) {
			t.Error("not alive at the gate")
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the child ran before it was recorded")
		}
		return nil
	}}
	if _, err := Run(t.Context(), host, sh(`: > "$1"`, file)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("the child did not run")
	}
}

func TestContextEndsAtTheGate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, &desk{spawned: func(capability.Process) error { cancel(); return nil }}, sh(`: > "$1"`, file))
	if !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Interrupted) {
		t.Errorf("error %v", err)
	}
	if _, err = Run(ctx, &desk{}, sh(`: > "$1"`, file)); !errors.Is(err, context.Canceled) {
		t.Errorf("started late: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the child ran")
	}
}

// until runs a script that says when it is set up, and ends its context then.
func until(t *testing.T, grace time.Duration, script string, args ...string) (Outcome, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	p := sh(script, args...)
	p.Grace = grace
	var cut time.Time
	p.Stdout = onReady(func() { cut = time.Now(); cancel(errors.New("time is up")) })
	o, err := Run(ctx, &desk{}, p)
	return o, time.Since(cut), err
}

type onReady func()

func (f onReady) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("ready")) {
		f()
	}
	return len(b), nil
}

func TestStopped(t *testing.T) {
	o, took, err := until(t, 30*time.Second, `trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done`)
	if err == nil || !strings.Contains(err.Error(), "time is up") {
		t.Errorf("error %v", err)
	}
	if o.Exit != 7 || o.Signal != "" || !strings.HasSuffix(string(o.Stdout), "bye\n") || took > 20*time.Second {
		t.Errorf("exit %d %q after %v, said %q", o.Exit, o.Signal, took, o.Stdout)
	}
}

func TestStoppedThoughItIgnoresSIGTERM(t *testing.T) {
	o, took, err := until(t, 100*time.Millisecond, `trap '' TERM; echo ready; while :; do sleep 1; done`)
	if err == nil || o.Signal != "SIGKILL" || o.Exit != 137 || took < 100*time.Millisecond || took > 10*time.Second {
		t.Errorf("%v: exit %d %q after %v", err, o.Exit, o.Signal, took)
	}
}

func TestStoppedThoughItIsSuspended(t *testing.T) {
	o, took, err := until(t, 30*time.Second, `trap 'exit 9' TERM; echo ready; kill -STOP $$; sleep 60`)
	if err == nil || o.Exit != 9 || took > 20*time.Second {
		t.Errorf("%v: exit %d %q after %v", err, o.Exit, o.Signal, took)
	}
}

func TestGraceIsForTheWholeGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tidied")
	_, _, err := until(t, 30*time.Second,
		`(trap 'sleep 0.2; : > "$1"; exit' TERM; echo ready; while :; do sleep 0.01; done) & trap 'exit' TERM; wait`, file)
	if err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("the rest of the group was not let finish")
	}
}
