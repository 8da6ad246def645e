package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

// A full disk and a read-only one are made for real, in a child with mounts of its own.
func init() {
	roles["full disk"] = roleFullDisk
	roles["read-only"] = roleReadOnly
}

// playApart runs a role that may mount.
func playApart(t *testing.T, role string) {
	t.Helper()
	cmd := play(t, role, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == cannotMount, errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS):
		t.Skipf("this machine lets nobody mount here: %s%v", out, err)
	case err != nil:
		t.Fatalf("%s%v", out, err)
	}
}

// cannotMount is the child's way to say that the test cannot run here.
const cannotMount = 77

func mountTemp(dir, options string) {
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
}

func TestFullDisk(t *testing.T) { playApart(t, "full disk") }
func TestReadOnly(t *testing.T) { playApart(t, "read-only") }

func roleFullDisk(args []string) error {
	dir, ctx := args[0], context.Background()
	mountTemp(dir, "size=3m")
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err != nil {
		return err
	}
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	entries := journaltest.Chain("a", journal.Head{}, 5000)
	n := 0
	for err == nil && n < len(entries) {
		if err = s.Append(ctx, entries[n:n+1]); err == nil {
			n++
		}
	}
	if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "is full") || n == 0 {
		return fmt.Errorf("after %d appends to a small disk: %w", n, err)
	}
	if h, err := s.Head(ctx, "a"); err != nil || h != entries[n-1].Head() {
		return fmt.Errorf("acknowledged %d, but the head is %v (%w)", n, h, err)
	}
	if _, err := Open(ctx, dir); err != nil && fault.HintOf(err) == "" {
		return err
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if err := s.Append(ctx, entries[n:n+50]); err != nil {
		return fmt.Errorf("after space was made: %w", err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(ctx, dir); err != nil {
		return err
	}
	defer s.Close()
	if h, err := s.Head(ctx, "a"); err != nil || h != entries[n+49].Head() {
		return fmt.Errorf("after closing, the head is %v (%w)", h, err)
	}
	return nil
}

func roleReadOnly(args []string) error {
	dir, ctx := args[0], context.Background()
	mountTemp(dir, "size=3m")
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	if err := s.Append(ctx, journaltest.Chain("a", journal.Head{}, 3)); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
	if _, err := Open(ctx, dir); !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
		return fmt.Errorf("a read-only home: %w", err)
	}
	fresh := filepath.Join(dir, "fresh")
	if _, err := Open(ctx, fresh); !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("a home that cannot be made: %w", err)
	}
	_, err = s.Hold("a")
	if !fault.Is(err, fault.Invalid) {
		return fmt.Errorf("a claim in a read-only home: %w", err)
	}
	return nil
}
