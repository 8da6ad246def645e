// Package git performs the capabilities git.* with the git program, on the repository that holds a
// task's directory, and opens pull requests at a forge.
//
// The repository belongs to a person. A call changes the one branch that it names and nothing else: what
// it needs to try out it tries in an index, an object store or a work tree of its own, which go with it.
// No hook runs, nobody is asked for a password, and of the user's own configuration nothing counts but
// what the repository itself says; the identity only when a call asks for it.
//
// A commit carries the effect key of its attempt, so a second try finds the first. A push and a pull request
// are found again at the other side. A call that fails leaves the repository as it found it.
package git

import (
	"bytes"
	"context"
	"encoding/json"
	nethttp "net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

const (
	inline    = 4 << 10  // what is longer is stored as an artifact
	maxOutput = 16 << 20 // of one git command
)

// All lists the capabilities of this package. A nil transport is the usual network; only forges are
// asked through it, git itself finds its own way.
func All(transport nethttp.RoundTripper) []capability.Entry {
	return []capability.Entry{
		{Contract: StatusContract(), Runner: capability.RunnerFunc(Status)},
		{Contract: DiffContract(), Runner: capability.RunnerFunc(Diff)},
		{Contract: CommitContract(), Runner: Commit{}},
		{Contract: BranchContract(), Runner: Branch{}},
		{Contract: BisectContract(), Runner: capability.RunnerFunc(Bisect)},
		{Contract: PushContract(), Runner: Push{}},
		{Contract: PullTextContract(), Runner: capability.RunnerFunc(PullText)},
		{Contract: PullOpenContract(), Runner: NewPullOpen(transport)},
	}
}

func builtin(id, summary string) capability.Contract {
	return capability.Contract{ID: id, Version: "1.0.0", Summary: summary, CostTier: 1, Criticality: "safe", Provider: "builtin"}
}

// decode reads the inputs of a call.
func decode(call capability.Call, id string, in any) error {
	if err := json.Unmarshal(call.With, in); err != nil {
		return fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", id).
			Remedy("see what it takes with: cairn capability show %s", id)
	}
	return nil
}

// repo is the repository around a task's directory.
type repo struct {
	host capability.Host
	dir  string   // the task's
	env  []string // of every git command
	top  string   // root of the work tree
	git  string   // absolute git dir, of this work tree
}

// open finds the repository of a call.
func open(ctx context.Context, call capability.Call) (repo, error) {
	r := repo{host: call.Host, dir: call.Dir, env: environment(call.Env)}
	if r.host == nil {
		r.host = nobody{}
	}
	if ctx.Err() != nil {
		return r, fault.Wrap(fault.Interrupted, context.Cause(ctx), "git was stopped")
	}
	if _, ok := process.Find("git", r.dir, r.env); !ok {
		return r, fault.New(fault.NotFound, "git is not installed").
			Remedy("install it (Debian: apt-get install git), or add its folder to PATH")
	}
	out, err := r.ask(ctx, "rev-parse", "--absolute-git-dir", "--show-toplevel")
	if err != nil {
		return r, err
	}
	r.git, r.top, _ = strings.Cut(out, "\n")
	r.git, r.top = filepath.FromSlash(r.git), filepath.FromSlash(r.top)
	return r, nil
}

// settings hold for every command: nothing of the user's runs, and output is for programs.
var settings = []string{
	"core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false",
	"core.quotePath=false",
	"color.ui=false",
	"commit.gpgSign=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"protocol.ext.allow=never",
	"advice.detachedHead=false",
}

// environment is what git is given. It runs unconfined, with the person's own keys, so of what a plan declares only that
// counts which cannot lead it to another repository or to another program: who commits, when, whose settings name them, and by which proxy.
func environment(declared map[string]string) []string {
	kept := map[string]string{}
	for name, v := range declared {
		switch {
		case strings.HasPrefix(name, "GIT_AUTHOR_"), strings.HasPrefix(name, "GIT_COMMITTER_"), name == "TZ", name == "HOME",
			slices.Contains([]string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"}, strings.ToLower(name)):
			kept[name] = v
		}
	}
	return process.Env(kept,
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes",
		"GIT_EDITOR=:", "GIT_PAGER=cat",
		"GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
	)
}

// with adds variables to the environment of what is run from here on.
func (r repo) with(vars ...string) repo {
	r.env = append(r.env[:len(r.env):len(r.env)], vars...)
	return r
}

// in is the same repository from another directory.
func (r repo) in(dir string) repo {
	r.dir = dir
	return r
}

// answer is what a git command gave.
type answer struct {
	out  []byte
	left int64 // bytes of out that the cap kept back
	err  string
	exit int
}

// run runs a git command, whatever its exit status. Its process is not put on record: it is short, and the
// supervisor ends it should the engine die.
func (r repo) run(ctx context.Context, stdin string, args ...string) (answer, error) {
	return r.runFor(ctx, quiet{r.host}, stdin, args...)
}

// runFor runs a git command on behalf of a host.
func (r repo) runFor(ctx context.Context, host capability.Host, stdin string, args ...string) (answer, error) {
	argv := []string{"git"}
	for _, s := range settings {
		argv = append(argv, "-c", s)
	}
	var out bytes.Buffer
	spec := process.Spec{Argv: append(argv, args...), Dir: r.dir, Env: r.env, Stdout: &out, MaxOutput: maxOutput}
	if stdin != "" {
		spec.Stdin = strings.NewReader(stdin)
	}
	o, err := process.Run(ctx, host, spec)
	if err != nil {
		return answer{}, stopped(ctx, args[0], err)
	}
	return answer{out: out.Bytes(), left: o.StdoutBytes - int64(out.Len()), err: clean(string(o.Stderr)), exit: o.Exit}, nil
}

// ask runs a git command that must succeed, and gives what it printed without the last line end.
func (r repo) ask(ctx context.Context, args ...string) (string, error) {
	return r.tell(ctx, "", args...)
}

// tell is ask with something to read for the command.
func (r repo) tell(ctx context.Context, stdin string, args ...string) (string, error) {
	a, err := r.run(ctx, stdin, args...)
	if err != nil {
		return "", err
	}
	if a.exit != 0 {
		return "", r.explain(args[0], a)
	}
	return strings.TrimRight(string(a.out), "\r\n"), nil
}

// quiet passes signs of life on, and keeps short commands off the record.
type quiet struct{ capability.Host }

func (quiet) Spawned(capability.Process) error { return nil }

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // text, numbers and lists of them are always JSON
	}
	return raw
}
