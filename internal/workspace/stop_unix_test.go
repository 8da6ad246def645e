//go:build unix

package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// TestGitIsAskedToStop takes a git that hangs, and a caller who does not want to wait for it.
func TestGitIsAskedToStop(t *testing.T) {
	p := newRepo(t)
	dir := t.TempDir()
	hangs := filepath.Join(dir, "git")
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	script := "#!/bin/sh\nif [ \"$1\" = update-index ]; then echo > " + pipe + "; exec sleep 600; fi\nexec git \"$@\"\n"
	must(t, os.WriteFile(hangs, []byte(script), 0o755))
	b := p.branch(workspace.Options{Git: hangs})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if _, err := os.ReadFile(pipe); err != nil { // until git hangs
			t.Error(err)
		}
		cancel()
	}()
	_, err := try(ctx, b, "one", func(dir string) { write(t, dir, "x", "1") })
	if !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
}
