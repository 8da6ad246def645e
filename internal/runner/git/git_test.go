package git_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/git"
	"github.com/cairn-plan/cairn/internal/runner/process"
	_ "github.com/cairn-plan/cairn/internal/runner/sandbox/entrance" // this binary keeps confined commands too
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	home, err := os.MkdirTemp("", "cairn-git-test-")
	if err != nil {
		panic(err)
	}
	// Whoever runs the tests has a configuration of their own, which must not matter.
	_ = os.Setenv("HOME", home)
	_ = os.Setenv("XDG_CONFIG_HOME", home)
	code := m.Run()
	process.Close()
	_ = os.RemoveAll(home)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sh runs git by hand, as a person would.
func sh(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

var template struct {
	sync.Once
	repo, bare string
}

// fill makes a repository with three commits, the last of which broke something, and a remote beside it.
func fill(t *testing.T, dir string) {
	t.Helper()
	template.Do(func() {
		template.repo, template.bare = filepath.Join(os.Getenv("HOME"), "repo"), filepath.Join(os.Getenv("HOME"), "bare")
		write(t, template.repo, "README.md", "")
		sh(t, template.repo, "init", "-q")
		for i, text := range []string{"one\n", "two\n", "two\nbroken\n"} {
			write(t, template.repo, "README.md", text)
			sh(t, template.repo, "add", ".")
			sh(t, template.repo, "commit", "-q", "-m", fmt.Sprintf("commit %d", i+1))
		}
		sh(t, template.repo, "init", "-q", "--bare", template.bare)
	})
	remote := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(template.repo)), os.CopyFS(remote, os.DirFS(template.bare))); err != nil {
		t.Fatal(err)
	}
	config, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer config.Close()
	fmt.Fprintf(config, "[remote \"origin\"]\nurl = %q\nfetch = +refs/heads/*:refs/remotes/origin/*\n", filepath.ToSlash(remote))
}

func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	fill(t, dir)
	return dir
}

func registry(t *testing.T) *capability.Registry {
	t.Helper()
	reg := capability.NewRegistry()
	for _, e := range git.All(nil) {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

// task is a capability that a test calls as the engine would: inputs that do not fit are refused first.
type task struct {
	t   *testing.T
	dir string
	key string
	env map[string]string
}

func (k task) call(id, with string) (capability.Runner, capability.Call, error) {
	k.t.Helper()
	reg := registry(k.t)
	_, run, _ := reg.Lookup(id)
	call := capability.Call{Plan: "p", Task: "t", With: json.RawMessage(with), Dir: k.dir, Env: k.env, Host: &capabilitytest.Host{}, Key: digest.Sum([]byte("key" + k.key))}
	return run, call, reg.Check(id, call.With)
}

func (k task) run(id, with string) (map[string]json.RawMessage, error) {
	k.t.Helper()
	run, call, err := k.call(id, with)
	if err != nil {
		return nil, err
	}
	res, err := run.Run(k.t.Context(), call)
	if err == nil && res.Artifacts == nil {
		if wrong := registry(k.t).Snapshot().CheckOutputs(id, res.Outputs); wrong != nil {
			k.t.Errorf("%s %s: %v", id, with, wrong)
		}
	}
	return res.Outputs, err
}

func (k task) must(id, with string) map[string]json.RawMessage {
	k.t.Helper()
	out, err := k.run(id, with)
	if err != nil {
		k.t.Fatalf("%s %s: %v", id, with, err)
	}
	return out
}

func (k task) preview(id, with string) (capability.Preview, error) {
	k.t.Helper()
	run, call, err := k.call(id, with)
	if err != nil {
		return capability.Preview{}, err
	}
	call.Host = nil
	return run.(capability.Previewer).Preview(k.t.Context(), call)
}

// refused checks that a call fails with a message and a remedy.
func (k task) refused(id, with string, code fault.Code, says string) {
	k.t.Helper()
	_, err := k.run(id, with)
	if err == nil || fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
		k.t.Errorf("%s %s: %v (%s; %s)", id, with, err, fault.CodeOf(err), fault.HintOf(err))
	}
}

func text(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func TestContracts(t *testing.T) {
	hub := newHub(t)
	reg := registry(t)
	task{t: t, dir: repository(t)}.must("git.status", `{}`)                                         // starts the supervisor, which stays
	slow := filepath.Join(os.TempDir(), "cairn-bisect-"+digest.Sum([]byte("key")).Short(), "began") // where the command may write
	for _, e := range git.All(nil) {
		t.Run(e.Contract.ID, func(t *testing.T) {
			w := capabilitytest.World{
				Prepare: func(t *testing.T, dir string) {
					if strings.HasPrefix(e.Contract.ID, "git.pr.") {
						return
					}
					fill(t, dir)
					write(t, dir, "README.md", "changed\n")
					write(t, dir, "docs/new.md", "new\n")
				},
				Example: func(with json.RawMessage) json.RawMessage {
					hub.reset()
					return json.RawMessage(strings.Replace(string(with), "http://localhost", hub.URL, 1))
				},
			}
			if e.Contract.ID == "git.bisect" {
				w.Slow = func(*testing.T) json.RawMessage {
					return json.RawMessage(`{"good": "HEAD~2", "run": "echo > began; while :; do sleep 1; done"}`)
				}
				w.Ready = func(ctx context.Context) error { return appears(ctx, slow) }
			}
			capabilitytest.Run(t, reg, e.Contract, w)
		})
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "cairn-bisect-"+digest.Sum([]byte("key")).Short()+"*")); len(left) > 0 {
		t.Errorf("work trees left behind: %v", left)
	}
}

// appears waits for a file that a child makes.
func appears(ctx context.Context, file string) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestNoRepository(t *testing.T) {
	k := task{t: t, dir: t.TempDir()}
	for id, with := range map[string]string{"git.status": `{}`, "git.diff": `{}`, "git.commit": `{"message": "m", "all": true}`, "git.branch": `{"name": "b"}`,
		"git.bisect": `{"good": "HEAD", "run": "true"}`, "git.push": `{}`} {
		k.refused(id, with, fault.NotFound, "in no git repository")
		k.dir = filepath.Join(k.dir, "gone")
		k.refused(id, with, fault.NotFound, "is not there")
		k.dir = filepath.Dir(k.dir)
	}
	bare := t.TempDir()
	sh(t, bare, "init", "-q", "--bare")
	task{t: t, dir: bare}.refused("git.status", `{}`, fault.Invalid, "bare")
	k.env = map[string]string{"PATH": t.TempDir()}
	k.refused("git.status", `{}`, fault.NotFound, "in no git repository") // which git is run is not the plan's to say
	t.Setenv("PATH", t.TempDir())
	k.refused("git.status", `{}`, fault.NotFound, "git is not installed")
}

func TestNoCommitYet(t *testing.T) {
	dir := t.TempDir()
	sh(t, dir, "init", "-q")
	write(t, dir, "a.txt", "a\n")
	k := task{t: t, dir: dir}
	out := k.must("git.status", `{}`)
	if string(out["commit"]) != `""` || string(out["branch"]) != `"main"` || string(out["untracked"]) != `["a.txt"]` || string(out["clean"]) != "false" {
		t.Errorf("%s", out)
	}
	if out := k.must("git.diff", `{"untracked": true}`); !strings.Contains(text(t, out["diff"]), "+a") || string(out["added"]) != "1" {
		t.Errorf("%s", out)
	}
	k.refused("git.push", `{}`, fault.Failed, "no commit yet")
	k.refused("git.bisect", `{"good": "a", "run": "true"}`, fault.Failed, "no commit yet")
	k.refused("git.branch", `{"name": "b"}`, fault.Failed, "no commit yet")
	if p, err := k.preview("git.branch", `{"name": "b", "switch": true}`); err != nil || len(p.Commands) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	if out := k.must("git.branch", `{"name": "b", "switch": true}`); string(out["commit"]) != `""` || string(out["current"]) != "true" {
		t.Errorf("%s", out)
	}
	if p, err := k.preview("git.commit", `{"message": "first", "all": true}`); err != nil || !strings.Contains(p.Diff, "+a\n") {
		t.Errorf("%v, %v", p, err)
	}
	out = k.must("git.commit", `{"message": "first", "all": true, "author": {"name": "Ada", "email": "a@example.com"}}`)
	if string(out["files"]) != `["a.txt"]` || string(out["branch"]) != `"b"` || sh(t, dir, "log", "--format=%s", "b") != "first" {
		t.Errorf("%s", out)
	}
}

func TestStatus(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	if out := k.must("git.status", `{}`); string(out["clean"]) != "true" || string(out["detached"]) != "false" {
		t.Errorf("%s", out)
	}
	sh(t, dir, "push", "-q", "-u", "origin", "main")
	write(t, dir, "staged.txt", "s\n")
	sh(t, dir, "add", "staged.txt")
	sh(t, dir, "commit", "-q", "-m", "ahead")
	write(t, dir, "staged.txt", "more\n")
	sh(t, dir, "add", "staged.txt")
	write(t, dir, "README.md", "x\n")
	write(t, dir, "sub/with blank.txt", "")
	out := k.must("git.status", `{}`)
	for key, want := range map[string]string{"staged": `["staged.txt"]`, "changed": `["README.md"]`, "untracked": `["sub/with blank.txt"]`, "ahead": "1", "behind": "0",
		"upstream": `"origin/main"`, "clean": "false", "conflicts": "[]"} {
		if string(out[key]) != want {
			t.Errorf("%s is %s, want %s", key, out[key], want)
		}
	}
	if out := k.must("git.status", `{"paths": ["sub"], "untracked": false}`); string(out["clean"]) != "true" {
		t.Errorf("%s", out)
	}
	sh(t, dir, "checkout", "-q", "-f", "--detach")
	if out := k.must("git.status", `{}`); string(out["detached"]) != "true" || string(out["branch"]) != `""` {
		t.Errorf("%s", out)
	}
	k.refused("git.status", `{"paths": ["../x"]}`, fault.Invalid, "no path inside")
	for i := range 2100 {
		write(t, dir, fmt.Sprintf("many/%d", i), "")
	}
	if out := k.must("git.status", `{}`); string(out["truncated"]) != "101" {
		t.Errorf("truncated: %s", out["truncated"])
	}
}

func TestDiff(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	write(t, dir, "README.md", "two\nmended\n")
	write(t, dir, "bin", "\x00\x01")
	before := index(t, dir)
	if out := k.must("git.diff", `{"context": 0}`); !strings.Contains(text(t, out["diff"]), "@@ -2 +2 @@") || string(out["files"]) != `[{"path":"README.md","added":1,"deleted":1}]` {
		t.Errorf("%s", out)
	}
	if out := k.must("git.diff", `{"untracked": true}`); !strings.Contains(string(out["files"]), `{"path":"bin","added":0,"deleted":0,"binary":true}`) {
		t.Errorf("%s", out)
	}
	if out := k.must("git.diff", `{"staged": true}`); text(t, out["diff"]) != "" || string(out["files"]) != "[]" {
		t.Errorf("%s", out)
	}
	if !bytes.Equal(before, index(t, dir)) {
		t.Error("looking changed the index")
	}
	if out := k.must("git.diff", `{"from": "HEAD~2", "to": "main", "paths": ["README.md"]}`); string(out["added"]) != "2" || string(out["deleted"]) != "1" {
		t.Errorf("%s", out)
	}
	sh(t, dir, "branch", "side", "HEAD~1")
	if out := k.must("git.diff", `{"from": "main", "to": "side", "since_fork": true}`); string(out["files"]) != "[]" {
		t.Errorf("%s", out)
	}
	write(t, dir, "large.txt", strings.Repeat("line\n", 2000))
	run, call, _ := k.call("git.diff", `{"untracked": true}`)
	res, err := run.Run(t.Context(), call)
	if b, _ := call.Host.(*capabilitytest.Host).Content("diff"); err != nil || len(b) < 10000 || len(res.Artifacts) != 1 {
		t.Errorf("large: %v, %v", res, err)
	}
	for with, want := range map[string]fault.Code{
		`{"from": "nowhere"}`: fault.NotFound, `{"to": "nowhere"}`: fault.NotFound, `{"from": "--output=x"}`: fault.Invalid, `{"to": "HEAD", "staged": true}`: fault.Invalid,
		`{"staged": true, "untracked": true}`: fault.Invalid, `{"since_fork": true}`: fault.Invalid, `{"paths": ["/etc"]}`: fault.Invalid, `{"context": -1}`: fault.Invalid,
	} {
		k.refused("git.diff", with, want, "")
	}
	sh(t, dir, "checkout", "-q", "--orphan", "alone")
	sh(t, dir, "commit", "-q", "-a", "-m", "alone")
	k.refused("git.diff", `{"from": "main", "to": "alone", "since_fork": true}`, fault.Conflict, "no commit in common")
}

// index is the index of a repository, as bytes.
func index(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStopped(t *testing.T) {
	dir := repository(t)
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	for _, e := range git.All(nil) {
		call := capability.Call{Dir: dir, Host: &capabilitytest.Host{}, With: json.RawMessage(`{"message": "m", "all": true, "name": "b", "good": "HEAD~1", "run": "true", "title": "t",
			"forge": "github", "api": "http://127.0.0.1:1", "repo": "a/b", "token": "t", "head": "h", "base": "b"}`)}
		if _, err := e.Runner.Run(ctx, call); !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
			t.Errorf("%s: %v", e.Contract.ID, err)
		}
	}
}
