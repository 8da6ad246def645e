//go:build linux

package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// whole skips a test on a system that cannot hold what it is about.
func whole(t *testing.T) {
	t.Helper()
	for _, p := range sandbox.Probe() {
		if !p.Have {
			t.Skip("this system lacks " + p.Name)
		}
	}
}

func TestConfinedCommands(t *testing.T) {
	whole(t)
	outside := t.TempDir()
	for _, c := range []struct {
		run    string
		limits capability.Limits
		says   string // part of the error; none when empty
		remedy string
	}{
		{`echo x > f && cat f`, capability.Limits{}, "", ""},
		{`echo "a=1" > "$CAIRN_OUTPUT"; test $HOME = $TMPDIR`, capability.Limits{}, "", ""},
		{`echo x > ` + outside + `/f`, capability.Limits{}, "exit status", "policy.allow.write"},
		{`echo x > ` + outside + `/f`, capability.Limits{Mode: capability.Off}, "", ""},
		{`echo x > ` + outside + `/f`, capability.Limits{Mode: capability.Off, Trial: true}, "exit status", "policy.allow.write"},
		{`echo x > ` + outside + `/g`, capability.Limits{Write: []string{outside}}, "", ""},
		{`echo x > f`, capability.Limits{Write: []string{outside}}, "exit status", "policy.allow.write"},
		{`ls`, capability.Limits{Commands: []string{"cat"}}, "command ls is not allowed", "commands: ["},
		{`cat /dev/null; env ls`, capability.Limits{Commands: []string{"cat", "env"}}, "command ls is not allowed", "commands: ["},
		{`cat ` + outside + `/f`, capability.Limits{Commands: []string{"cat"}}, "exit status 1", "policy.allow.read"},
		{`exit 3`, capability.Limits{}, "exit status 3", ""},
	} {
		cl, _ := call(t, map[string]any{"run": c.run})
		cl.Limits = c.limits
		cl.Limits.Root = cl.Dir
		r, err := New().Run(t.Context(), cl)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(fault.HintOf(err), c.remedy)) {
			t.Errorf("%s: %v; %s", c.run, err, fault.HintOf(err))
		}
		if off := c.limits.Mode == capability.Off && !c.limits.Trial; (r.Versions["sandbox"] != "") != off {
			t.Errorf("%s: %q", c.run, r.Versions["sandbox"])
		}
	}
}

func TestLimitIsTold(t *testing.T) {
	o := process.Outcome{Exit: 137, Signal: "SIGKILL", Limit: "it took 5 MiB of memory, over the 4 that it may"}
	err := confined(verdict(t.Context(), o, nil), o, capability.Limits{})
	if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "ended because it took 5 MiB") {
		t.Error(err)
	}
	for said, want := range map[string]string{
		"curl: (6) Could not resolve host: example.org":  "policy.allow.hosts",
		"connect: Network is unreachable":                "policy.allow.hosts",
		"touch: cannot touch 'x': Read-only file system": "policy.allow.write",
		"open /x: permission denied":                     "policy.allow.read or policy.allow.write",
	} {
		o := process.Outcome{Exit: 1, Stderr: []byte(said)}
		if err := confined(verdict(t.Context(), o, nil), o, capability.Limits{}); !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: %v; %s", said, err, fault.HintOf(err))
		}
	}
}

// A shell that is in the workspace may be a task's own work: it is not asked for its version outside of the sandbox.
func TestVersionsAskNothingOfTheWorkspace(t *testing.T) {
	cl, _ := call(t, map[string]any{"run": "true", "shell": "./bash"})
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(filepath.Join(cl.Dir, "bash"), []byte("#!/bin/sh\n: > "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cl.Limits.Root = cl.Dir
	_, _ = New().Run(t.Context(), cl) // whether it succeeds depends on the system
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran unconfined")
	}
}
