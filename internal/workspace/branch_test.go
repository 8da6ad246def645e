package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

func TestBranchCommitsEachTask(t *testing.T) {
	p := newRepo(t)
	p.write("README", "edited, not committed\n")
	p.write("new.txt", "untracked\n")
	p.write("debug.log", "ignored\n")
	before := p.own()
	b := p.branch(workspace.Options{})
	one := do(t, b, "feat(plan): add one", func(dir string) {
		if read(t, dir, "README") != "edited, not committed\n" || read(t, dir, "new.txt") != "untracked\n" {
			t.Error("files that are not committed did not come along")
		}
		if read(t, dir, "debug.log") != "-" {
			t.Error("an ignored file came along")
		}
		write(t, dir, "one.txt", "1\n")
		write(t, dir, "out.log", "ignored, and found by the next task\n")
	})
	two := do(t, b, "fix(plan): add two", func(dir string) {
		if read(t, dir, "one.txt") != "1\n" || read(t, dir, "out.log") == "-" {
			t.Error("the second task does not find what the first left")
		}
		write(t, dir, "two.txt", "2\n")
	})
	if one.Before != b.Base() || two.Before != one.After || two.After != b.Head() || one.Files != 1 || two.Merged {
		t.Errorf("changes %+v %+v", one, two)
	}
	if log := p.git("log", "--format=%s|%an", "main..plan/demo"); log != "fix(plan): add two|Ada\nfeat(plan): add one|Ada\nchore(plan): the files that were not committed yet|Ada" {
		t.Errorf("log:\n%s", log)
	}
	if p.own() != before || p.read("README") != "edited, not committed\n" || p.read("one.txt") != "-" {
		t.Error("the user's work tree or repository changed")
	}
	must(t, b.Close())
	if list := p.git("worktree", "list"); !strings.Contains(list, "[plan/demo]") {
		t.Errorf("no work tree on the branch:\n%s", list)
	}
}

func TestBranchJoinsParallelWriters(t *testing.T) {
	p := newRepo(t)
	p.write("shared.txt", strings.Repeat("line\n", 200))
	b := p.branch(workspace.Options{})
	const workers, turns = 8, 40
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range turns {
				name := fmt.Sprintf("w%d/f%d.txt", w, i)
				c, err := try(t.Context(), b, name, func(dir string) { write(t, dir, name, name) })
				if err != nil {
					t.Error(err)
					return
				}
				diff, err := b.Diff(t.Context(), c.Before, c.After)
				if err != nil || strings.Count(string(diff), "diff --git") != 1 || !strings.Contains(string(diff), name) {
					t.Errorf("%s: %v %+v\n%s", name, err, c, diff)
				}
			}
		})
	}
	group.Wait()
	if n := p.git("rev-list", "--count", b.Base()+"..plan/demo"); n != fmt.Sprint(workers*turns) {
		t.Errorf("%s commits for %d tasks", n, workers*turns)
	}
	if trees, _ := filepath.Glob(filepath.Join(p.home, "workspaces", "plan-demo", "tree-*")); len(trees) > workers {
		t.Errorf("%d trees for %d workers", len(trees), workers)
	}
}

func TestBranchConflictNamesTheFiles(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	one, err := b.Enter(t.Context(), "one", true)
	must(t, err)
	two, err := b.Enter(t.Context(), "two", true)
	must(t, err)
	if one.Dir() == two.Dir() {
		t.Fatal("two writers share a tree")
	}
	write(t, one.Dir(), "README", "one\n")
	write(t, one.Dir(), "src/a.go", "one\n")
	write(t, two.Dir(), "README", "two\n")
	write(t, two.Dir(), "fine.txt", "two\n")
	first, err := one.Keep(t.Context(), "one")
	must(t, err)
	one.Leave()
	_, err = two.Keep(t.Context(), "two")
	refused(t, err, fault.Conflict, "README")
	if strings.Contains(err.Error(), "fine.txt") || b.Head() != first.After {
		t.Errorf("the branch moved, or too many files are named: %v", err)
	}
	two.Leave()
	c := do(t, b, "two again", func(dir string) {
		if read(t, dir, "README") != "one\n" || read(t, dir, "fine.txt") != "-" {
			t.Error("the second try does not begin at the tip")
		}
		write(t, dir, "README", "one and two\n")
	})
	if c.Before != first.After {
		t.Errorf("%+v", c)
	}
}

func TestBranchReadersShareATree(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	one, err := b.Enter(t.Context(), "one", false)
	must(t, err)
	two, err := b.Enter(t.Context(), "two", false)
	must(t, err)
	if one.Dir() != two.Dir() {
		t.Error("two readers of one state have two trees")
	}
	write(t, one.Dir(), "stray.txt", "written although it said it would not\n")
	c, err := one.Keep(t.Context(), "one")
	must(t, err)
	if c.Before != b.Head() || c.After != b.Head() {
		t.Errorf("%+v", c)
	}
	done := do(t, b, "write", func(dir string) { write(t, dir, "x", "1") })
	three, err := b.Enter(t.Context(), "three", false)
	must(t, err)
	if three.Dir() == one.Dir() || read(t, three.Dir(), "x") != "1" || done.After != b.Head() {
		t.Error("a reader does not see the present state")
	}
	one.Leave()
	two.Leave()
	three.Leave()
	three.Leave()
	do(t, b, "look", func(dir string) {
		if read(t, dir, "stray.txt") != "-" {
			t.Error("what a reader wrote is still there")
		}
	})
}

func TestBranchBeginsAnywhere(t *testing.T) {
	t.Run("no commit", func(t *testing.T) {
		p := newProject(t)
		p.git("init", "-q", "-b", "main")
		p.write("a.txt", "a\n")
		b := p.branch(workspace.Options{})
		c := do(t, b, "one", func(dir string) {
			if read(t, dir, "a.txt") != "a\n" {
				t.Error("the file did not come along")
			}
			write(t, dir, "b.txt", "b\n")
		})
		if got := p.git("log", "-1", "--format=%an", c.After); got != "cairn" {
			t.Errorf("by %s", got)
		}
		if got, err := b.Apply(t.Context()); err != nil || got.Way != workspace.Files || p.read("b.txt") != "b\n" {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		p := newProject(t)
		p.git("init", "-q", "-b", "main")
		p.home = t.TempDir()
		b := p.branch(workspace.Options{})
		do(t, b, "one", func(dir string) { write(t, dir, "b.txt", "b\n") })
		if got, err := b.Apply(t.Context()); err != nil || len(got.Files) != 1 || p.read("b.txt") != "b\n" {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("detached", func(t *testing.T) {
		p := newRepo(t)
		p.git("checkout", "-q", "--detach")
		b := p.branch(workspace.Options{})
		c := do(t, b, "one", func(dir string) { write(t, dir, "b.txt", "b\n") })
		got, err := b.Apply(t.Context())
		must(t, err)
		if got.Way != workspace.Detached || got.Commit != c.After || p.git("rev-parse", "HEAD") != c.After || p.git("rev-parse", "main") == c.After {
			t.Errorf("%+v", got)
		}
	})
	t.Run("in a folder of the repository", func(t *testing.T) {
		p := newRepo(t)
		p.write("app/x.txt", "x\n")
		p.git("add", "-A")
		p.git("commit", "-q", "-m", "app")
		p.root = filepath.Join(p.root, "app")
		b := p.branch(workspace.Options{})
		c := do(t, b, "one", func(dir string) {
			if filepath.Base(dir) != "app" || read(t, dir, "x.txt") != "x\n" {
				t.Errorf("in %s", dir)
			}
			write(t, dir, "y.txt", "y\n")
		})
		if text, err := b.Show(t.Context(), c.After, "y.txt"); err != nil || string(text) != "y\n" {
			t.Errorf("%q %v", text, err)
		}
		dir, done, err := b.Throwaway(t.Context())
		must(t, err)
		defer done()
		if filepath.Base(dir) != "app" || read(t, dir, "y.txt") != "y\n" {
			t.Errorf("throwaway in %s", dir)
		}
	})
}

func TestBranchRefuses(t *testing.T) {
	p := newProject(t)
	_, err := workspace.OpenBranch(t.Context(), p.root, p.home, "demo", workspace.Options{})
	refused(t, err, fault.Invalid, "not in a git repository")
	p = newRepo(t)
	_, err = workspace.OpenBranch(t.Context(), p.root, p.home, "a..b", workspace.Options{})
	refused(t, err, fault.Invalid, "plan/a..b")
	p.git("branch", "plan/demo")
	_, err = workspace.OpenBranch(t.Context(), p.root, p.home, "demo", workspace.Options{})
	refused(t, err, fault.Conflict, "plan/demo")
	p.git("branch", "-D", "-q", "plan/demo")
	p.git("branch", "plan")
	_, err = workspace.OpenBranch(t.Context(), p.root, p.home, "demo", workspace.Options{})
	refused(t, err, fault.Conflict, "plan/demo")
	p.git("branch", "-m", "plan", "old-plan")
	p.branch(workspace.Options{})
	_, err = workspace.OpenBranch(t.Context(), filepath.Join(p.root, "nowhere"), p.home, "demo", workspace.Options{})
	refused(t, err, fault.NotFound, "nowhere")
	_, err = workspace.OpenHere(t.Context(), p.home, p.home, workspace.Options{})
	refused(t, err, fault.Invalid, "inside the home")
	_, err = workspace.OpenHere(t.Context(), p.root, p.home, workspace.Options{Git: "no-such-git"})
	refused(t, err, fault.NotFound, "git program is missing")
	_, err = workspace.OpenBranch(t.Context(), p.root, p.home, "demo", workspace.Options{Git: "no-such-git"})
	refused(t, err, fault.NotFound, "git program is missing")
	must(t, os.Remove(filepath.Join(p.home, "workspaces", "plan-demo", "start.json")))
}
