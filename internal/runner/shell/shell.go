// Package shell performs the capability `shell`: one command line, run by sh as make would run it.
//
// The command sees an environment built from nothing, and what it needs to know of itself in CAIRN_*
// variables. What it gives back are its exit status and its two streams, and the outputs that the plan
// declares: files that it leaves behind, a stream, or what it writes to the file CAIRN_OUTPUT names.
//
// A command that fails is an error beside a Result that is as full as it can be: a test report is
// wanted most when the tests failed. An output that was declared and not produced is a failure too,
// for what depends on it would fail later and tell less.
package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

// Runner runs commands. The zero Runner is ready; it keeps what it finds out about shells.
type Runner struct {
	versions versions
}

var _ capability.Runner = (*Runner)(nil)

// New makes a Runner.
func New() *Runner { return &Runner{} }

// input is what the contract's input schema lets through.
type input struct {
	Run   string  `json:"run"`
	Shell string  `json:"shell"`
	Stdin *string `json:"stdin"`
	Dir   string  `json:"dir"`
}

// Run implements capability.Runner.
func (r *Runner) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, dir, err := parse(call)
	if err != nil {
		return capability.Result{}, err
	}
	s, err := newScratch(call.Limits)
	if err != nil {
		return capability.Result{}, err
	}
	defer s.tidy()
	out, errs := &spool{}, &spool{}
	defer out.close()
	defer errs.close()

	spec := process.Spec{
		Argv: []string{in.Shell, "-c", in.Run}, Dir: dir, Env: environment(call, s.file),
		Stdout: out, Stderr: errs,
	}
	if err := spec.Limit(call.Limits); err != nil {
		return capability.Result{}, err
	}
	if spec.Confine != nil {
		spec.Confine.Private = s.private
	}
	if in.Stdin != nil {
		spec.Stdin = strings.NewReader(*in.Stdin)
	}
	res := capability.Result{
		Outputs: map[string]json.RawMessage{}, Dir: place(in.Dir), EnvNames: names(spec.Env),
		Versions: r.versions.of(in, spec, call.Limits.Root),
	}
	o, err := process.Run(ctx, call.Host, spec)
	failure := verdict(ctx, o, err)
	if failure != nil && spec.Confine != nil {
		failure = confined(failure, o, call.Limits)
	}
	if o.Process.PID == 0 {
		return res, failure // it never ran
	}
	process.Note(&res, call.Limits, o)
	res.Exit, res.Stdout, res.Stderr = &o.Exit, text(o.Stdout), text(o.Stderr)
	h := harvest{call: call, res: &res, file: s.file,
		streams: map[string]stream{"stdout": {out, o.StdoutBytes}, "stderr": {errs, o.StderrBytes}}}
	// What there is to keep is kept even when the command was stopped, so not with a ctx that is done;
	// what is missing then is no news.
	if err := h.gather(context.WithoutCancel(ctx)); failure == nil {
		failure = err
	}
	return res, failure
}

// parse reads the inputs and finds the directory to run in.
func parse(call capability.Call) (input, string, error) {
	in := input{Shell: "sh"}
	if err := json.Unmarshal(call.With, &in); err != nil {
		return in, "", fault.Wrap(fault.Invalid, err, "the inputs of shell are wrong").
			Remedy("see what it takes with: cairn capability show shell")
	}
	switch {
	case strings.TrimSpace(in.Run) == "":
		return in, "", fault.New(fault.Invalid, "there is no command to run").Remedy("give one in run")
	case strings.ContainsRune(in.Run, 0) || strings.ContainsRune(in.Shell, 0):
		return in, "", fault.New(fault.Invalid, "the command holds a NUL character, which no command line can carry")
	case in.Shell == "":
		in.Shell = "sh"
	}
	if in.Dir == "" {
		return in, call.Dir, nil
	}
	if !filepath.IsLocal(in.Dir) {
		return in, "", fault.New(fault.Invalid, "the directory %s is not in the project", in.Dir).
			Remedy("give dir as a path from the project's root, without ..")
	}
	root, err := os.OpenRoot(call.Dir)
	if err != nil {
		return in, "", fault.Wrap(fault.NotFound, err, "the working directory %s cannot be opened", call.Dir)
	}
	defer func() { _ = root.Close() }()
	if st, err := root.Stat(in.Dir); err != nil || !st.IsDir() {
		return in, "", fault.New(fault.NotFound, "there is no directory %s in %s", in.Dir, call.Dir).
			Remedy("create it in an earlier task; a link that leads out of the project is not followed")
	}
	return in, filepath.Join(call.Dir, in.Dir), nil
}

func environment(call capability.Call, file string) []string {
	return process.Env(call.Env,
		"CAIRN_PLAN="+call.Plan,
		"CAIRN_TASK="+call.Task,
		"CAIRN_EXECUTION="+strconv.Itoa(call.Execution),
		"CAIRN_ATTEMPT="+strconv.Itoa(call.Attempt),
		"CAIRN_KEY="+call.Key.String(),
		"CAIRN_OUTPUT="+file,
	)
}

func names(env []string) []string {
	all := make([]string, len(env))
	for i, e := range env {
		all[i], _, _ = strings.Cut(e, "=")
	}
	return all
}

func place(dir string) string {
	if dir == "" {
		return "."
	}
	return filepath.ToSlash(filepath.Clean(dir))
}

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
