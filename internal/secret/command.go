package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
)

// grace is how long output is waited for after a command has ended: a child of it may hold the pipe.
const grace = 200 * time.Millisecond

// fromCommand takes a secret from what a program prints. The program sees the whole environment, as
// password managers need it, and no input. What it says about an error stays unseen: it may hold the
// secret, and it is not known yet what to hide.
func (s *Store) fromCommand(ctx context.Context, name string, source Source) (string, error) {
	timed, cancel := context.WithTimeout(ctx, source.limit())
	defer cancel()
	cmd := exec.CommandContext(timed, source.Command[0], source.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.opts.Dir, s.opts.Environ, grace
	out := limited{most: redact.Longest + 3}
	cmd.Stdout = &out
	inGroup(cmd)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		_ = cmd.Cancel() // a child still holds the pipe; only one that left the group survives this
		err = nil
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case timed.Err() != nil:
		return "", fault.New(fault.Failed, "secret %s: %s did not end within %v", name, source.describe(), source.limit()).
			Remedy("unlock what it asks, run it by hand to see why it waits, or set a longer timeout under secrets: %s", name)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.NotFound, "secret %s: the program %s is not installed", name, source.Command[0]).
			Remedy("install it, or set %s%s in the environment", Prefix, name)
	case err != nil:
		return "", fault.New(fault.Failed, "secret %s: %s %s", name, source.describe(), ending(err)).
			Remedy("run it by hand to see why; what it wrote is not shown here, since it may hold the secret")
	}
	return trimNewline(out.kept.String()), nil
}

// ending says how a command failed, without anything that it wrote.
func ending(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "could not be started: " + err.Error()
	}
	if code := exit.ExitCode(); code >= 0 {
		return fmt.Sprintf("ended with exit status %d", code)
	}
	return "was ended by a signal"
}

// limited keeps the first bytes that are written to it.
type limited struct {
	kept bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.kept.Write(p[:min(len(p), l.most-l.kept.Len())])
	return len(p), nil
}
