package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// TestSecretWrittenBehindOurBack changes a file after it was looked through and before git reads it.
func TestSecretWrittenBehindOurBack(t *testing.T) {
	p := newProject(t)
	p.write("known.txt", "known\n")
	armed := false
	h := p.here(workspace.Options{Holds: func(content []byte) []string {
		if armed && strings.Contains(string(content), "innocent") {
			write(t, p.root, "new.txt", "now hunter2\n")
			write(t, p.root, "known.txt", "now hunter2\n")
			write(t, p.root, "fine.txt", "changed, and harmless\n")
		}
		if strings.Contains(string(content), "hunter2") {
			return []string{"PASSWORD"}
		}
		return nil
	}})
	armed = true
	c := do(t, h, "one", func(dir string) {
		write(t, dir, "fine.txt", "fine\n")
		write(t, dir, "known.txt", "innocent\n")
		write(t, dir, "new.txt", "innocent\n")
	})
	if len(c.Left) != 2 {
		t.Errorf("left %q", c.Left)
	}
	if text, err := h.Show(t.Context(), c.After, "known.txt"); err != nil || string(text) != "known\n" {
		t.Errorf("known.txt: %q %v", text, err)
	}
	if _, err := h.Show(t.Context(), c.After, "new.txt"); err == nil {
		t.Error("new.txt is kept")
	}
	if text, err := h.Show(t.Context(), c.After, "fine.txt"); err != nil || string(text) != "changed, and harmless\n" {
		t.Errorf("fine.txt: %q %v", text, err)
	}
	grep(t, p.home, "hunter2")
}

// TestFileReplacedBehindOurBack makes a folder of a file between looking and reading.
func TestFileReplacedBehindOurBack(t *testing.T) {
	p := newProject(t)
	armed := false
	h := p.here(workspace.Options{Holds: func([]byte) []string {
		if armed {
			armed = false
			p.remove("x")
			p.write("x/inner", "inner\n")
		}
		return nil
	}})
	armed = true
	c := do(t, h, "one", func(dir string) { write(t, dir, "x", "file\n") })
	if text, err := h.Show(t.Context(), c.After, "x/inner"); err != nil || string(text) != "inner\n" {
		t.Errorf("x/inner: %q %v", text, err)
	}
}

func TestCallersThatGoAway(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := try(ctx, w, "one", func(dir string) { write(t, dir, "x", "1"); cancel() })
		if !fault.Is(err, fault.Interrupted) {
			t.Errorf("%v", err)
		}
		if _, err := w.Enter(ctx, "two", true); err != nil && !fault.Is(err, fault.Interrupted) {
			t.Errorf("%v", err)
		}
		do(t, w, "three", func(dir string) { write(t, dir, "y", "1") })
	})
}

func TestCallersInTheQueueThatGoAway(t *testing.T) {
	p := newRepo(t)
	var hold chan struct{}
	b := p.branch(workspace.Options{Holds: func(content []byte) []string {
		if strings.HasPrefix(string(content), "slow") {
			hold <- struct{}{} // the first is being looked at
			<-hold
		}
		return nil
	}})
	hold = make(chan struct{})
	slow, err := b.Enter(t.Context(), "slow", true)
	must(t, err)
	defer slow.Leave()
	write(t, slow.Dir(), "slow.txt", "slow\n")
	kept := make(chan error)
	go func() {
		_, err := slow.Keep(t.Context(), "slow")
		kept <- err
	}()
	<-hold
	ctx, cancel := context.WithCancel(t.Context())
	quick, err := b.Enter(ctx, "quick", true)
	must(t, err)
	defer quick.Leave()
	cancel()
	_, err = quick.Keep(ctx, "quick")
	if !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
	if _, err := b.Revert(ctx, span(b.Head(), b.Head())); !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
	if _, err := b.Apply(ctx); !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
	hold <- struct{}{}
	must(t, <-kept)
	do(t, b, "after", func(dir string) { write(t, dir, "x", "1") })
}

func TestUnfinishedMergeOfATask(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	c := do(t, b, "one", func(dir string) {
		runGit(t, dir, "checkout", "-q", "-b", "side")
		write(t, dir, "README", "side\n")
		runGit(t, dir, "commit", "-q", "-a", "-m", "side")
		runGit(t, dir, "checkout", "-q", "--detach", b.Head())
		write(t, dir, "README", "here\n")
		runGit(t, dir, "commit", "-q", "-a", "-m", "here")
		runShell(t, dir, "! git merge -q side")
	})
	text, err := b.Show(t.Context(), c.After, "README")
	if err != nil || !strings.Contains(string(text), "<<<<<<<") {
		t.Errorf("what the task left is not kept: %q %v", text, err)
	}
	do(t, b, "two", func(dir string) {
		if status := runGit(t, dir, "status", "--porcelain"); status != "" {
			t.Errorf("the merge goes on:\n%s", status)
		}
	})
}

func TestApplyLeavesStagedFilesAlone(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	do(t, b, "one", func(dir string) { write(t, dir, "one.txt", "1\n") })
	p.write("README", "the user went on\n")
	p.git("commit", "-q", "-a", "-m", "went on")
	p.write("src/a.go", "staged, which stops a merge\n")
	p.git("add", "-A")
	before, files := p.own(), snapshot(t, p.root)
	_, err := b.Apply(t.Context())
	refused(t, err, fault.Conflict, "staged", "src/a.go")
	if p.own() != before || snapshot(t, p.root) != files {
		t.Error("something changed")
	}
}

func TestManyConflictsAreCutShort(t *testing.T) {
	p := newRepo(t)
	b := p.branch(workspace.Options{})
	do(t, b, "one", func(dir string) {
		for i := range 15 {
			write(t, dir, fmt.Sprintf("f%02d", i), "plan\n")
		}
	})
	for i := range 15 {
		p.write(fmt.Sprintf("f%02d", i), "mine\n")
	}
	_, err := b.Apply(t.Context())
	refused(t, err, fault.Conflict, "f00, f01", "f09, ...")
}

func TestHereGrowsSmallAgain(t *testing.T) {
	p := newProject(t)
	h := p.here(workspace.Options{})
	c := do(t, h, "one", func(dir string) { write(t, dir, "x", "1") })
	must(t, h.Close())
	if _, err := h.Enter(t.Context(), "late", true); err == nil {
		t.Error("a closed workspace let somebody in")
	}
	for i := range 30 { // as if there were thousands of objects
		write(t, shadow(t, p), fmt.Sprintf("objects/17/%038x", i), "")
	}
	h = p.here(workspace.Options{})
	packs, _ := filepath.Glob(filepath.Join(shadow(t, p), "objects", "pack", "*.pack"))
	if text, err := h.Show(t.Context(), c.After, "x"); err != nil || string(text) != "1" || len(packs) == 0 {
		t.Errorf("%q %v %v", text, err, packs)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("nothing is unreadable here")
	}
	p := newProject(t)
	h := p.here(workspace.Options{})
	c := do(t, h, "one", func(dir string) {
		write(t, dir, "closed", "x")
		must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
		write(t, dir, "open", "x")
	})
	if len(c.Left) != 1 || !strings.HasPrefix(c.Left[0], "closed: cannot be read") || c.Files != 1 {
		t.Errorf("%+v", c)
	}
}

func TestDamageIsNamed(t *testing.T) {
	p := newProject(t)
	p.write("x", "1")
	h := p.here(workspace.Options{})
	head := h.Head()
	must(t, h.Close())
	file := filepath.Join(shadow(t, p), "objects", head[:2], head[2:])
	must(t, os.Chmod(file, 0o600))
	must(t, os.WriteFile(file, nil, 0o600))
	_, err := workspace.OpenHere(t.Context(), p.root, p.home, workspace.Options{})
	refused(t, err, fault.Tampered, "damaged")
}
