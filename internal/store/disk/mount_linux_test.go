package disk

import (
	"bytes"
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

// A full disk and a read-only one are made for real, in a child with mounts of its own.
const (
	roleEnv     = "CAIRN_DISK_TEST_ROLE"
	cannotMount = 77
)

func TestFullDisk(t *testing.T) { playApart(t, "full") }
func TestReadOnly(t *testing.T) { playApart(t, "read-only") }

func playApart(t *testing.T, role string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("cannot run the test again as a child: %v", err)
	}
	cmd := exec.Command(self, "-test.run=^TestRole$")
	cmd.Env = append(os.Environ(), roleEnv+"="+role+":"+t.TempDir())
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

// TestRole is the child's side.
func TestRole(t *testing.T) {
	role, home, _ := strings.Cut(os.Getenv(roleEnv), ":")
	if role == "" {
		t.Skip("only as a child of another test")
	}
	mount(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	mount(t, syscall.Mount("tmpfs", home, "tmpfs", 0, "size=1m"))
	s := open(t, home)
	small, err := s.Put(t.Context(), strings.NewReader("small"))
	if err != nil {
		t.Fatal(err)
	}
	switch role {
	case "full":
		full(t, s, home)
	case "read-only":
		mount(t, syscall.Mount("", home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		_, err := s.Put(t.Context(), strings.NewReader("more"))
		wantFault(t, err, fault.Invalid, "cannot be written")
		wantFault(t, s.Remove(t.Context(), small.ID), fault.Invalid, "cannot be written")
		if _, err := s.Put(t.Context(), strings.NewReader("small")); err != nil {
			t.Errorf("what is there already needs no writing: %v", err)
		}
	}
	if r, err := s.Open(t.Context(), small.ID); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
}

func mount(t *testing.T, err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
}

func full(t *testing.T, s *Store, home string) {
	filler := filepath.Join(home, "filler")
	if err := os.WriteFile(filler, make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), 40<<10)
	_, err := s.Put(context.Background(), bytes.NewReader(content))
	wantFault(t, err, fault.Internal, "is full")
	wantNoDebris(t, home)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(context.Background(), bytes.NewReader(content)); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}
