package workspace_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// numbered is a text of lines that can be told apart, with some of them replaced.
func numbered(replaced map[int]string) string {
	var b strings.Builder
	for n := range 20 {
		if text, ok := replaced[n]; ok {
			b.WriteString(text + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", n)
	}
	return b.String()
}

// now reads a file as the next task would find it.
func now(t *testing.T, w engine.Workspace, name string) (text string) {
	t.Helper()
	place, err := w.Enter(t.Context(), "look", false)
	must(t, err)
	defer place.Leave()
	return read(t, place.Dir(), name)
}

func TestRevertLeavesWhatWasDoneSince(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		do(t, w, "zero", func(dir string) { write(t, dir, "list.txt", numbered(nil)) })
		one := do(t, w, "one", func(dir string) {
			write(t, dir, "list.txt", numbered(map[int]string{2: "ONE"}))
			write(t, dir, "made.txt", "made\n")
		})
		do(t, w, "two", func(dir string) {
			write(t, dir, "list.txt", numbered(map[int]string{2: "ONE", 15: "TWO"}))
			write(t, dir, "README", "later\n")
			write(t, dir, "later.txt", "later\n")
		})
		for i, want := range [][]string{{"list.txt", "made.txt"}, nil} {
			got, err := w.Revert(t.Context(), span(one.Before, one.After))
			must(t, err)
			if !slices.Equal(got.Files, want) || i == 0 && !slices.Equal(got.Joined, []string{"list.txt"}) || len(got.Overwritten) > 0 {
				t.Errorf("try %d: %+v", i, got)
			}
		}
		if now(t, w, "list.txt") != numbered(map[int]string{15: "TWO"}) || now(t, w, "made.txt") != "-" ||
			now(t, w, "README") != "later\n" || now(t, w, "later.txt") != "later\n" {
			t.Error("what was done later is not there, or what was done first is")
		}
	})
}

func TestRevertStopsWhereFilesChangedSince(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		before := p.own()
		c := do(t, w, "one", func(dir string) {
			write(t, dir, "README", "one\n")
			write(t, dir, "made.txt", "made\n")
			write(t, dir, "other.txt", "other\n")
		})
		do(t, w, "two", func(dir string) { write(t, dir, "README", "two\n"); write(t, dir, "made.txt", "made, and more\n") })
		_, err := w.Revert(t.Context(), span(c.Before, c.After))
		refused(t, err, fault.Conflict, "README", "made.txt")
		if strings.Contains(err.Error(), "other.txt") || !strings.Contains(fault.HintOf(err), "--force") {
			t.Errorf("%v (%s)", err, fault.HintOf(err))
		}
		if now(t, w, "other.txt") != "other\n" || now(t, w, "README") != "two\n" {
			t.Error("something was put back all the same")
		}
		forced := span(c.Before, c.After)
		forced.Force = true
		got, err := w.Revert(t.Context(), forced)
		must(t, err)
		if !slices.Equal(got.Overwritten, []string{"README", "made.txt"}) || len(got.Files) != 3 {
			t.Errorf("%+v", got)
		}
		if now(t, w, "README") != "first\n" || now(t, w, "made.txt") != "-" || now(t, w, "other.txt") != "-" {
			t.Error("the files are not as they were")
		}
		recall := strings.Fields(strings.ReplaceAll(got.Recall, "FILE", "made.txt"))
		cmd := exec.Command(recall[0], recall[1:]...)
		cmd.Dir = p.root
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "made, and more\n" {
			t.Errorf("%s: %s %v", got.Recall, out, err)
		}
		if p.own() != before {
			t.Error("the user's repository changed")
		}
	})
}

func TestRevertMeetsAFileWhereAFolderWas(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		do(t, w, "zero", func(dir string) { write(t, dir, "data/x.txt", "x\n") })
		c := do(t, w, "one", func(dir string) { runShell(t, dir, "rm -r data") })
		do(t, w, "two", func(dir string) { write(t, dir, "data", "a file of somebody\n") })
		_, err := w.Revert(t.Context(), span(c.Before, c.After))
		refused(t, err, fault.Conflict, "data")
		if now(t, w, "data") != "a file of somebody\n" {
			t.Error("it is lost")
		}
		forced := span(c.Before, c.After)
		forced.Force = true
		if _, err := w.Revert(t.Context(), forced); err != nil || now(t, w, "data/x.txt") != "x\n" {
			t.Errorf("forced: %v", err)
		}
	})
}

// A task that was tried twice is taken back as a whole, but for what happened in between to files of others.
func TestRevertTakesAttemptsTogether(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		one := do(t, w, "one", func(dir string) { write(t, dir, "README", "half\n"); write(t, dir, "a.txt", "a\n") })
		do(t, w, "other", func(dir string) { write(t, dir, "other.txt", "other\n") })
		two := do(t, w, "two", func(dir string) { write(t, dir, "README", "whole\n"); write(t, dir, "b.txt", "b\n") })
		twice := engine.Back{Spans: []engine.Span{{Before: one.Before, After: one.After}, {Before: two.Before, After: two.After}}}
		for i, want := range [][]string{{"README", "a.txt", "b.txt"}, nil} {
			got, err := w.Revert(t.Context(), twice)
			must(t, err)
			if !slices.Equal(got.Files, want) {
				t.Errorf("try %d: %+v", i, got)
			}
		}
		if now(t, w, "README") != "first\n" || now(t, w, "other.txt") != "other\n" {
			t.Error("the files are not as they should be")
		}
	})
}

// Two tasks that work in one folder at the same time cannot be told apart: what both may have done stays as long as one
// of them does.
func TestRevertSparesWhatOthersMayHaveDone(t *testing.T) {
	p := newRepo(t)
	h := p.here(workspace.Options{})
	slow, err := h.Enter(t.Context(), "slow", true)
	must(t, err)
	quick := do(t, h, "quick", func(dir string) { write(t, dir, "quick.txt", "quick\n"); write(t, dir, "README", "quick\n") })
	write(t, p.root, "slow.txt", "slow\n")
	write(t, p.root, "README", "slow\n")
	c, err := slow.Keep(t.Context(), "slow")
	must(t, err)
	slow.Leave()
	back := span(c.Before, c.After)
	back.Spared = []engine.Span{{Before: quick.Before, After: quick.After}}
	got, err := h.Revert(t.Context(), back)
	must(t, err)
	if !slices.Equal(got.Files, []string{"README", "slow.txt"}) || !slices.Equal(got.Spared, []string{"quick.txt"}) {
		t.Errorf("%+v", got)
	}
	if p.read("README") != "quick\n" || p.read("quick.txt") != "quick\n" || p.read("slow.txt") != "-" {
		t.Error("the quick task's files are not as it left them")
	}
	got, err = h.Revert(t.Context(), span(quick.Before, quick.After))
	must(t, err)
	if !slices.Equal(got.Files, []string{"README", "quick.txt"}) || p.read("README") != "first\n" {
		t.Errorf("%+v", got)
	}
}

// What another way of going back has put back, as a capability does with what it kept, is not put back again.
func TestRevertLeavesWhatWasPutBackOtherwise(t *testing.T) {
	both(t, workspace.Options{}, func(t *testing.T, p *project, w workspaceUnderTest) {
		c := do(t, w, "one", func(dir string) { write(t, dir, "README", "one\n"); write(t, dir, "made.txt", "made\n") })
		do(t, w, engine.GoingBack+"the rows", func(dir string) { write(t, dir, "README", "first, in other bytes\n") })
		got, err := w.Revert(t.Context(), span(c.Before, c.After))
		must(t, err)
		if !slices.Equal(got.Files, []string{"made.txt"}) || now(t, w, "README") != "first, in other bytes\n" {
			t.Errorf("%+v", got)
		}
	})
}
