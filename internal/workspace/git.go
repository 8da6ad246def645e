package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// git runs the program on one repository, which its environment names: nothing is discovered from the folder in which
// it runs, so what a task does to a `.git` there cannot lead it astray.
type git struct {
	program string
	dir     string   // where it runs
	env     []string // all of its environment
	lock    *os.File // held by the children too, so that a lock outlives us until the last of them has ended
}

// findGit makes a git that knows no repository yet. Variables of a git that may have started us are dropped.
func findGit(opts Options) (git, error) {
	name := opts.Git
	if name == "" {
		name = "git"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return git{}, fault.Wrap(fault.NotFound, err, "the git program is missing, and a workspace needs it").
			Remedy("install git (Debian: apt install git) and see that it is in PATH, or say `writes: false` for every task")
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANGUAGE=")
	})
	return git{program: program, env: append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:")}, nil
}

// with adds environment variables.
func (g git) with(env ...string) git {
	g.env = append(slices.Clip(g.env), env...)
	return g
}

// on names the repository: its git dir, its work tree and its index.
func (g git) on(gitDir, tree, index string) git {
	g.dir = tree
	return g.with("GIT_DIR="+gitDir, "GIT_WORK_TREE="+tree, "GIT_INDEX_FILE="+index)
}

// configured overrides settings, given in pairs, for this git and all that it starts.
func (g git) configured(pairs ...string) git {
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(pairs)/2)}
	for i := 0; i+1 < len(pairs); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, pairs[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, pairs[i+1]))
	}
	return g.with(env...)
}

// wholeIndex is for an index that does not stay: a split one would leave its other half in the git dir.
func wholeIndex(settings []string) []string {
	return append(slices.Clip(settings), "core.splitIndex", "false")
}

// run executes one git command and gives what it printed.
func (g git) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, bytes.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	// Asked to stop, git removes its lock files; killed, it leaves them behind.
	cmd.Cancel = func() error { return stop(cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	adopt(cmd, g.lock)
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.Interrupted, ctx.Err(), "git %s was stopped", args[0])
	}
	failure := &gitError{command: args[0], exit: -1, text: strings.TrimSpace(complaint.String()), cause: err}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		failure.exit = exit.ExitCode()
	}
	return out.Bytes(), explain(failure)
}

// line runs a command that answers in one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// path is where the repository has one of its own files.
func (g git) path(ctx context.Context, name string) (string, error) {
	found, err := g.line(ctx, "rev-parse", "--git-path", name)
	if err == nil && !filepath.IsAbs(found) {
		found = filepath.Join(g.dir, found)
	}
	return found, err
}

func stop(p *os.Process) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return p.Kill()
	}
	return nil
}

// gitError is what git said when it failed.
type gitError struct {
	command string
	exit    int
	text    string
	cause   error
}

func (e *gitError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("git %s: %v", e.command, e.cause)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.text)
}

func (e *gitError) Unwrap() error { return e.cause }

// failedWith reports whether err is git's own answer with that exit status.
func failedWith(err error, exit int) bool {
	var e *gitError
	return errors.As(err, &e) && e.exit == exit
}

// list splits what was printed with -z.
func list(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
