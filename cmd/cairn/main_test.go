package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

func TestMain(m *testing.M) {
	// The supervisor, and the keeper of a task, are this binary too, under whatever name it was started.
	if len(os.Args) > 1 && os.Args[1] == sandbox.ConfineArg {
		os.Exit(sandbox.Confine())
	}
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	testscript.Main(m, map[string]func(){"cairn": main})
}

// TestScripts tells how the command line behaves, as its users would.
func TestScripts(t *testing.T) {
	testscript.Run(t, params("testdata/script"))
}

func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAIRN_ACTOR", "ann")
			env.Setenv("NO_COLOR", "1")
			env.Setenv("WEB", web())
			env.Setenv("MODEL", modelServer())
			env.Setenv("GORACE", "atexit_sleep_ms=0") // or each of some hundred commands ends with a second of sleep
			// A project of its own, whatever lies above the folder for temporary files.
			if err := os.WriteFile(filepath.Join(env.WorkDir, "cairn.yaml"), nil, 0o644); err != nil {
				return err
			}
			return os.CopyFS(filepath.Join(env.WorkDir, "examples"), os.DirFS(exampleDir))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "waitfor": waitFor, "terminate": terminate, "large": large, "bytes": writeBytes,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "posix" {
				return runtime.GOOS != "windows", nil
			}
			if cond == "confined" { // by all that there is
				return !slices.ContainsFunc(sandbox.Probe(), func(p sandbox.Protection) bool { return !p.Have }), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
	}
}

// exits runs cairn and demands an exit status: exits 3 cairn run plan.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exited with %d, not %d", strings.Join(args[1:], " "), got, want)
	}
}

// waitFor waits until a file is there, or holds a text: waitfor FILE[:TEXT]... Scripts use it to meet a run in the middle.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(time.Minute)
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, ":")
		for {
			if b, err := os.ReadFile(ts.MkAbs(name)); err == nil && strings.Contains(string(b), text) {
				break
			}
			if time.Now().After(deadline) {
				ts.Fatalf("%s does not appear", arg)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// terminate sends SIGTERM to the process whose id is in a file: terminate FILE.
func terminate(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGTERM))
}

// large writes a file of some megabytes: large FILE MB.
func large(ts *testscript.TestScript, _ bool, args []string) {
	mb, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("# much ado about nothing\n", mb<<20/25)), 0o644))
}

// writeBytes writes bytes that no script can hold: bytes FILE TEXT, with Go's escapes in TEXT.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
