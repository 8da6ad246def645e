package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

func TestHereRestores(t *testing.T) {
	p := newRepo(t)
	p.write("same.txt", "same\n")
	p.write("ignored/cache", "mine\n")
	before := p.own()
	h := p.here(workspace.Options{})
	first := h.Head()
	later := do(t, h, "change", func(dir string) {
		write(t, dir, "README", "changed\n")
		write(t, dir, "new/deep.txt", "new\n")
		p.remove("src/a.go")
	})
	p.write("unkept.txt", "written by the user since\n")
	same := stamp(t, p.root, "same.txt")

	got, err := h.Revert(t.Context(), span(first, later.After))
	must(t, err)
	if want := []string{"README", "new/deep.txt", "src/a.go"}; !slices.Equal(got.Files, want) {
		t.Errorf("changed %v", got.Files)
	}
	if p.read("README") != "first\n" || p.read("new/deep.txt") != "-" || p.read("src/a.go") == "-" {
		t.Error("the files are not as they were")
	}
	if p.read("unkept.txt") == "-" || p.read("ignored/cache") != "mine\n" || stamp(t, p.root, "same.txt") != same {
		t.Error("a file was touched that need not be")
	}
	again, err := h.Revert(t.Context(), span(first, later.After))
	must(t, err)
	if len(again.Files) != 0 {
		t.Errorf("the second time changed %v", again.Files)
	}
	if _, err := h.Revert(t.Context(), span(later.After, first)); err != nil || p.read("README") != "changed\n" || p.read("src/a.go") != "-" {
		t.Errorf("forward again: %v", err)
	}
	c := do(t, h, "nothing", func(string) {})
	if c.Before != c.After {
		t.Errorf("%+v", c)
	}
	if p.own() != before {
		t.Error("the user's repository changed")
	}
}

func stamp(t *testing.T, dir, name string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	must(t, err)
	return info.ModTime()
}

func TestHereBacksUpWhatIsInTheWay(t *testing.T) {
	p := newProject(t)
	p.write("data", "tracked\n")
	p.write("dir/file", "tracked too\n")
	h := p.here(workspace.Options{})
	first := h.Head()
	c := do(t, h, "ignore them", func(dir string) {
		write(t, dir, ".gitignore", "data\ndir\n")
		p.remove("data")
		p.remove("dir")
	})
	write(t, p.root, "data/inner", "ignored, in the way\n")
	write(t, p.root, "dir", "a file where a folder was\n")
	_, err := h.Revert(t.Context(), span(first, c.After))
	must(t, err)
	if p.read("data") != "tracked\n" || p.read("dir/file") != "tracked too\n" || p.read(".gitignore") != "-" {
		t.Error("the files are not as they were")
	}
	log := runGit(t, p.root, "--git-dir", shadow(t, p), "log", "--format=%H %s", "here")
	found := false
	for line := range strings.Lines(log) {
		state, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(subject, "in the way") {
			inner, err1 := h.Show(t.Context(), state, "data/inner")
			file, err2 := h.Show(t.Context(), state, "dir")
			found = err1 == nil && err2 == nil && string(inner) == "ignored, in the way\n" && string(file) == "a file where a folder was\n"
		}
	}
	if !found {
		t.Errorf("what was in the way is in no state:\n%s", log)
	}
}

func shadow(t *testing.T, p *project) string {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(p.home, "workspaces", "here-*.git"))
	if len(dirs) != 1 {
		t.Fatalf("shadow repositories: %v", dirs)
	}
	return dirs[0]
}

func TestHereRestoreMeetsWhatIsNotKept(t *testing.T) {
	p := newProject(t)
	p.write("config", "one\n")
	p.write("big", "small\n")
	holds := func(content []byte) []string {
		if strings.Contains(string(content), "hunter2") {
			return []string{"PASSWORD"}
		}
		return nil
	}
	h := p.here(workspace.Options{Holds: holds, Limit: 100})
	c := do(t, h, "change", func(string) {
		p.write("config", "two\n")
		p.write("big", "other\n")
	})
	p.write("config", "hunter2\n")
	p.write("notes", "hunter2, and in nobody's way\n")
	_, err := h.Revert(t.Context(), span(c.Before, c.After))
	refused(t, err, fault.Conflict, "config", "PASSWORD")
	if p.read("config") != "hunter2\n" || p.read("big") != "other\n" {
		t.Error("something was put back all the same")
	}
	p.write("config", "two\n")
	p.write("big", strings.Repeat("grown", 100))
	_, err = h.Revert(t.Context(), span(c.Before, c.After))
	refused(t, err, fault.Conflict, "big", "above the limit")
	do(t, h, "drop", func(string) { p.remove("big") })
	p.write(".gitignore", "big\n")
	p.write("big", strings.Repeat("grown", 100))
	forced := span(c.Before, c.After)
	forced.Force = true
	_, err = h.Revert(t.Context(), forced)
	refused(t, err, fault.Conflict, "big")
	if len(p.read("big")) != 500 {
		t.Error("the large file is lost")
	}
	p.remove("big")
	if _, err = h.Revert(t.Context(), forced); err != nil || p.read("big") != "small\n" || p.read("config") != "one\n" {
		t.Errorf("after the file was moved: %v", err)
	}
	if p.read("notes") == "-" {
		t.Error("a file was touched that need not be")
	}
	grep(t, p.home, "hunter2")
}

func TestStatesThatAreNone(t *testing.T) {
	p := newRepo(t)
	h, b := p.here(workspace.Options{}), p.branch(workspace.Options{})
	for _, state := range []string{"", "--help", "HEAD", strings.Repeat("0", 40), strings.Repeat("g", 40)} {
		_, err := h.Revert(t.Context(), span(h.Head(), state))
		refused(t, err, fault.NotFound)
		_, err = b.Revert(t.Context(), span(state, b.Head()))
		refused(t, err, fault.NotFound)
		_, err = h.Diff(t.Context(), h.Head(), state)
		refused(t, err, fault.NotFound)
		_, err = b.Diff(t.Context(), state, b.Head())
		refused(t, err, fault.NotFound)
	}
	for _, name := range []string{"../x", "/etc/passwd", "", "a/../../b"} {
		_, err := h.Show(t.Context(), h.Head(), name)
		refused(t, err, fault.Denied, "outside the project root")
		_, err = b.Show(t.Context(), b.Head(), name)
		refused(t, err, fault.Denied, "outside the project root")
	}
}

func TestBranchRestores(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	one := do(t, b, "one", func(dir string) { write(t, dir, "README", "one\n"); write(t, dir, "one.txt", "1\n") })
	two := do(t, b, "two", func(dir string) { write(t, dir, "README", "two\n"); write(t, dir, "kept.log", "ignored\n") })
	for i, c := range []engine.Change{two, one, one} {
		got, err := b.Revert(t.Context(), span(c.Before, c.After))
		must(t, err)
		if want := [][]string{{"README"}, {"README", "one.txt"}, nil}[i]; !slices.Equal(got.Files, want) {
			t.Errorf("changed %v", got.Files)
		}
	}
	do(t, b, "three", func(dir string) {
		if read(t, dir, "README") != "first\n" || read(t, dir, "one.txt") != "-" || read(t, dir, "kept.log") != "ignored\n" {
			t.Error("the next task does not find the restored files")
		}
	})
	if _, err := b.Revert(t.Context(), span(one.After, one.Before)); err != nil {
		t.Errorf("forward again: %v", err)
	}
}

// TestEveryKindOfFile keeps, shows and restores what git treats specially, in both workspaces.
func TestEveryKindOfFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes and links")
	}
	p := newRepo(t)
	p.write(".gitattributes", "*.txt text\n*.id ident\n")
	p.write("old-name.txt", strings.Repeat("a line that stays\n", 20))
	p.write("folder/x", "x\n")
	for kind, w := range map[string]workspaceUnderTest{"here": p.here(workspace.Options{}), "branch": p.branch(workspace.Options{})} {
		t.Run(kind, func(t *testing.T) {
			first := w.Head()
			binary := string([]byte{0, 1, 2, 255, 254, '\n', '\r', '\n', 0})
			c := do(t, w, "all kinds", func(dir string) {
				write(t, dir, "crlf.txt", "one\r\ntwo\r\n")
				write(t, dir, "crlf.dat", "one\r\ntwo\r\n")
				write(t, dir, "x.id", "$Id$\n")
				write(t, dir, "bin", binary)
				write(t, dir, "large.bin", strings.Repeat("0123456789abcdef", 1<<17))
				write(t, dir, "run.sh", "#!/bin/sh\n")
				must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
				write(t, dir, "odd name\twith\n\"quotes\" ä", "odd\n")
				write(t, dir, ":(top)magic*[x]", "magic\n")
				must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
				must(t, os.Symlink("nowhere", filepath.Join(dir, "broken")))
				must(t, os.Rename(filepath.Join(dir, "old-name.txt"), filepath.Join(dir, "new-name.txt")))
				must(t, os.RemoveAll(filepath.Join(dir, "folder")))
				must(t, os.Symlink("src", filepath.Join(dir, "folder")))
				must(t, os.MkdirAll(filepath.Join(dir, "empty", "folders"), 0o755))
			})
			if len(c.Left) != 0 {
				t.Errorf("left %q", c.Left)
			}
			diff, err := w.Diff(t.Context(), c.Before, c.After)
			must(t, err)
			for _, want := range []string{"rename from old-name.txt", "rename to new-name.txt", "Binary files /dev/null and b/bin differ",
				"new file mode 100755", "new file mode 120000", "+/etc/passwd"} {
				if !strings.Contains(string(diff), want) {
					t.Errorf("diff lacks %q", want)
				}
			}
			_, err = w.Revert(t.Context(), span(first, c.After))
			must(t, err)
			do(t, w, "look", func(dir string) {
				if read(t, dir, "bin") != "-" || read(t, dir, "folder/x") != "x\n" || read(t, dir, "old-name.txt") == "-" {
					t.Error("the first state is not back")
				}
			})
			_, err = w.Revert(t.Context(), span(c.After, first))
			must(t, err)
			do(t, w, "look again", func(dir string) {
				if read(t, dir, "crlf.dat") != "one\r\ntwo\r\n" || read(t, dir, "bin") != binary || len(read(t, dir, "large.bin")) != 1<<21 ||
					read(t, dir, "odd name\twith\n\"quotes\" ä") != "odd\n" || read(t, dir, ":(top)magic*[x]") != "magic\n" {
					t.Error("content is not back")
				}
				// In place every byte stays; on a branch the user's attributes hold, as in any work tree of theirs.
				text, id := read(t, dir, "crlf.txt"), read(t, dir, "x.id")
				if kind == "here" && (text != "one\r\ntwo\r\n" || id != "$Id$\n") ||
					kind == "branch" && (text != "one\ntwo\n" || !strings.HasPrefix(id, "$Id: ")) {
					t.Errorf("attributes: %q %q", text, id)
				}
				if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode()&0o111 == 0 {
					t.Errorf("mode: %v %v", info, err)
				}
				for name, want := range map[string]string{"link": "/etc/passwd", "broken": "nowhere", "folder": "src"} {
					if got, err := os.Readlink(filepath.Join(dir, name)); got != want {
						t.Errorf("link %s leads to %q: %v", name, got, err)
					}
				}
			})
		})
	}
}
