package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/workspace"
)

func TestHereKeepsEveryState(t *testing.T) {
	for name, make := range map[string]func(testing.TB) *project{"outside git": newProject, "in a repository": newRepo} {
		t.Run(name, func(t *testing.T) {
			p := make(t)
			p.write("a.txt", "one\n")
			before := p.own()
			h := p.here(workspace.Options{})
			first := do(t, h, "feat(plan): change a", func(dir string) {
				write(t, dir, "a.txt", "two\n")
				write(t, dir, "deep/b.txt", "new\n")
			})
			if first.Before == first.After || first.Files != 2 {
				t.Errorf("change %+v", first)
			}
			second := do(t, h, "chore(plan): nothing", func(string) {})
			if second.Before != first.After || second.After != first.After || second.Files != 0 {
				t.Errorf("a task that changed nothing left %+v after %+v", second, first)
			}
			diff, err := h.Diff(t.Context(), first.Before, first.After)
			must(t, err)
			for _, want := range []string{"-one", "+two", "b/deep/b.txt", "+new"} {
				if !strings.Contains(string(diff), want) {
					t.Errorf("diff lacks %q:\n%s", want, diff)
				}
			}
			if strings.Contains(string(diff), ".cairn") {
				t.Error("the home is in the diff")
			}
			if p.own() != before {
				t.Error("the user's repository changed")
			}
		})
	}
}

func TestHereSharesCommits(t *testing.T) {
	p := newRepo(t)
	h := p.here(workspace.Options{})
	start := h.Head()
	const workers, turns = 8, 40
	var all sync.Map
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range turns {
				name := fmt.Sprintf("w%d/f%d.txt", w, i)
				c, err := try(t.Context(), h, name, func(dir string) { write(t, dir, name, name) })
				if err != nil {
					t.Error(err)
					return
				}
				if c.Before == c.After || c.Files == 0 {
					t.Errorf("%s: %+v", name, c)
				}
				text, err := h.Show(t.Context(), c.After, name)
				if err != nil || string(text) != name {
					t.Errorf("%s is not in the state it left: %q %v", name, text, err)
				}
				all.Store(c.After, true)
			}
		})
	}
	group.Wait()
	states := 0
	all.Range(func(any, any) bool { states++; return true })
	if states == workers*turns {
		t.Errorf("%d tasks made %d commits: none was shared", workers*turns, states)
	}
	diff, err := h.Diff(t.Context(), start, h.Head())
	must(t, err)
	if n := strings.Count(string(diff), "new file mode"); n != workers*turns {
		t.Errorf("%d of %d files are in the last state", n, workers*turns)
	}
}

func TestHereLeavesReadersAlone(t *testing.T) {
	p := newProject(t)
	h := p.here(workspace.Options{})
	place, err := h.Enter(t.Context(), "look", false)
	must(t, err)
	defer place.Leave()
	p.write("x", "1")
	c, err := place.Keep(t.Context(), "look")
	must(t, err)
	if c.Before != c.After || place.Dir() != p.root {
		t.Errorf("a task that does not write left %+v in %s", c, place.Dir())
	}
}

func TestHereLeavesOut(t *testing.T) {
	p := newRepo(t)
	holds := func(content []byte) []string {
		if strings.Contains(string(content), "hunter2") {
			return []string{"PASSWORD"}
		}
		return nil
	}
	h := p.here(workspace.Options{Holds: holds, Limit: 1000})
	c := do(t, h, "write", func(dir string) {
		write(t, dir, "ok.txt", "fine")
		write(t, dir, "secret.txt", "password=hunter2")
		write(t, dir, "README", "hunter2 in a known file")
		write(t, dir, "large.bin", strings.Repeat("x", 1001))
		write(t, dir, "ignored/x", "not looked at")
		must(t, os.Symlink("hunter2", filepath.Join(dir, "link")))
	})
	if want := 4; len(c.Left) != want {
		t.Errorf("left %q", c.Left)
	}
	for i, want := range []string{"README: holds the secret PASSWORD", "large.bin: 1001 bytes", "link: holds", "secret.txt: holds"} {
		if i < len(c.Left) && !strings.HasPrefix(c.Left[i], want) {
			t.Errorf("left %q, want %q", c.Left[i], want)
		}
	}
	if c.Files != 1 {
		t.Errorf("%d files kept", c.Files)
	}
	again := do(t, h, "again", func(dir string) { write(t, dir, "ok.txt", "finer") })
	if len(again.Left) != 0 {
		t.Errorf("told again: %q", again.Left)
	}
	later := do(t, h, "later", func(dir string) { write(t, dir, "secret.txt", "hunter2 moved on to another file") })
	if len(later.Left) != 1 || later.After != again.After {
		t.Errorf("a changed secret left %+v", later)
	}
	found := do(t, h, "clean", func(dir string) { write(t, dir, "secret.txt", "nothing here") })
	if len(found.Left) != 0 || found.Files != 1 {
		t.Errorf("a cleaned file left %+v", found)
	}
	grep(t, p.home, "hunter2")
}

// grep proves that text is in no object and no other file below folder.
func grep(t *testing.T, folder, text string) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(folder, "workspaces", "*.git"))
	for _, dir := range dirs {
		out := runGit(t, dir, "--git-dir", dir, "cat-file", "--batch-all-objects", "--batch")
		if strings.Contains(out, text) {
			t.Errorf("%s is in the objects of %s", text, dir)
		}
	}
}

func TestHereHonoursIgnores(t *testing.T) {
	p := newRepo(t)
	p.git("init", "-q", "--bare", filepath.Join(p.root, "ignored", "x.git"))
	write(t, p.root, ".git/info/exclude", "private.txt\n/app/tmp/\n")
	write(t, p.root, "app/.gitignore", "built\n")
	write(t, p.root, ".gitignore", "*.log\n/app/gen/*\n!keep.log\n/other/\n")
	root := filepath.Join(p.root, "app")
	h, err := workspace.OpenHere(t.Context(), root, filepath.Join(root, "odd [home]*"), workspace.Options{})
	must(t, err)
	defer h.Close()
	c := do(t, h, "write", func(dir string) {
		if dir != root {
			t.Errorf("in %s", dir)
		}
		for _, name := range []string{"built", "x.log", "private.txt", "gen/a", "tmp/b", "other/c", "keep.log", "odd [home]*/x", "plain"} {
			write(t, dir, name, name)
		}
	})
	var kept []string
	for _, name := range []string{"built", "x.log", "private.txt", "gen/a", "tmp/b", "other/c", "keep.log", "odd [home]*/x", "plain"} {
		if _, err := h.Show(t.Context(), c.After, name); err == nil {
			kept = append(kept, name)
		}
	}
	if got := strings.Join(kept, " "); got != "other/c keep.log plain" {
		t.Errorf("kept %s", got)
	}
}

func TestHereIsSharedByProcesses(t *testing.T) {
	p := newProject(t)
	a, b := p.here(workspace.Options{}), p.here(workspace.Options{})
	one := do(t, a, "one", func(dir string) { write(t, dir, "one", "1") })
	two := do(t, b, "two", func(dir string) { write(t, dir, "two", "2") })
	if two.After == one.After {
		t.Error("the second state is the first")
	}
	three := do(t, a, "three", func(dir string) { write(t, dir, "three", "3") })
	diff, err := a.Diff(t.Context(), two.After, three.After)
	must(t, err)
	if strings.Contains(string(diff), "two") {
		t.Errorf("the states do not form a line:\n%s", diff)
	}
	nothing := do(t, b, "nothing", func(string) {})
	if nothing.After != three.After {
		t.Errorf("the other workspace stands at %s, not %s", nothing.After, three.After)
	}
}
