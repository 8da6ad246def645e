package git_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

const ada = `, "author": {"name": "Ada", "email": "ada@example.com"}}`

func TestCommit(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	write(t, dir, "staged.txt", "by the user\n")
	sh(t, dir, "add", "staged.txt")
	write(t, dir, "staged.txt", "and changed since\n")
	write(t, dir, "README.md", "new\n")
	write(t, dir, "docs/a.md", "a\n")
	write(t, dir, "other.txt", "not asked for\n")

	with := `{"message": "feat: say more\n\nBecause.", "paths": ["README.md", "docs"]` + ada
	p, err := k.preview("git.commit", with)
	if err != nil || !strings.Contains(p.Diff, "+new\n") || !strings.Contains(p.Diff, "docs/a.md") || strings.Contains(p.Diff, "staged.txt") || p.Commands[0] != "commit to main: feat: say more" {
		t.Errorf("preview: %v, %v", p, err)
	}
	if n := sh(t, dir, "count-objects"); !strings.HasPrefix(n, "10 objects") {
		t.Errorf("the preview left objects: %s", n) // 3 commits with a tree and a file each, and what was staged
	}
	out := k.must("git.commit", with)
	commit := text(t, out["commit"])
	if string(out["files"]) != `["README.md","docs/a.md"]` || string(out["branch"]) != `"main"` || string(out["committed"]) != "true" || sh(t, dir, "rev-parse", "main") != commit {
		t.Errorf("%s", out)
	}
	if got := sh(t, dir, "log", "-1", "--format=%an <%ae> %cn|%s|%b"); !strings.HasPrefix(got, "Ada <ada@example.com> Ada|feat: say more|Because.\n\nCairn-Key: ") {
		t.Errorf("%s", got)
	}
	if got := sh(t, dir, "status", "--porcelain"); got != "AM staged.txt\n?? other.txt" {
		t.Errorf("the user's index is not as it was: %s", got)
	}

	// A second try finds the first, although the files have changed since.
	write(t, dir, "README.md", "newer\n")
	if again := k.must("git.commit", with); text(t, again["commit"]) != commit || sh(t, dir, "rev-parse", "main") != commit {
		t.Errorf("committed twice: %s", again)
	}
	k.key = "2"
	if out := k.must("git.commit", `{"message": "one\n\nSigned-off-by: A <a@b>", "staged": true`+ada); string(out["files"]) != `["staged.txt"]` {
		t.Errorf("staged: %s", out)
	}
	if got := sh(t, dir, "log", "-1", "--format=%(trailers:key=Signed-off-by)%(trailers:key=Cairn-Key)"); strings.Count(got, "\n") != 2 && strings.Count(got, ": ") != 2 {
		t.Errorf("trailers: %q", got)
	}
	if got := sh(t, dir, "show", "main:staged.txt"); got != "by the user" {
		t.Errorf("not what was staged: %s", got)
	}
	k.key = "3"
	if err := os.Remove(filepath.Join(dir, "docs", "a.md")); err != nil {
		t.Fatal(err)
	}
	if out := k.must("git.commit", `{"message": "all", "all": true`+ada); string(out["files"]) != `["README.md","docs/a.md","other.txt","staged.txt"]` {
		t.Errorf("all: %s", out)
	}
	if got := sh(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestNothingToCommit(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	k.refused("git.commit", `{"message": "m", "all": true`+ada, fault.Failed, "nothing to commit")
	if p, err := k.preview("git.commit", `{"message": "m", "all": true`+ada); err != nil || p.Diff != "" || len(p.Unforeseen) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	if out := k.must("git.commit", `{"message": "m", "all": true, "empty": "skip"`+ada); string(out["committed"]) != "false" || text(t, out["commit"]) != sh(t, dir, "rev-parse", "main") {
		t.Errorf("%s", out)
	}
	if out := k.must("git.commit", `{"message": "m", "all": true, "empty": "commit"`+ada); string(out["files"]) != "[]" || sh(t, dir, "log", "-1", "--format=%s") != "m" {
		t.Errorf("%s", out)
	}
}

func TestIdentity(t *testing.T) {
	dir := repository(t)
	home := t.TempDir()
	write(t, home, ".gitconfig", "[user]\nname = Bea\nemail = bea@example.com\n[core]\nhooksPath = "+home+"\n")
	write(t, home, "pre-commit", "#!/bin/sh\nexit 1\n")
	write(t, home, "reference-transaction", "#!/bin/sh\nexit 1\n")
	write(t, dir, ".git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
	for _, f := range []string{filepath.Join(home, "pre-commit"), filepath.Join(home, "reference-transaction"), filepath.Join(dir, ".git/hooks/reference-transaction")} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k := task{t: t, dir: dir, env: map[string]string{"HOME": home, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere"}}
	who := func() string { return sh(t, dir, "log", "-1", "--format=%an <%ae> %cn") }
	write(t, dir, "a", "1")
	k.refused("git.commit", `{"message": "m", "all": true}`, fault.Invalid, "nobody is named as the author")
	k.must("git.commit", `{"message": "m", "all": true, "identity": "user"}`)
	if who() != "Bea <bea@example.com> Bea" {
		t.Errorf("%s", who())
	}
	k.env["HOME"] = t.TempDir()
	k.key = "2"
	write(t, dir, "a", "2")
	k.refused("git.commit", `{"message": "m", "all": true, "identity": "user"}`, fault.NotFound, "does not say user.")
	sh(t, dir, "config", "user.name", "Repo")
	sh(t, dir, "config", "user.email", "repo@example.com")
	k.must("git.commit", `{"message": "m", "all": true}`)
	if who() != "Repo <repo@example.com> Repo" {
		t.Errorf("%s", who())
	}
}

func TestCommitRefuses(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	write(t, dir, ".gitignore", "secret\n")
	write(t, dir, "secret", "s")
	before := sh(t, dir, "rev-parse", "HEAD")
	for with, c := range map[string]struct {
		code fault.Code
		says string
	}{
		`{"message": "m", "paths": ["none"]` + ada:                                        {fault.NotFound, "no file none"},
		`{"message": "m", "paths": ["secret"]` + ada:                                      {fault.Invalid, "secret is ignored"},
		`{"message": "m", "paths": ["../x"]` + ada:                                        {fault.Invalid, "no path inside"},
		`{"message": "m", "paths": ["*.md"]` + ada:                                        {fault.NotFound, "*.md"},
		`{"message": "m", "paths": ["--all"]` + ada:                                       {fault.NotFound, "--all"},
		`{"message": "m"` + ada:                                                           {fault.Invalid, ""},
		`{"message": " ", "all": true` + ada:                                              {fault.Invalid, ""},
		`{"message": "m", "all": true, "staged": true` + ada:                              {fault.Invalid, ""},
		`{"message": "m", "all": true, "author": {"name": "a<b", "email": "x"}}`:          {fault.Invalid, "may not"},
		`{"message": "m", "all": true, "author": {"name": "a"}}`:                          {fault.Invalid, "email"},
		`{"message": "m", "all": true, "identity": "other", "author": {"name": "a"}}`:     {fault.Invalid, ""},
		`{"message": "m", "all": true, "author": {"name": "a", "email": "e"}, "x": true}`: {fault.Invalid, `"x"`},
	} {
		k.refused("git.commit", with, c.code, c.says)
	}
	run, call, _ := k.call("git.commit", `{"message": "m"`+ada)
	if _, err := run.Run(t.Context(), call); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "what to commit") {
		t.Errorf("%v", err)
	}
	lock := filepath.Join(dir, ".git", "refs", "heads", "main.lock")
	write(t, dir, ".git/refs/heads/main.lock", "")
	k.refused("git.commit", `{"message": "m", "all": true`+ada, fault.Conflict, "lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "checkout", "-q", "--detach")
	k.refused("git.commit", `{"message": "m", "all": true`+ada, fault.Conflict, "detached")
	if sh(t, dir, "rev-parse", "HEAD") != before || sh(t, dir, "rev-parse", "main") != before {
		t.Error("something was committed")
	}
}

func TestCommitAmidMerge(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	sh(t, dir, "checkout", "-q", "-b", "side", "HEAD~1")
	write(t, dir, "README.md", "side\n")
	sh(t, dir, "commit", "-q", "-a", "-m", "side")
	conflicting(t, dir, "merge", "--no-commit", "main")
	before := index(t, dir)
	k.refused("git.commit", `{"message": "m", "all": true`+ada, fault.Conflict, "conflicts in README.md")
	if out := k.must("git.status", `{}`); string(out["conflicts"]) != `["README.md"]` {
		t.Errorf("%s", out)
	}
	if !bytes.Equal(before, index(t, dir)) {
		t.Error("the index was touched")
	}
	write(t, dir, "README.md", "both\n")
	sh(t, dir, "add", "README.md")
	k.refused("git.commit", `{"message": "m", "all": true`+ada, fault.Conflict, "a merge is under way")
}

func TestBranch(t *testing.T) {
	dir := repository(t)
	k := task{t: t, dir: dir}
	head := sh(t, dir, "rev-parse", "HEAD")
	write(t, dir, "README.md", "kept\n")
	if p, err := k.preview("git.branch", `{"name": "plan/x", "switch": true}`); err != nil || len(p.Commands) != 2 || p.Commands[1] != "git switch plan/x" {
		t.Errorf("%v, %v", p, err)
	}
	for _, created := range []string{"true", "false"} { // a second time is the same world
		out := k.must("git.branch", `{"name": "plan/x", "switch": true}`)
		if text(t, out["commit"]) != head || string(out["created"]) != created || string(out["current"]) != "true" || sh(t, dir, "branch", "--show-current") != "plan/x" {
			t.Errorf("%s", out)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "README.md")); string(b) != "kept\n" {
		t.Error("a changed file was lost")
	}
	if out := k.must("git.branch", `{"name": "old", "from": "main~1"}`); string(out["current"]) != "false" || sh(t, dir, "branch", "--show-current") != "plan/x" {
		t.Errorf("%s", out)
	}
	k.refused("git.branch", `{"name": "old"}`, fault.Conflict, "there is a branch old already")
	if out := k.must("git.branch", `{"name": "old", "existing": true}`); string(out["created"]) != "false" || text(t, out["commit"]) != sh(t, dir, "rev-parse", "main~1") {
		t.Errorf("%s", out)
	}
	if p, err := k.preview("git.branch", `{"name": "old", "existing": true, "switch": true}`); err != nil || !strings.Contains(p.Diff, "README.md") || len(p.Commands) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	k.refused("git.branch", `{"name": "old", "existing": true, "switch": true}`, fault.Conflict, "in the way of the switch")
	k.refused("git.branch", `{"name": "a..b"}`, fault.Invalid, "no name for a branch")
	k.refused("git.branch", `{"name": "-d"}`, fault.Invalid, "no name for a branch")
	k.refused("git.branch", `{"name": "b", "from": "none"}`, fault.NotFound, "no commit none")
	tree := filepath.Join(t.TempDir(), "tree")
	sh(t, dir, "worktree", "add", "-q", tree, "main")
	k.refused("git.branch", `{"name": "main", "existing": true, "switch": true}`, fault.Conflict, "is checked out in")

	// A linked work tree keeps its head and its index elsewhere.
	write(t, tree, "new.txt", "n\n")
	linked := task{t: t, dir: tree}
	if p, err := linked.preview("git.commit", `{"message": "m", "all": true`+ada); err != nil || !strings.Contains(p.Diff, "new.txt") {
		t.Errorf("%v, %v", p, err)
	}
	if out := linked.must("git.commit", `{"message": "m", "all": true`+ada); string(out["branch"]) != `"main"` || sh(t, tree, "status", "--porcelain") != "" {
		t.Errorf("%s", out)
	}
}
