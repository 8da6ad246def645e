package shell

import (
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// notExecuted is how shells, and env, tell of a program that the system would not start.
var notExecuted = regexp.MustCompile(`(?m)([^\s:'‘’"]+)['’"]?: (?:Permission denied|cannot execute)`)

// refusals are the words in which programs tell what the sandbox is the likeliest cause of, and what to allow.
var refusals = []struct{ says, allow string }{
	{"Read-only file system", "write"},
	{"Permission denied", "read or policy.allow.write"},
	{"permission denied", "read or policy.allow.write"},
	{"Operation not permitted", "read or policy.allow.write"},
	{"Network is unreachable", "hosts"},
	{"network is unreachable", "hosts"},
	{"Could not resolve host", "hosts"},
	{"name resolution", "hosts"},
	{"Name or service not known", "hosts"},
	{"no such host", "hosts"},
	{"server misbehaving", "hosts"},
}

// confined adds to the failure of a confined command what its limits may have to do with it.
func confined(failure error, o process.Outcome, l capability.Limits) error {
	said := text(o.Stderr)
	code := fault.CodeOf(failure)
	if o.Limit != "" {
		return fault.New(fault.Failed, "the command was ended because %s", o.Limit).Remedy("make it need less, or split the task")
	}
	if m := notExecuted.FindStringSubmatch(said); m != nil && l.Commands != nil && o.Exit == 126 {
		return sandbox.NotAllowed(m[1])
	}
	if code != fault.Failed || o.Exit == 0 || o.Exit == 126 {
		return failure
	}
	for _, r := range refusals {
		if strings.Contains(said, r.says) {
			return fault.New(code, "%s", failure).
				Remedy("tasks are confined: if it is to touch what it was refused, name that in policy.allow.%s", r.allow)
		}
	}
	return failure
}
