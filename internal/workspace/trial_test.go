package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/workspace"
)

func TestThrowawayLeavesNoTrace(t *testing.T) {
	holds := func(content []byte) []string {
		if strings.Contains(string(content), "hunter2") {
			return []string{"PASSWORD"}
		}
		return nil
	}
	both(t, workspace.Options{Holds: holds}, func(t *testing.T, p *project, w workspaceUnderTest) {
		p.git("remote", "add", "origin", filepath.Join(t.TempDir(), "nowhere"))
		do(t, w, "state", func(dir string) { write(t, dir, "state.txt", "present\n") })
		head, before := w.Head(), p.own()
		trial, err := w.Try(t.Context())
		must(t, err)
		dir := trial.Dir()
		if read(t, dir, "state.txt") != "present\n" || read(t, dir, "README") != "first\n" {
			t.Error("the copy is not the present tree")
		}
		write(t, dir, "README", "tried\n")
		write(t, dir, "made.txt", "tried\n")
		write(t, dir, "secret.txt", "hunter2\n")
		must(t, os.Remove(filepath.Join(dir, "state.txt")))
		// What a dry run does with git stays in the copy.
		runGit(t, dir, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-a", "-m", "tried")
		runGit(t, dir, "tag", "tried")
		if out, err := exec.Command("git", "-C", dir, "push", "origin", "HEAD").CombinedOutput(); err == nil {
			t.Errorf("a push from the copy went through: %s", out)
		}
		diff, left, err := trial.Diff(t.Context())
		must(t, err)
		for _, want := range []string{"-first", "+tried", "b/made.txt", "deleted file"} {
			if !strings.Contains(string(diff), want) {
				t.Errorf("diff lacks %q:\n%s", want, diff)
			}
		}
		if strings.Contains(string(diff), "hunter2") || len(left) != 1 || !strings.HasPrefix(left[0], "secret.txt: holds") {
			t.Errorf("left %q", left)
		}
		must(t, os.Mkdir(filepath.Join(dir, "locked"), 0o755))
		write(t, dir, "locked/x", "x")
		must(t, os.Chmod(filepath.Join(dir, "locked"), 0o500))
		trial.Close()
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Error("the copy is still there")
		}
		if w.Head() != head || p.own() != before || p.read("README") != "first\n" {
			t.Error("the trial reached the workspace")
		}
	})
}

func TestThrowawaysOfTheDeadAreSwept(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		dir, done, err := w.Throwaway(t.Context())
		must(t, err)
		dead := filepath.Join(p.home, "workspaces", "trial-dead")
		write(t, dead, "tree/x", "x")
		write(t, dead, "lock", "")
		must(t, w.Close())
		p.here(workspace.Options{})
		if _, err := os.Stat(dead); !os.IsNotExist(err) {
			t.Error("what a dead process left is still there")
		}
		if read(t, dir, "README") != "first\n" {
			t.Error("a living copy was removed")
		}
		done()
	})
}

func TestThrowawayOutsideGit(t *testing.T) {
	p := newProject(t)
	p.write("a", "1")
	h := p.here(workspace.Options{})
	p.write("b", "not kept yet")
	dir, done, err := h.Throwaway(t.Context())
	must(t, err)
	defer done()
	if read(t, dir, "a") != "1" || read(t, dir, "b") != "not kept yet" {
		t.Error("the copy is not the present tree")
	}
}
