package manifest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

const (
	maxPrinted  = 16 << 20
	maxVariable = 32 << 10 // a longer input is on standard input only: systems bound what a variable holds
)

// local performs a capability by a process.
type local struct {
	script  script
	env     map[string]string
	secrets []string
	needs   capability.Needs
	home    string // the folder of the manifest
	gives   giving
}

// probed is a local that can find out whether it took effect.
type probed struct {
	*local
	probe script
}

var (
	_ capability.Runner = (*local)(nil)
	_ capability.Prober = (*probed)(nil)
)

// Run implements capability.Runner.
func (l *local) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	o, printed, res, err := l.start(ctx, call, l.script)
	if err != nil {
		return res, err
	}
	if o.Exit != 0 {
		return res, failed(o)
	}
	if err := l.gives.put(ctx, call, &res, l.gives.read(printed, "stdout")); err != nil {
		return res, err
	}
	err = want(ctx, call, &res, printed)
	return res, err
}

// Probe implements capability.Prober: 0 says that the effect took place, and what is printed are the
// outputs; 1 says that it did not.
func (p *probed) Probe(ctx context.Context, call capability.Call) (capability.Result, bool, error) {
	o, printed, res, err := p.start(ctx, call, p.probe)
	switch {
	case err != nil:
		return res, false, err
	case o.Exit == 0:
		err := p.gives.put(ctx, call, &res, p.gives.read(printed, "stdout"))
		return res, true, err
	case o.Exit == 1 && o.Signal == "":
		return res, false, nil
	}
	return res, false, fault.Wrap(fault.Failed, failed(o), "the probe cannot tell").Remedy("find out by hand whether it took effect")
}

// start runs a script to its end.
func (l *local) start(ctx context.Context, call capability.Call, s script) (process.Outcome, []byte, capability.Result, error) {
	var res capability.Result
	values, err := newScope(ctx, call, l.secrets)
	if err != nil {
		return process.Outcome{}, nil, res, err
	}
	argv, err := s.argv(l.home, values)
	if err != nil {
		return process.Outcome{}, nil, res, err
	}
	env, err := l.environment(call, values)
	if err != nil {
		return process.Outcome{}, nil, res, err
	}
	var printed bytes.Buffer
	spec := process.Spec{Argv: argv, Dir: call.Dir, Env: env, Stdin: bytes.NewReader(call.With), Stdout: &printed, MaxOutput: maxPrinted}
	if err := spec.Limit(l.limits(call)); err != nil {
		return process.Outcome{}, nil, res, err
	}
	o, err := process.Run(ctx, call.Host, spec)
	if o.Process.PID == 0 {
		return o, nil, res, err // it never ran
	}
	process.Note(&res, call.Limits, o)
	o.Stdout, o.Stderr = values.redact(o.Stdout), values.redact(o.Stderr)
	res.Exit, res.Stdout, res.Stderr, res.Dir = &o.Exit, clean(o.Stdout), clean(o.Stderr), "."
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		res.EnvNames = append(res.EnvNames, name)
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, context.DeadlineExceeded) {
		return o, nil, res, fault.Wrap(fault.Failed, cause, "it was ended after %s because its time was over", o.Duration.Round(time.Millisecond)).
			Remedy("raise timeout, or find out what it waits for")
	}
	if err == nil && o.StdoutBytes > maxPrinted {
		err = fault.New(fault.Failed, "it printed %d bytes, at most %d are outputs", o.StdoutBytes, maxPrinted).Remedy("have it write a file instead")
	}
	return o, values.redact(printed.Bytes()), res, err
}

// limits are those of the call, narrowed to what the capability needs. What is beside the manifest can be read.
func (l *local) limits(call capability.Call) capability.Limits {
	limits := call.Limits
	if limits.Root == "" {
		limits.Root = call.Dir
	}
	if beside, err := filepath.Abs(l.home); err == nil {
		limits.Read = append(slices.Clip(limits.Read), beside)
	}
	switch {
	case !l.needs.Network:
		limits.Hosts = nil
	case limits.Hosts == nil:
		limits.Hosts = []string{"*"}
	}
	if !l.needs.Write {
		limits.Write = []string{}
	}
	return limits
}

// argv is the command line. An argument may hold ${inputs.NAME}, and stays one argument; in a text
// for the shell the value is quoted. A program that begins with ./ is beside the manifest.
func (s script) argv(home string, values scope) ([]string, error) {
	if s.Run != "" {
		run, err := expr.Text(s.Run, false, values.input)
		return []string{"sh", "-c", run}, err
	}
	argv := make([]string, len(s.Command))
	for i, arg := range s.Command {
		v, err := fill(arg, values.input)
		if err != nil {
			return nil, err
		}
		argv[i] = v
	}
	if rest, ok := strings.CutPrefix(argv[0], "./"); ok {
		beside, err := filepath.Abs(filepath.Join(home, rest))
		if err != nil {
			return nil, fault.Wrap(fault.Failed, err, "%s cannot be found", argv[0])
		}
		argv[0] = beside
	}
	return argv, nil
}

func (l *local) environment(call capability.Call, values scope) ([]string, error) {
	declared := map[string]string{}
	for name, v := range l.env {
		text, err := fill(v, values.any)
		if err != nil {
			return nil, err
		}
		declared[name] = text
	}
	maps.Copy(declared, call.Env)
	maps.Copy(declared, values.secrets)
	extra := []string{
		"CAIRN_PLAN=" + call.Plan, "CAIRN_TASK=" + call.Task, "CAIRN_EXECUTION=" + strconv.Itoa(call.Execution),
		"CAIRN_ATTEMPT=" + strconv.Itoa(call.Attempt), "CAIRN_KEY=" + call.Key.String(),
	}
	for name, v := range values.inputs {
		text, err := expr.Plain(v)
		if err != nil {
			return nil, err
		}
		if len(text) <= maxVariable && !strings.ContainsRune(text, 0) {
			extra = append(extra, variable(name)+"="+text)
		}
	}
	return process.Env(declared, extra...), nil
}

// variable is the name of the variable that holds an input.
func variable(name string) string {
	return "CAIRN_INPUT_" + strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, name)
}

func failed(o process.Outcome) error {
	lines := strings.Split(strings.TrimSpace(clean(o.Stderr)), "\n")
	said := strings.TrimSpace(lines[len(lines)-1])
	if said != "" {
		said = ": " + said[:min(len(said), 300)]
	}
	if o.Signal != "" {
		return fault.New(fault.Failed, "it was ended by the signal %s%s", o.Signal, said)
	}
	return fault.New(fault.Failed, "it ended with exit status %d%s", o.Exit, said).Remedy("read what it printed; try it alone with: cairn capability test")
}

func clean(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
