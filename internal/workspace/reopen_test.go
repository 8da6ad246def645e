package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

func TestBranchIsFoundAgain(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	one := do(t, b, "one", func(dir string) { write(t, dir, "one.txt", "1\n") })
	must(t, b.Close())
	must(t, b.Close())
	if _, err := b.Enter(t.Context(), "late", true); err == nil {
		t.Error("a closed workspace let somebody in")
	}
	p.write("README", "the user went on\n")
	b = p.branch(workspace.Options{})
	if b.Head() != one.After {
		t.Errorf("at %s, not %s", b.Head(), one.After)
	}
	two := do(t, b, "two", func(dir string) {
		if read(t, dir, "one.txt") != "1\n" || read(t, dir, "README") != "first\n" {
			t.Error("the second process does not go on from where the first was")
		}
		write(t, dir, "two.txt", "2\n")
	})
	if two.Before != one.After {
		t.Errorf("%+v", two)
	}
}

func TestBranchHasOneHolder(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	restore := workspace.SetClaimPatience(0)
	defer restore()
	_, err := workspace.OpenBranch(t.Context(), p.root, p.home, "demo", workspace.Options{})
	refused(t, err, fault.Conflict, "another process", "plan/demo")
	must(t, b.Close())
	p.branch(workspace.Options{})
}

func TestBranchTreesAreMended(t *testing.T) {
	harm := map[string]func(t *testing.T, p *project, tree string){
		"tree deleted":       func(t *testing.T, _ *project, tree string) { must(t, os.RemoveAll(tree)) },
		"git's part deleted": func(t *testing.T, p *project, _ string) { p.remove(".git/worktrees") },
		"both deleted":       func(t *testing.T, p *project, tree string) { must(t, os.RemoveAll(tree)); p.remove(".git/worktrees") },
		"pruned":             func(t *testing.T, p *project, tree string) { must(t, os.RemoveAll(tree)); p.git("worktree", "prune") },
		"link replaced":      func(t *testing.T, _ *project, tree string) { write(t, tree, ".git", "gitdir: /nowhere\n") },
		"repository in place": func(t *testing.T, _ *project, tree string) {
			must(t, os.Remove(filepath.Join(tree, ".git")))
			runGit(t, tree, "init", "-q")
		},
		"index locked":  func(t *testing.T, p *project, _ string) { p.write(".git/worktrees/tree-00/index.lock", "") },
		"branch locked": func(t *testing.T, p *project, _ string) { p.write(".git/refs/heads/plan/demo.lock", "") },
		"index damaged": func(t *testing.T, p *project, _ string) { p.write(".git/worktrees/tree-00/index", "DIRC") },
		"files changed": func(t *testing.T, _ *project, tree string) {
			write(t, tree, "one.txt", "x")
			write(t, tree, "stray.txt", "x")
		},
		"branch deleted":       func(t *testing.T, p *project, _ string) { p.git("update-ref", "-d", "refs/heads/plan/demo") },
		"another branch there": func(t *testing.T, _ *project, tree string) { runGit(t, tree, "checkout", "-q", "-b", "elsewhere") },
		"a merge half way": func(t *testing.T, p *project, tree string) {
			runGit(t, tree, "merge", "-q", "--no-commit", "--no-ff", p.git("commit-tree", "-m", "x", "-p", "main", "main^{tree}"))
		},
	}
	for name, do1 := range harm {
		t.Run(name, func(t *testing.T) {
			p := newRepo(t)
			b := p.branch(workspace.Options{})
			one := do(t, b, "one", func(dir string) { write(t, dir, "one.txt", "1\n") })
			must(t, b.Close())
			tree := filepath.Join(p.home, "workspaces", "plan-demo", "tree-00")
			do1(t, p, tree)
			b = p.branch(workspace.Options{})
			two := do(t, b, "two", func(dir string) {
				if read(t, dir, "one.txt") != "1\n" || read(t, dir, "stray.txt") != "-" {
					t.Error("the tree is not at the tip")
				}
				write(t, dir, "two.txt", "2\n")
			})
			if two.Before != one.After || p.git("rev-parse", "plan/demo") != two.After {
				t.Errorf("%+v after %+v", two, one)
			}
		})
	}
}

func TestTreeDeletedDuringATask(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	_, err := try(t.Context(), b, "one", func(dir string) { must(t, os.RemoveAll(dir)) })
	refused(t, err, fault.NotFound, "was deleted")
	do(t, b, "again", func(dir string) { write(t, dir, "x", "1") })
}

func TestRootDeletedDuringATask(t *testing.T) {
	p := newProject(t)
	p.home = t.TempDir()
	p.root = filepath.Join(p.root, "project")
	p.write("x", "1")
	h := p.here(workspace.Options{})
	_, err := try(t.Context(), h, "one", func(dir string) { must(t, os.RemoveAll(dir)) })
	refused(t, err, fault.NotFound, "was deleted")
}

func TestBranchKeepsCommitsMadeByHand(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	c := do(t, b, "one", func(dir string) {
		write(t, dir, "one.txt", "1\n")
		by := p.git("commit-tree", "-m", "by hand", "-p", "plan/demo", tree(t, p, "plan/demo", "hand.txt"))
		p.git("update-ref", "refs/heads/plan/demo", by)
	})
	if !c.Merged {
		t.Errorf("%+v", c)
	}
	do(t, b, "two", func(dir string) {
		if read(t, dir, "hand.txt") == "-" || read(t, dir, "one.txt") == "-" {
			t.Error("a commit is lost")
		}
	})
}

// tree makes a tree like that of a commit, with one file more.
func tree(t *testing.T, p *project, commit, name string) string {
	t.Helper()
	p.write("../hand", "by hand\n")
	blob := p.git("hash-object", "-w", "../hand")
	index := "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")
	sh := "export " + index + "; git read-tree " + commit + " && git update-index --add --cacheinfo 100644," + blob + "," + name + " && git write-tree"
	return runShell(t, p.root, sh)
}

func TestTasksThatUseGit(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	c := do(t, b, "feat(plan): an agent at work", func(dir string) {
		runGit(t, dir, "checkout", "-q", "-b", "side")
		write(t, dir, "one.txt", "1\n")
		runGit(t, dir, "add", "-A")
		runGit(t, dir, "commit", "-q", "-m", "its own commit")
		write(t, dir, "two.txt", "2\n")
		runGit(t, dir, "add", "two.txt")
		write(t, dir, "three.txt", "3\n")
	})
	if c.Files != 3 {
		t.Errorf("%+v", c)
	}
	if log := p.git("log", "--format=%s", "main..plan/demo"); log != "feat(plan): an agent at work" {
		t.Errorf("log:\n%s", log)
	}
	side := p.git("rev-parse", "side")
	do(t, b, "next", func(dir string) { write(t, dir, "four.txt", "4\n") })
	if p.git("rev-parse", "side") != side {
		t.Error("a branch that a task made was moved")
	}
}

func TestStagedSecretsAreNotKept(t *testing.T) {
	holds := func(content []byte) []string {
		if strings.Contains(string(content), "hunter2") {
			return []string{"PASSWORD"}
		}
		return nil
	}
	p := newRepo(t)
	p.write("README", "hunter2\n")
	p.write("draft.txt", "hunter2\n")
	p.git("add", "-A")
	b := p.branch(workspace.Options{Holds: holds})
	if left := b.Left(); len(left) != 2 || !strings.HasPrefix(left[0], "README: holds") {
		t.Errorf("left %q", left)
	}
	c := do(t, b, "one", func(dir string) {
		if read(t, dir, "README") != "first\n" || read(t, dir, "draft.txt") != "-" {
			t.Error("a secret came along")
		}
		write(t, dir, "README", "hunter2 again\n")
		write(t, dir, "new.txt", "hunter2 again\n")
		write(t, dir, "fine.txt", "fine\n")
		runGit(t, dir, "add", "-A")
	})
	if len(c.Left) != 2 || c.Files != 1 {
		t.Errorf("%+v", c)
	}
	if out := p.git("log", "-p", "plan/demo"); strings.Contains(out, "hunter2") {
		t.Error("the secret is on the branch")
	}
	do(t, b, "two", func(dir string) {
		if read(t, dir, "new.txt") != "-" || read(t, dir, "README") != "first\n" {
			t.Error("what was left out is still there")
		}
	})
}

func TestRemove(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	place, err := b.Enter(t.Context(), "one", true)
	must(t, err)
	refused(t, b.Remove(t.Context()), fault.Conflict, "works in")
	place.Leave()
	must(t, b.Remove(t.Context()))
	if list := p.git("worktree", "list"); strings.Contains(list, "tree-") {
		t.Errorf("still there:\n%s", list)
	}
	do(t, b, "two", func(dir string) { write(t, dir, "x", "1") })
}
