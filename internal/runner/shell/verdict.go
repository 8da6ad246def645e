package shell

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

// longest is how much of a last line goes into a message.
const longest = 300

// verdict says in one line why a command did not succeed: it failed by itself, a signal ended it, its
// time was over, or it was called off. Each wants something else done about it.
func verdict(ctx context.Context, o process.Outcome, err error) error {
	said := ""
	if line := lastLine(o.Stderr); line != "" {
		said = ": " + line
	}
	took := o.Duration.Round(time.Millisecond)
	cause := context.Cause(ctx)
	cut := err != nil && cause != nil && errors.Is(err, cause)
	switch {
	case cut && (errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(cause, context.DeadlineExceeded)):
		return fault.Wrap(fault.Failed, cause, "the command was ended after %s because its time was over%s", took, said).
			Remedy("raise timeout, or find out what it waits for")
	case cut && fault.Is(cause, fault.Failed): // a watchdog's word, which is the task's own failure
		return fault.Wrap(fault.Failed, cause, "the command was stopped after %s%s", took, said)
	case cut:
		return fault.Wrap(fault.Interrupted, cause, "the command was stopped after %s%s", took, said)
	case err != nil:
		return err
	case o.Signal == "SIGKILL":
		return fault.New(fault.Failed, "the command was killed by SIGKILL after %s%s", took, said).
			Remedy("nothing here killed it; the system does when memory runs out: see dmesg")
	case o.Signal != "":
		return fault.New(fault.Failed, "the command was ended by the signal %s after %s%s", o.Signal, took, said)
	case o.Exit != 0:
		return fault.New(fault.Failed, "the command ended with exit status %d%s", o.Exit, said).Remedy("%s", meaning(o.Exit))
	}
	return nil
}

func meaning(exit int) string {
	switch exit {
	case 126:
		return "126 says that a program is not executable: chmod +x it, or check its first line"
	case 127:
		return "127 says that a program was not found: install it, or add its directory to PATH in env"
	}
	return "" // what it printed tells more than we could
}

// lastLine is the last line that says anything.
func lastLine(b []byte) string {
	s := strings.TrimSpace(text(b))
	s = strings.TrimSpace(s[strings.LastIndexAny(s, "\r\n")+1:])
	if len(s) <= longest {
		return s
	}
	s = s[:longest]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "..."
}
