package process

import (
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// Note adds to a result what its process was not protected by, so that it is on record.
func Note(r *capability.Result, l capability.Limits, o Outcome) {
	says := "off, by policy"
	if l.Mode != capability.Off || l.Trial {
		if len(o.Unprotected) == 0 {
			return
		}
		says = "lacking: " + strings.Join(o.Unprotected, "; ")
	}
	if r.Versions == nil {
		r.Versions = map[string]string{}
	}
	r.Versions["sandbox"] = says
}

// Limit keeps a child to the limits of the call that it is for. Every runner that starts what a plan names does it
// by this; the directory, the environment and the program have been set.
func (p *Spec) Limit(l capability.Limits) error {
	if l.Mode == capability.Off && !l.Trial {
		return nil
	}
	policy, env, err := sandbox.Of(l, sandbox.Child{Program: p.Argv[0], Dir: p.Dir, Path: filepath.SplitList(Value(p.Env, "PATH"))})
	if err != nil {
		return err
	}
	for name, v := range env {
		if Value(p.Env, name) == "" {
			p.Env = append(p.Env, name+"="+v)
		}
	}
	p.Confine = &policy
	return nil
}
