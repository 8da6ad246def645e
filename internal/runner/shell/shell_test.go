//go:build unix

package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
	_ "github.com/cairn-plan/cairn/internal/runner/sandbox/entrance" // this binary keeps confined commands too
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	code := m.Run()
	process.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// shelf is a host that keeps what is put in memory.
type shelf struct {
	mu      sync.Mutex
	content map[string]string
	spawned int
	full    error
}

func (s *shelf) Spawned(capability.Process) error { s.spawned++; return nil }
func (s *shelf) Beat()                            {}
func (s *shelf) Put(ctx context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	b, err := io.ReadAll(r)
	if err = errors.Join(err, ctx.Err(), s.full); err != nil {
		return capability.Ref{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content == nil {
		s.content = map[string]string{}
	}
	s.content[name] = string(b)
	return capability.Ref{Name: name, Hash: digest.Sum(b), Size: int64(len(b)), Type: typ}, nil
}

func call(t testing.TB, with map[string]any, want ...capability.Want) (capability.Call, *shelf) {
	t.Helper()
	b, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{}
	return capability.Call{Plan: "demo", Task: "build/a", Execution: 2, Attempt: 3, Key: digest.Sum([]byte("key")),
		With: b, Dir: t.TempDir(), Want: want, Host: s}, s
}

func output(t *testing.T, r capability.Result, name string) string {
	t.Helper()
	raw, ok := r.Outputs[name]
	if !ok {
		t.Errorf("no output %s in %v", name, r.Outputs)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

func TestRun(t *testing.T) {
	c, host := call(t, map[string]any{"run": "echo hello; echo careful >&2"})
	r, err := New().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if *r.Exit != 0 || r.Stdout != "hello\n" || r.Stderr != "careful\n" || r.Dir != "." || host.spawned != 1 {
		t.Errorf("result %+v", r)
	}
	if output(t, r, "exit") != "0" || output(t, r, "stdout") != "hello\n" || output(t, r, "stderr") != "careful\n" || len(r.Artifacts) != 0 {
		t.Errorf("outputs %s", r.Outputs)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "do-not-leak")
	c, _ := call(t, map[string]any{"run": "env; : > \"$CAIRN_OUTPUT\""})
	c.Env = map[string]string{"COLOR": "red", "CAIRN_TASK": "another"}
	r, err := New().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CAIRN_PLAN=demo", "CAIRN_TASK=build/a", "CAIRN_EXECUTION=2", "CAIRN_ATTEMPT=3",
		"CAIRN_KEY=" + c.Key.String(), "COLOR=red", "TERM=dumb"} {
		if !strings.Contains("\n"+r.Stdout, "\n"+want+"\n") {
			t.Errorf("%s is not set", want)
		}
	}
	if strings.Contains(r.Stdout, "do-not-leak") || strings.Contains(r.Stdout, "GITHUB") {
		t.Error("a secret leaked")
	}
	if !slices.Contains(r.EnvNames, "COLOR") || slices.Contains(r.EnvNames, "GITHUB_TOKEN") {
		t.Errorf("names %q", r.EnvNames)
	}
	_, file, _ := strings.Cut(r.Stdout, "CAIRN_OUTPUT=")
	file, _, _ = strings.Cut(file, "\n")
	if _, err := os.Stat(file); err == nil || !filepath.IsAbs(file) {
		t.Errorf("%q is left behind", file)
	}
}

// A directory that somebody else could have put there is not used.
func TestScratchIsPrivate(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"open": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777)) },
		"link": func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"file": func(dir string) error { return os.WriteFile(dir, nil, 0o700) },
	} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		if err := prepare(filepath.Join(tmp, fmt.Sprintf("cairn-%d", os.Getuid()))); err != nil {
			t.Fatal(err)
		}
		c, _ := call(t, map[string]any{"run": `echo "where=$CAIRN_OUTPUT" > "$CAIRN_OUTPUT"; ls -ld "$(dirname "$CAIRN_OUTPUT")"`})
		r, err := New().Run(t.Context(), c)
		if err != nil || !strings.HasPrefix(r.Stdout, "drwx------") {
			t.Errorf("%s: %v, %s", name, err, r.Stdout)
		}
		if all, _ := os.ReadDir(tmp); len(all) != 1 {
			t.Errorf("%s: left behind: %v", name, all)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	c, _ := call(t, map[string]any{"run": "true"})
	if _, err := New().Run(t.Context(), c); fault.HintOf(err) == "" {
		t.Errorf("without a temporary directory: %v", err)
	}
}

func TestInputs(t *testing.T) {
	c, _ := call(t, map[string]any{"run": `cat; pwd -P; echo $0`, "stdin": "fed\n", "dir": "sub/dir", "shell": "bash"})
	if err := os.MkdirAll(filepath.Join(c.Dir, "sub", "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	where, _ := filepath.EvalSymlinks(filepath.Join(c.Dir, "sub", "dir"))
	r, err := New().Run(t.Context(), c)
	if _, none := exec.LookPath("bash"); none != nil {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("without bash: %v", err)
		}
		return
	}
	if err != nil || r.Stdout != "fed\n"+where+"\nbash\n" || r.Dir != "sub/dir" {
		t.Errorf("%v: %q in %s", err, r.Stdout, r.Dir)
	}
	if v := r.Versions["bash"]; !strings.Contains(v, "bash ") || !strings.Contains(v, ".") {
		t.Errorf("bash is %q", v)
	}
}

func TestBadInputs(t *testing.T) {
	for name, c := range map[string]struct {
		with map[string]any
		code fault.Code
	}{
		"no command":      {map[string]any{"run": " \n"}, fault.Invalid},
		"wrong type":      {map[string]any{"run": 7}, fault.Invalid},
		"NUL":             {map[string]any{"run": "echo \x00"}, fault.Invalid},
		"dir leaves":      {map[string]any{"run": "true", "dir": "../up"}, fault.Invalid},
		"dir is absolute": {map[string]any{"run": "true", "dir": "/etc"}, fault.Invalid},
		"dir is missing":  {map[string]any{"run": "true", "dir": "none"}, fault.NotFound},
		"dir leads out":   {map[string]any{"run": "true", "dir": "link"}, fault.NotFound},
		"no shell":        {map[string]any{"run": "true", "shell": "no-such-shell"}, fault.NotFound},
	} {
		cl, host := call(t, c.with)
		if err := os.Symlink("/etc", filepath.Join(cl.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		if _, err := New().Run(t.Context(), cl); fault.CodeOf(err) != c.code || host.spawned != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	cl, _ := call(t, map[string]any{"run": "true", "dir": "x"})
	cl.Dir = filepath.Join(cl.Dir, "gone")
	if _, err := New().Run(t.Context(), cl); !fault.Is(err, fault.NotFound) {
		t.Errorf("no directory at all: %v", err)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		run, says, hint string
		exit            int
	}{
		{"echo one >&2; echo 'the reason' >&2; echo >&2; exit 3", "exit status 3: the reason", "", 3},
		{"exit 4", "exit status 4", "", 4},
		{"no-such-command", "exit status 127: ", "PATH", 127},
		{"echo > f; ./f", "exit status 126: ", "chmod", 126},
		{"kill -KILL $$", "killed by SIGKILL", "memory", 137},
		{"kill -USR1 $$", "signal SIGUSR1", "", 138},
		{"i=0; while [ $i -lt 200 ]; do printf 'xäö' >&2; i=$((i+1)); done; exit 5", "...", "", 5},
	} {
		cl, _ := call(t, map[string]any{"run": c.run})
		r, err := New().Run(t.Context(), cl)
		if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), c.says) || !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: %v; %s", c.run, err, fault.HintOf(err))
		}
		if r.Exit == nil || *r.Exit != c.exit || output(t, r, "exit") != fmt.Sprint(c.exit) {
			t.Errorf("%s: exit %v", c.run, r.Exit)
		}
	}
}

func TestFailureKeepsWhatThereIs(t *testing.T) {
	c, host := call(t, map[string]any{"run": `echo report > r.txt; echo n=1 >> "$CAIRN_OUTPUT"; exit 1`},
		capability.Want{Name: "report", Path: "r.txt"}, capability.Want{Name: "other", Path: "none"}, capability.Want{Name: "n", Type: "number"})
	r, err := New().Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || host.content["report"] != "report\n" || output(t, r, "n") != "1" {
		t.Errorf("%v, %v, %s", err, host.content, r.Outputs)
	}
}

func TestTimeAndCancellation(t *testing.T) {
	late := fault.New(fault.Failed, "timed out after 1s")
	for name, c := range map[string]struct {
		cause error
		code  fault.Code
		says  string
	}{
		"time":   {context.DeadlineExceeded, fault.Failed, "its time was over"},
		"engine": {late, fault.Failed, "timed out after 1s"},
		"person": {context.Canceled, fault.Interrupted, "was stopped"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cl, _ := call(t, map[string]any{"run": `echo begun; echo up >&2; : > mark; sleep 600`})
		go func() {
			for ; ; <-time.After(5 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(cl.Dir, "mark")); err == nil || t.Context().Err() != nil {
					cancel(c.cause)
					return
				}
			}
		}()
		r, err := New().Run(ctx, cl)
		if !errors.Is(err, c.cause) || !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "up") {
			t.Errorf("%s: %v", name, err)
		}
		if r.Exit == nil || *r.Exit != 143 || r.Stdout != "begun\n" || output(t, r, "stdout") != "begun\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Whether the time is over before the command has begun or after, it is told the same way.
func TestTimeout(t *testing.T) {
	late := errors.New("the limit of the plan")
	for _, d := range []time.Duration{0, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), d, late)
		c, _ := call(t, map[string]any{"run": "sleep 600"})
		_, err := New().Run(ctx, c)
		cancel()
		if !fault.Is(err, fault.Failed) || !errors.Is(err, late) || !strings.Contains(err.Error(), "its time was over") {
			t.Errorf("after %v: %v", d, err)
		}
	}
}

func TestStreams(t *testing.T) {
	c, host := call(t, map[string]any{"run": `head -c 4096 /dev/zero | tr '\0' x; printf '\377\376' >&2`})
	r, err := New().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(output(t, r, "stdout")) != 4096 || host.content["stderr"] != "\xff\xfe" || r.Stderr != "\uFFFD" || len(r.Artifacts) != 1 {
		t.Errorf("%d bytes, %q, %q, %v", len(r.Stdout), host.content["stderr"], r.Stderr, r.Artifacts)
	}

	c, host = call(t, map[string]any{"run": `head -c 17000000 /dev/zero | tr '\0' y; head -c 5000 /dev/zero | tr '\0' z >&2`})
	if r, err = New().Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if out := r.Artifacts[0]; out.Name != "stdout" || out.Size != 16<<20 || out.Truncated != 17000000-16<<20 || len(host.content["stdout"]) != 16<<20 {
		t.Errorf("%+v", out)
	}
	if errs := r.Artifacts[1]; errs.Name != "stderr" || errs.Size != 5000 || errs.Truncated != 0 || host.content["stderr"] != strings.Repeat("z", 5000) {
		t.Errorf("%+v", errs)
	}
	if _, ok := r.Outputs["stdout"]; ok || len(r.Stdout) != 4096 {
		t.Errorf("%d bytes of tail, outputs %d", len(r.Stdout), len(r.Outputs))
	}
	host.full = errors.New("disk full")
	if _, err = New().Run(t.Context(), c); !errors.Is(err, host.full) {
		t.Errorf("error %v", err)
	}
}

func TestVersions(t *testing.T) {
	c, _ := call(t, map[string]any{"run": "A=1 B=2 ls -l | wc"})
	r, err := New().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(r.Versions["sh"]) || filepath.Base(r.Versions["ls"]) != "ls" || len(r.Versions) != 2 {
		t.Errorf("versions %v", r.Versions)
	}
	for run, want := range map[string]string{
		"make -j4": "make", " \n git\tstatus": "git", "./build.sh": "./build.sh", "cd x && make": "", "$CMD": "", `"my tool" x`: "",
		"A=1": "", "(make)": "", "go;ls": "go", "if true; then ls; fi": "", "# note": "", "X= go test": "go",
	} {
		if got := firstWord(run); got != want {
			t.Errorf("%q begins with %q, not %q", run, got, want)
		}
	}
}

func TestContract(t *testing.T) {
	c := Contract()
	if c.ID != "shell" || c.Repeat != capability.Repeatable || !c.Needs.Write || c.Criticality != "moderate" {
		t.Errorf("%+v", c)
	}
	for _, s := range []json.RawMessage{c.Inputs, c.Outputs} {
		if !json.Valid(s) {
			t.Errorf("no JSON: %s", s)
		}
	}
	in, out := resolve(t, c.Inputs), resolve(t, c.Outputs)
	for _, e := range c.Examples {
		var with map[string]any
		if err := json.Unmarshal(e.With, &with); err != nil {
			t.Fatal(err)
		}
		if err := in.Validate(with); err != nil {
			t.Errorf("%s: %v", e.Says, err)
		}
		if strings.HasPrefix(with["run"].(string), "go ") {
			continue
		}
		cl, _ := call(t, with)
		r, err := New().Run(t.Context(), cl)
		if err != nil {
			t.Errorf("%s: %v", e.Says, err)
		}
		b, _ := json.Marshal(r.Outputs)
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil || out.Validate(got) != nil {
			t.Errorf("%s: %s: %v", e.Says, b, out.Validate(got))
		}
	}
	if in.Validate(map[string]any{"run": "x", "cwd": "y"}) == nil || in.Validate(map[string]any{}) == nil {
		t.Error("anything goes")
	}
}

func TestMany(t *testing.T) {
	r := New()
	work := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range work {
				c, _ := call(t, map[string]any{"run": fmt.Sprintf("echo n=%d > \"$CAIRN_OUTPUT\"", i)}, capability.Want{Name: "n", Type: "number"})
				res, err := r.Run(t.Context(), c)
				if err != nil || !bytes.Equal(res.Outputs["n"], fmt.Append(nil, i)) {
					t.Errorf("%d: %v, %s", i, err, res.Outputs)
				}
			}
		})
	}
	for i := range 200 {
		work <- i
	}
	close(work)
	wg.Wait()
}

func BenchmarkTrue(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("sh", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("shell", func(b *testing.B) {
		r := New()
		c, _ := call(b, map[string]any{"run": "true"})
		for b.Loop() {
			if _, err := r.Run(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
