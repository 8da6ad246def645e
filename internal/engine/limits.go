package engine

import "github.com/cairn-plan/cairn/internal/capability"

// limits are what the policy of the plan lets a task touch, around the root of the project.
func (r *Run) limits() capability.Limits {
	l := capability.Limits{Root: r.engine.Root, Home: r.engine.Home}
	p := r.State.Plan.Policy
	if p == nil {
		return l
	}
	l.Mode = capability.Mode(p.Sandbox)
	if a := p.Allow; a != nil {
		l.Read, l.Write, l.Hosts, l.Commands = a.Read, a.Write, a.Hosts, a.Commands
	}
	return l
}
