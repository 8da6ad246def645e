package workspace_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// project is a folder with files, a home inside it, and a git that the tests use as the user would.
type project struct {
	t    testing.TB
	root string
	home string
}

func newProject(t testing.TB) *project {
	t.Helper()
	root := t.TempDir()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return &project{t, root, filepath.Join(root, ".cairn")}
}

// newRepo is a project in a git repository with one commit.
func newRepo(t testing.TB) *project {
	p := newProject(t)
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "Ada")
	p.git("config", "user.email", "ada@example.org")
	p.write(".gitignore", ".cairn/\nignored/\n*.log\n")
	p.write("README", "first\n")
	p.write("src/a.go", "package a\n\nfunc A() {}\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	return runGit(p.t, p.root, args...)
}

func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (p *project) write(name, text string) { p.t.Helper(); write(p.t, p.root, name, text) }

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read gives the content of a file, or "-" when there is none.
func (p *project) read(name string) string { p.t.Helper(); return read(p.t, p.root, name) }

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (p *project) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
}

// own is what must not change in the user's repository: HEAD, branches, index, settings, stash.
func (p *project) own() string {
	p.t.Helper()
	index, _ := os.ReadFile(filepath.Join(p.root, ".git", "index"))
	config, _ := os.ReadFile(filepath.Join(p.root, ".git", "config"))
	head, _ := os.ReadFile(filepath.Join(p.root, ".git", "HEAD"))
	main, _ := exec.Command("git", "-C", p.root, "for-each-ref", "refs/heads/main", "refs/tags", "refs/stash").CombinedOutput()
	return strings.Join([]string{string(index), string(config), string(head), string(main)}, "\x00")
}

func (p *project) here(opts workspace.Options) *workspace.Here {
	p.t.Helper()
	h, err := workspace.OpenHere(p.t.Context(), p.root, p.home, opts)
	if err != nil {
		p.t.Fatalf("open: %v", err)
	}
	p.t.Cleanup(func() { h.Close() })
	return h
}

func (p *project) branch(opts workspace.Options) *workspace.Branch {
	p.t.Helper()
	b, err := workspace.OpenBranch(p.t.Context(), p.root, p.home, "demo", opts)
	if err != nil {
		p.t.Fatalf("open: %v (%s)", err, fault.HintOf(err))
	}
	p.t.Cleanup(func() { b.Close() })
	return b
}

// do is a task: it enters, changes files, keeps them and leaves.
func do(t testing.TB, w engine.Workspace, message string, change func(dir string)) engine.Change {
	t.Helper()
	c, err := try(t.Context(), w, message, change)
	if err != nil {
		t.Fatalf("%s: %v (%s)", message, err, fault.HintOf(err))
	}
	return c
}

func try(ctx context.Context, w engine.Workspace, message string, change func(dir string)) (engine.Change, error) {
	place, err := w.Enter(ctx, message, true)
	if err != nil {
		return engine.Change{}, err
	}
	defer place.Leave()
	change(place.Dir())
	return place.Keep(ctx, message)
}

// span is what a task did, to be taken back.
func span(before, after string) engine.Back {
	return engine.Back{Spans: []engine.Span{{Before: before, After: after}}, Message: "revert(plan): take it back"}
}

// refused checks an error that a person will read: its code, what it says, and that it has a remedy.
func refused(t *testing.T, err error, code fault.Code, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if !fault.Is(err, code) {
		t.Errorf("code %s, want %s: %v", fault.CodeOf(err), code, err)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not mention %q", err, text)
		}
	}
	if fault.HintOf(err) == "" {
		t.Errorf("no remedy: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v (%s)", err, fault.HintOf(err))
	}
}

// workspaceUnderTest is what both kinds can do.
type workspaceUnderTest interface {
	engine.Workspace
	Head() string
	Show(ctx context.Context, state, name string) ([]byte, error)
	Throwaway(ctx context.Context) (string, func(), error)
	Try(ctx context.Context) (*workspace.Trial, error)
	Close() error
}

// both runs a test on either kind of workspace of a fresh repository.
func both(t *testing.T, opts workspace.Options, test func(t *testing.T, p *project, w workspaceUnderTest)) {
	t.Run("here", func(t *testing.T) { p := newRepo(t); test(t, p, p.here(opts)) })
	t.Run("branch", func(t *testing.T) { p := newRepo(t); test(t, p, p.branch(opts)) })
}

func runShell(t testing.TB, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}
