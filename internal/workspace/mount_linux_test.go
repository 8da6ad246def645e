package workspace_test

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
)

// A full disk is made for real, in a child with mounts of its own.
func init() { roles["full disk"] = roleFullDisk }

// cannotMount is the child's way to say that the test cannot run here.
const cannotMount = 77

func TestFullDisk(t *testing.T) {
	for _, kind := range []string{"here", "branch"} {
		t.Run(kind, func(t *testing.T) {
			p := newRepo(t)
			home := t.TempDir()
			cmd := play(t, "full disk", kind, p.root, home)
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
		})
	}
}

// roleFullDisk fills the disk that holds the states in the middle of a plan. The branch keeps its objects in the user's
// repository, so that is where the small disk is mounted.
func roleFullDisk(args []string) error {
	kind, root, home, ctx := args[0], args[1], args[2], context.Background()
	small := home
	if kind == "branch" {
		small = filepath.Join(root, ".git", "objects")
		if err := exec.Command("cp", "-r", small, small+".copy").Run(); err != nil {
			return err
		}
	}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("tmpfs", small, "tmpfs", 0, "size=2m")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
	if kind == "branch" {
		if err := exec.Command("cp", "-r", small+".copy/.", small).Run(); err != nil {
			return err
		}
	}
	w, err := open(ctx, kind, root, home)
	if err != nil {
		return err
	}
	filler := filepath.Join(small, "filler")
	_ = os.WriteFile(filler, make([]byte, 4<<20), 0o600) // as much as there is room for
	head := w.Head()
	place, err := w.Enter(ctx, "one", true)
	if err == nil {
		if err := os.WriteFile(filepath.Join(place.Dir(), "x.txt"), []byte(strings.Repeat("some text\n", 1000)), 0o644); err != nil {
			return err
		}
		_, err = place.Keep(ctx, "one")
	}
	if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "disk is full") || fault.HintOf(err) == "" {
		return fmt.Errorf("on a full disk: %w (%s)", err, fault.HintOf(err))
	}
	if w.Head() != head {
		return fmt.Errorf("the last state moved to %s", w.Head())
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if place == nil {
		if place, err = w.Enter(ctx, "one", true); err != nil {
			return err
		}
	}
	c, err := place.Keep(ctx, "one")
	if err != nil || c.Before != head || c.Files == 0 {
		return fmt.Errorf("after space was made: %+v %w", c, err)
	}
	text, err := w.Show(ctx, c.After, "x.txt")
	if err != nil || len(text) != 10_000 {
		return fmt.Errorf("%d bytes kept: %w", len(text), err)
	}
	place.Leave()
	return w.Close()
}
