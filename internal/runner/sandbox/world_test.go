//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case process.SupervisorArg:
			os.Exit(process.Supervise())
		case sandbox.ConfineArg:
			sandbox.Lose()
			os.Exit(sandbox.Confine())
		case attackArg:
			os.Exit(attack(os.Args[2:]))
		case engineArg:
			os.Exit(engine(os.Args[2], os.Args[3], os.Args[4]))
		}
	}
	code := m.Run()
	process.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// desk is a host that takes everything.
type desk struct{ spawned func(capability.Process) }

func (d desk) Spawned(p capability.Process) error {
	if d.spawned != nil {
		d.spawned(p)
	}
	return nil
}
func (desk) Beat() {}
func (desk) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	return capability.Ref{}, errors.New("a process puts nothing")
}

const secret = "s3cr3t-0f-s0m3b0dy-3ls3"

// world is a project with a home of cairn and a repository in it, a person's home folder with keys, and others'
// things around: all made for one test.
type world struct {
	base, project, home, user, outside string

	tcp, udp, abstract, unix string // listeners that no policy allows
	heard                    net.PacketConn
	mine                     bool // HOME stays that of who runs the tests
	supervisor               int
	policy                   sandbox.Policy
}

var worlds atomic.Int64

func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	w := &world{
		base: base, project: filepath.Join(base, "user/project"), home: filepath.Join(base, "user/project/.cairn"),
		user: filepath.Join(base, "user"), outside: filepath.Join(base, "outside"),
	}
	for path, text := range map[string]string{
		"user/project/main.c": "int main;", "user/project/src/a.c": "a", "user/project/Makefile": "all:",
		"user/project/.git/config": "[core]\n", "user/project/.git/HEAD": "ref: refs/heads/main\n", "user/project/.git/hooks/pre-commit": "#!/bin/sh\n",
		"user/project/.cairn/cairn.db": secret, "user/project/.cairn/artifacts/a": secret,
		"user/.ssh/id_ed25519": secret, "user/.aws/credentials": secret, "user/.netrc": secret, "user/.bashrc": "# mine\n",
		"user/.bash_history": secret, "user/.config/gh/hosts.yml": secret,
		"other/private": secret, "outside/victim": "mine\n",
	} {
		path = filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.policy = taskPolicy(t, w.project, w.home, w.user)
	w.policy.Read = append(w.policy.Read, self(t))
	w.listen(t)
	return w
}

// taskPolicy is what a task gets under the default limits, with nothing given up where namespaces are missing.
func taskPolicy(t *testing.T, root, home, user string) sandbox.Policy {
	t.Helper()
	t.Setenv("HOME", user)
	p, _, err := sandbox.Of(capability.Limits{Mode: capability.Require, Root: root, Home: home}, sandbox.Child{Program: "sh", Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	p.Strict = false // so that the suite can tell what is held without
	return p
}

// self is the test binary, which tasks run as an attacker.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) listen(t *testing.T) {
	t.Helper()
	accept := func(network, addr string) string {
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	w.tcp = accept("tcp", "127.0.0.1:0")
	w.abstract = accept("unix", fmt.Sprintf("@cairn-test-%d-%d", os.Getpid(), worlds.Add(1)))
	w.unix = accept("unix", filepath.Join(w.outside, "s"))
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	w.udp, w.heard = udp.LocalAddr().String(), udp
}

// hears reports whether anything has come in by UDP, and takes it. What was sent on this machine is there at once.
func (w *world) hears() (something bool) {
	b := make([]byte, 64)
	for {
		_ = w.heard.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, _, err := w.heard.ReadFrom(b); err != nil {
			return something
		}
		something = true
	}
}

// spec is a shell task that finds what it may want to attack in its environment.
func (w *world) spec(t *testing.T, script string) process.Spec {
	policy := w.policy
	return process.Spec{
		Argv: []string{"sh", "-c", script}, Dir: w.project, Confine: &policy, Grace: 200 * time.Millisecond,
		Env: process.Env(map[string]string{
			"USERHOME": w.user, "OUTSIDE": w.outside, "BASE": w.base, "CAIRN": w.home,
			"ENGINE": strconv.Itoa(os.Getpid()), "SUPERVISOR": strconv.Itoa(w.supervisor),
			"ATTACK": self(t) + " " + attackArg, "MARK": w.base,
			"GORACE": "atexit_sleep_ms=0", "TCP": w.tcp, "UDP": w.udp, "ABSTRACT": w.abstract, "SOCKET": w.unix,
		}, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
	}
}

// result is what a task did, as far as it can be seen from outside.
type result struct {
	process.Outcome
	out  []byte // both streams
	err  error
	left []int // processes of the task that still run
	took time.Duration
}

func (w *world) run(t *testing.T, p process.Spec) result {
	t.Helper()
	var out, errs bytes.Buffer
	p.Stdout, p.Stderr = &out, &errs
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	began := time.Now()
	o, err := process.Run(ctx, desk{}, p)
	r := result{Outcome: o, err: err, took: time.Since(began), left: w.running()}
	r.out = append(out.Bytes(), errs.Bytes()...)
	for _, pid := range r.left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // found by a mark that is this test's alone
	}
	return r
}

// running lists the processes that have the mark of this world in their environment or arguments, without this one.
func (w *world) running() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		env, _ := os.ReadFile(dir + "/environ")
		args, _ := os.ReadFile(dir + "/cmdline")
		if pid != os.Getpid() && pid > 1 && (bytes.Contains(env, []byte("MARK="+w.base+"\x00")) || bytes.Contains(args, []byte(w.base))) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (w *world) read(path string) string {
	b, _ := os.ReadFile(filepath.Join(w.base, path))
	return string(b)
}

func (w *world) there(path string) bool {
	_, err := os.Lstat(filepath.Join(w.base, path))
	return err == nil
}

// size sums up what a folder holds: files and bytes.
func (w *world) size(path string) (files int, bytes int64) {
	_ = filepath.WalkDir(filepath.Join(w.base, path), func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				files++
				bytes += st.Size()
			}
		}
		return nil
	})
	return files, bytes
}

// childOf finds the child of a process that was started with an argument; 0 when there is none.
func childOf(parent int, arg string) int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range all {
		b, _ := os.ReadFile(f)
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		_, rest, _ := strings.Cut(string(b), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && strings.Contains(string(args), arg+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			return pid
		}
	}
	return 0
}
