package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

// roleEnv makes the test binary, run again, play a process of its own.
const roleEnv = "CAIRN_SQLITE_TEST_ROLE"

// play runs a role in a child process and answers its command, not yet started.
func play(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("cannot run the test again as a child: %v", err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^TestRole$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestRole is the child's side of the tests that need another process.
func TestRole(t *testing.T) {
	role := roles[os.Getenv(roleEnv)]
	if role == nil {
		t.Skip("only as a child of another test")
	}
	args := os.Args
	for i, a := range args {
		if a == "--" {
			args = args[i+1:]
			break
		}
	}
	if err := role(args); err != nil {
		t.Fatal(err, "-", fault.HintOf(err))
	}
}

var roles = map[string]func(args []string) error{"append": roleAppend, "hold": roleHold}

// roleAppend appends to a plan for ever, telling after each append how many entries there are.
func roleAppend(args []string) error {
	s, err := Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	head, err := s.Head(context.Background(), args[1])
	if err != nil {
		return err
	}
	for {
		entries := journaltest.Chain(args[1], head, 3)
		if err := s.Append(context.Background(), entries); err != nil {
			return err
		}
		head = entries[2].Head()
		fmt.Printf("appended %d\n", head.Seq)
	}
}

func roleHold(args []string) error {
	s, err := Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	if _, err := s.Hold(args[1]); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// TestKilled kills two processes that write to one home, again and again: whatever they said they
// had appended is there, as a chain, and nothing is half there.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	acknowledged := map[string]int{}
	for round := range 8 {
		procs := map[string]*exec.Cmd{}
		lines := map[string]*bufio.Scanner{}
		for _, plan := range []string{"a", "b"} {
			cmd := play(t, "append", dir, plan)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			procs[plan], lines[plan] = cmd, bufio.NewScanner(out)
		}
		for plan, cmd := range procs {
			for range 3 + 7*round {
				if !lines[plan].Scan() {
					t.Fatalf("the writer of %s ended: %v", plan, cmd.Wait())
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			last := lines[plan].Text()
			for lines[plan].Scan() { // what it said before it died
				last = lines[plan].Text()
			}
			_ = cmd.Wait()
			if n, err := strconv.Atoi(strings.TrimPrefix(last, "appended ")); err == nil {
				acknowledged[plan] = n
			}
		}
		check := open(t, dir)
		for plan, said := range acknowledged {
			n := 0
			for e, err := range check.Read(t.Context(), plan, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; e.Seq != journal.Seq(n) {
					t.Fatalf("entry %d at place %d", e.Seq, n)
				}
			}
			if n < said || n%3 != 0 {
				t.Fatalf("round %d: %d entries of %s were acknowledged, %d are there", round, said, plan, n)
			}
			acknowledged[plan] = n
		}
	}
	sound(t, dir, "a", acknowledged["a"])
	sound(t, dir, "b", acknowledged["b"])
}

func TestHoldEndsWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	cmd := play(t, "hold", dir, "a")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "held" {
	}
	_, err = s.Hold("a")
	wantFault(t, err, fault.Conflict, fmt.Sprintf("process %d", cmd.Process.Pid))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	release, err := s.Hold("a")
	if err != nil {
		t.Fatalf("the claim outlived its process: %v", err)
	}
	release()
}
