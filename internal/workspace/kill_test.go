package workspace_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// roleEnv makes the test binary, run again, play a process of its own.
const roleEnv = "CAIRN_WORKSPACE_TEST_ROLE"

var roles = map[string]func(args []string) error{"keep": roleKeep}

func play(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("cannot run the test again as a child: %v", err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^TestRole$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestRole is the child's side of the tests that need another process.
func TestRole(t *testing.T) {
	role := roles[os.Getenv(roleEnv)]
	if role == nil {
		t.Skip("only as a child of another test")
	}
	_, args, _ := strings.Cut(strings.Join(os.Args, "\x00"), "\x00--\x00")
	if err := role(strings.Split(args, "\x00")); err != nil {
		t.Fatal(err, "-", fault.HintOf(err))
	}
}

func open(ctx context.Context, kind, root, home string) (workspaceUnderTest, error) {
	if kind == "here" {
		return workspace.OpenHere(ctx, root, home, workspace.Options{})
	}
	return workspace.OpenBranch(ctx, root, home, "demo", workspace.Options{})
}

// roleKeep keeps states for ever with several workers, telling each that was kept, and the file that is in it.
func roleKeep(args []string) error {
	kind, root, home, round := args[0], args[1], args[2], args[3]
	w, err := open(context.Background(), kind, root, home)
	if err != nil {
		return err
	}
	fmt.Printf("open %s\n", w.Head())
	var tell sync.Mutex
	failed := make(chan error)
	for n := range 4 {
		go func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("round%s/w%d/f%d.txt", round, n, i)
				c, err := try(context.Background(), w, name, func(dir string) {
					path := filepath.Join(dir, name)
					_ = os.MkdirAll(filepath.Dir(path), 0o755)
					_ = os.WriteFile(path, []byte(name), 0o644)
				})
				if err != nil {
					failed <- err
					return
				}
				tell.Lock()
				fmt.Printf("kept %s %s\n", c.After, name)
				tell.Unlock()
			}
		}()
	}
	return <-failed
}

// TestKilledInTheMiddle ends the process without warning while it keeps states, again and again: what it said it kept is
// there, the next process goes on, and nothing of the user's has changed.
func TestKilledInTheMiddle(t *testing.T) {
	for _, kind := range []string{"here", "branch"} {
		t.Run(kind, func(t *testing.T) {
			p := newRepo(t)
			before := p.own()
			kept := map[string]string{}
			for round := range 6 {
				killAfter(t, p, kind, round, kept)
				w, err := open(t.Context(), kind, p.root, p.home)
				must(t, err)
				for name, state := range kept {
					if text, err := w.Show(t.Context(), state, name); err != nil || string(text) != name {
						t.Errorf("round %d: %s is not in the state that was acknowledged: %q %v", round, name, text, err)
					}
					if text, err := w.Show(t.Context(), w.Head(), name); err != nil || string(text) != name {
						t.Errorf("round %d: %s is not in the last state: %q %v", round, name, text, err)
					}
				}
				do(t, w, "go on", func(dir string) { write(t, dir, "on.txt", fmt.Sprint(round)) })
				if locks, _ := filepath.Glob(filepath.Join(shadowOrTree(p, kind), "*.lock")); len(locks) > 0 {
					t.Errorf("locks are left: %v", locks)
				}
				must(t, w.Close())
			}
			if p.own() != before {
				t.Error("the user's repository changed")
			}
			if kind == "branch" && p.git("fsck", "--no-dangling", "--no-progress") != "" {
				t.Error("the repository is damaged")
			}
		})
	}
}

func killAfter(t *testing.T, p *project, kind string, round int, kept map[string]string) {
	t.Helper()
	lines := 1 + 3*round
	cmd := play(t, "keep", kind, p.root, p.home, fmt.Sprint(round))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if fields := strings.Fields(scan.Text()); len(fields) == 3 && fields[0] == "kept" {
			kept[fields[2]] = fields[1]
		}
		if lines--; lines == 0 {
			must(t, cmd.Process.Kill())
		}
	}
	if cmd.Wait() == nil || lines > 0 {
		t.Fatalf("round %d: the child ended by itself", round)
	}
}

func shadowOrTree(p *project, kind string) string {
	if kind == "here" {
		return filepath.Join(p.home, "workspaces", "here-*.git")
	}
	return filepath.Join(p.root, ".git", "worktrees", "*")
}

// TestLocksOfTheDead puts lock files where a git leaves them that was killed.
func TestLocksOfTheDead(t *testing.T) {
	p := newRepo(t)
	h := p.here(workspace.Options{})
	dir := shadow(t, p)
	for _, name := range []string{"index.lock", "refs/heads/here.lock", "HEAD.lock"} {
		write(t, dir, name, "")
		do(t, h, name, func(dir string) { write(t, dir, "x", name) })
		write(t, dir, name, "")
		if _, err := h.Revert(t.Context(), span(h.Head(), h.Head())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLockOfAnother(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	_, err := try(t.Context(), b, "one", func(dir string) {
		write(t, dir, "x", "1")
		p.write(".git/refs/heads/plan/demo.lock", "")
	})
	refused(t, err, fault.Conflict, "locked")
	p.remove(".git/refs/heads/plan/demo.lock")
	do(t, b, "again", func(dir string) { write(t, dir, "x", "1") })
}
