package main

import (
	"context"
	"os/exec"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
	"github.com/cairn-plan/cairn/internal/secret"
)

// git asks for the version of the program that keeps the states of files. Plans run without it, but cannot go back.
func git(ctx context.Context) cli.Finding {
	f := cli.Finding{What: "git", OK: true, Lacks: true}
	b, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		f.Says = "not found: there are no diffs of files, no dry run, no way back to a checkpoint, and no workspace on a branch"
		f.Remedy = "install git 2.38 or later"
		return f
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f.Lacks, f.Says = false, strings.TrimSpace(line)+", keeps every state of the files"
	return f
}

// protections tell what holds a task on this system. One that is missing is told with what to do; plans run all the same.
func protections() []cli.Finding {
	var out []cli.Finding
	for _, p := range sandbox.Probe() {
		out = append(out, cli.Finding{What: p.Name, OK: true, Lacks: !p.Have, Says: p.Says})
	}
	return out
}

// secrets names those that a plan may ask for, and reads none.
func secrets(s cli.Site) cli.Finding {
	store, err := secret.Open(sources(s.Secrets), secret.Options{Dir: s.Root})
	if err != nil {
		return cli.Finding{What: "secrets", Says: err.Error(), Remedy: fault.HintOf(err)}
	}
	names := store.Names()
	if len(names) == 0 {
		return cli.Finding{What: "secrets", OK: true, Says: "none declared"}
	}
	return cli.Finding{What: "secrets", OK: true, Says: strconv.Itoa(len(names)) + " known by name: " + strings.Join(names, ", ")}
}
