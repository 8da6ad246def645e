package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

func apply(t *testing.T, b *workspace.Branch, way string, files ...string) workspace.Applied {
	t.Helper()
	got, err := b.Apply(t.Context())
	must(t, err)
	if got.Way != way || !slices.Equal(got.Files, files) {
		t.Errorf("applied %+v", got)
	}
	return got
}

func TestApplyMovesTheBranch(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	apply(t, b, workspace.Nothing)
	c := do(t, b, "feat(plan): one", func(dir string) { write(t, dir, "one.txt", "1\n") })
	p.write("mine.txt", "not committed, in nobody's way\n")
	got := apply(t, b, workspace.FastForward, "one.txt")
	if got.Commit != c.After || p.git("rev-parse", "main") != c.After || p.read("one.txt") != "1\n" {
		t.Errorf("main is not at %s", c.After)
	}
	if status := p.git("status", "--porcelain"); status != "?? mine.txt" {
		t.Errorf("status:\n%s", status)
	}
	apply(t, b, workspace.Nothing)
	if b.Name() != "plan/demo" {
		t.Errorf("branch %s", b.Name())
	}
}

func TestApplyMerges(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	do(t, b, "feat(plan): one", func(dir string) { write(t, dir, "one.txt", "1\n") })
	p.write("README", "the user went on\n")
	p.git("commit", "-q", "-a", "-m", "went on")
	got := apply(t, b, workspace.Merge, "one.txt")
	if parents := strings.Fields(p.git("log", "-1", "--format=%P", got.Commit)); len(parents) != 2 {
		t.Errorf("parents %v", parents)
	}
	if p.git("status", "--porcelain") != "" || p.read("README") != "the user went on\n" || p.read("one.txt") != "1\n" {
		t.Error("the merge is not what is in the work tree")
	}
}

func TestApplyRefusesAndLeavesAll(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(p *project) // before the plan
		user    func(p *project) // what the user does meanwhile
		says    string
	}{
		"committed":     {nil, func(p *project) { p.write("README", "mine\n"); p.git("commit", "-q", "-a", "-m", "mine") }, "README"},
		"not committed": {nil, func(p *project) { p.write("README", "mine\n") }, "README"},
		"staged":        {nil, func(p *project) { p.write("README", "mine\n"); p.git("add", "-A") }, "README"},
		"untracked":     {nil, func(p *project) { p.write("one.txt", "mine\n") }, "one.txt"},
		"ignored":       {nil, func(p *project) { p.write("one.log", "mine\n") }, "one.log"},
		"detached": {nil, func(p *project) {
			p.git("checkout", "-q", "--detach")
			p.write("mine.txt", "mine\n")
			p.git("add", "-A")
			p.git("commit", "-q", "-m", "mine")
		}, "HEAD is detached"},
		"a merge of their own": {nil, func(p *project) {
			other := p.git("commit-tree", "-m", "other", "-p", "main", "main^{tree}")
			p.git("merge", "-q", "--no-commit", "--no-ff", other)
		}, "in the middle of a merge"},
		"a pick of their own": {nil, func(p *project) {
			p.git("branch", "side")
			p.write("src/a.go", "one\n")
			p.git("commit", "-q", "-a", "-m", "one")
			p.write("src/a.go", "two\n")
			p.git("commit", "-q", "-a", "-m", "two")
			p.git("checkout", "-q", "side")
			_ = exec.Command("git", "-C", p.root, "cherry-pick", "main").Run() // it stops in the middle
		}, "in the middle of a cherry-pick"},
		"locked": {nil, func(p *project) { p.write(".git/index.lock", "") }, "index"},
		"not committed before": {func(p *project) { p.write("README", "draft\n") },
			func(p *project) { p.write("README", "another draft\n") }, "README"},
		"ignored before": {func(p *project) { p.write("README", "draft\n") },
			func(p *project) { p.write("one.log", "mine\n") }, "one.log"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRepo(t)
			if c.prepare != nil {
				c.prepare(p)
			}
			b := p.branch(workspace.Options{})
			do(t, b, "one", func(dir string) {
				write(t, dir, "README", "plan\n")
				write(t, dir, "one.txt", "plan\n")
				write(t, dir, ".gitignore", ".cairn/\n")
				write(t, dir, "one.log", "plan\n")
			})
			if name == "ignored" || name == "ignored before" {
				do(t, b, "two", func(dir string) {
					write(t, dir, "README", read(t, p.root, "README"))
					must(t, os.Remove(filepath.Join(dir, "one.txt")))
				})
			}
			c.user(p)
			before, files := p.own(), snapshot(t, p.root)
			_, err := b.Apply(t.Context())
			refused(t, err, fault.Conflict, c.says)
			if p.own() != before || snapshot(t, p.root) != files {
				t.Error("something changed")
			}
		})
	}
}

// snapshot is all files of a project, without its repository and its home.
func snapshot(t *testing.T, root string) string {
	t.Helper()
	var text strings.Builder
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == ".cairn") {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			content, readErr := os.ReadFile(path)
			text.WriteString(path + "\x00" + string(content) + "\x00")
			return readErr
		}
		return err
	}))
	return text.String()
}

func TestApplyJoinsFilesThatAreNotCommitted(t *testing.T) {
	p := newRepo(t)
	p.write("README", "draft\n")
	p.write("notes.txt", strings.Repeat("a line\n", 30))
	b := p.branch(workspace.Options{})
	do(t, b, "one", func(dir string) {
		write(t, dir, "README", "draft, finished\n")
		write(t, dir, "notes.txt", "title\n"+strings.Repeat("a line\n", 30))
	})
	p.write("notes.txt", strings.Repeat("a line\n", 30)+"end\n")
	index := p.own()
	apply(t, b, workspace.Files, "README", "notes.txt")
	if p.read("README") != "draft, finished\n" || p.read("notes.txt") != "title\n"+strings.Repeat("a line\n", 30)+"end\n" {
		t.Error("the files are not joined")
	}
	if p.own() != index {
		t.Error("the user's index or branch changed")
	}
	apply(t, b, workspace.Nothing)
	do(t, b, "two", func(dir string) { write(t, dir, "two.txt", "2\n") })
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "all of it")
	apply(t, b, workspace.Files, "two.txt")
}
