package workspace_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// withModule is a repository with a submodule lib.
func withModule(t *testing.T) *project {
	p := newRepo(t)
	lib := t.TempDir()
	runGit(t, lib, "init", "-q", "-b", "main")
	write(t, lib, "lib.txt", "one\n")
	runGit(t, lib, "add", "-A")
	runGit(t, lib, "-c", "user.name=L", "-c", "user.email=l@l", "commit", "-q", "-m", "lib one")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	p.git("commit", "-q", "-m", "with lib")
	runGit(t, filepath.Join(p.root, "lib"), "config", "user.name", "L")
	runGit(t, filepath.Join(p.root, "lib"), "config", "user.email", "l@l")
	return p
}

func TestBranchFillsSubmodules(t *testing.T) {
	p := withModule(t)
	b := p.branch(workspace.Options{})
	c := do(t, b, "one", func(dir string) {
		lib := filepath.Join(dir, "lib")
		if read(t, lib, "lib.txt") != "one\n" {
			t.Fatal("the submodule is empty")
		}
		write(t, lib, "lib.txt", "two\n")
		runGit(t, lib, "commit", "-q", "-a", "-m", "lib two")
		write(t, lib, "stray.txt", "not committed\n")
	})
	if c.Files != 1 || len(c.Left) != 1 || !strings.HasPrefix(c.Left[0], "lib: changed inside") {
		t.Errorf("%+v", c)
	}
	other, err := b.Enter(t.Context(), "hold the first tree", true)
	must(t, err)
	do(t, b, "two", func(dir string) {
		lib := filepath.Join(dir, "lib")
		if read(t, lib, "lib.txt") != "two\n" || read(t, lib, "stray.txt") != "-" {
			t.Error("the submodule is not at the commit that the task before left")
		}
	})
	if lib := filepath.Join(other.Dir(), "lib"); read(t, lib, "lib.txt") != "two\n" || read(t, lib, "stray.txt") != "-" {
		t.Error("the first tree's submodule is not at its commit")
	}
	other.Leave()
	if _, err := b.Revert(t.Context(), span(c.Before, c.After)); err != nil {
		t.Fatal(err)
	}
	do(t, b, "three", func(dir string) {
		if read(t, filepath.Join(dir, "lib"), "lib.txt") != "one\n" {
			t.Error("the submodule did not go back")
		}
	})
	if p.read("lib/lib.txt") != "one\n" || p.git("status", "--porcelain") != "" {
		t.Error("the user's own submodule changed")
	}
	must(t, b.Remove(t.Context()))
	if list := runGit(t, filepath.Join(p.root, "lib"), "worktree", "list"); strings.Contains(list, "tree-") {
		t.Errorf("still there:\n%s", list)
	}
}

func TestBranchLeavesRepositoriesOut(t *testing.T) {
	p := newRepo(t)
	write(t, p.root, "vendor/inner/x.txt", "x\n")
	runGit(t, filepath.Join(p.root, "vendor", "inner"), "init", "-q")
	b := p.branch(workspace.Options{})
	if left := b.Left(); len(left) != 1 || left[0] != "vendor/inner: a repository of its own" {
		t.Errorf("left %q", left)
	}
}

func TestHereKeepsTheCommitOfARepository(t *testing.T) {
	p := withModule(t)
	write(t, p.root, "young/x.txt", "x\n")
	runGit(t, filepath.Join(p.root, "young"), "init", "-q")
	before := p.own()
	h := p.here(workspace.Options{})
	if left := strings.Join(h.Left(), "; "); left != "young: a repository of its own, without a commit" {
		t.Errorf("left %q", left)
	}
	lib := filepath.Join(p.root, "lib")
	one := runGit(t, lib, "rev-parse", "HEAD")
	c := do(t, h, "move lib", func(dir string) {
		write(t, lib, "lib.txt", "two\n")
		runGit(t, lib, "commit", "-q", "-a", "-m", "lib two")
		write(t, dir, "README", "changed\n")
	})
	diff, err := h.Diff(t.Context(), c.Before, c.After)
	must(t, err)
	if !strings.Contains(string(diff), "-Subproject commit "+one) {
		t.Errorf("diff:\n%s", diff)
	}
	_, err = h.Revert(t.Context(), span(c.Before, c.After))
	refused(t, err, fault.Conflict, "lib")
	if p.read("README") != "first\n" || !strings.Contains(fault.HintOf(err), one) {
		t.Errorf("the files are not back, or the remedy does not help: %s", fault.HintOf(err))
	}
	runGit(t, lib, "checkout", "-q", one)
	if _, err = h.Revert(t.Context(), span(c.Before, c.After)); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
	if p.own() != before {
		t.Error("the user's repository changed")
	}
}
