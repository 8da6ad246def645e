package plan

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
)

// LabelRule says which data carries a label from the start, and what such data may reach.
type LabelRule struct {
	Inputs []string `json:"inputs,omitempty"` // of the plan
	Deny   []string `json:"deny,omitempty"`   // patterns of capabilities, providers and hosts
	Allow  []string `json:"allow,omitempty"`  // likewise; absent: all that is not denied
}

// Reach tells what the data of a call goes to: names of the capability and of who provides it, and hosts. A host that
// a reference will bring is empty; one that nobody can tell is Anywhere. The inputs may be nil.
type Reach func(uses string, with json.RawMessage) (names, hosts []string)

// Anywhere stands for the hosts of what may talk to any, such as a command.
const Anywhere = "*"

// Carried is a label on data, with where it got it.
type Carried struct {
	Label string
	From  string // task.output, or inputs.name
}

// Refusal is data that may not go where a task would send it.
type Refusal struct {
	Carried
	To   string // the capability, the provider or the host
	Rule string // what of the policy says so
}

// Why tells what forbids it.
func (r Refusal) Why() string {
	return "which may not have what is " + r.Label + ", as data of " + r.From + " is (" + r.Rule + ")"
}

// Remedy tells what can be done about it.
func (r Refusal) Remedy() string {
	return "send it elsewhere or change the rule; if it is not " + r.Label +
		" any more, the task that made it says so: outputs: {NAME: {declassify: [" + r.Label + "]}}"
}

// Refused finds data among what a task hands on that may not reach what it is handed to.
func (p *Policy) Refused(carried []Carried, uses string, with json.RawMessage, reach Reach) (Refusal, bool) {
	if p == nil || len(p.Labels) == 0 {
		return Refusal{}, false
	}
	for _, c := range carried {
		rule := p.Labels[c.Label]
		if rule == nil {
			continue
		}
		for _, s := range stops(uses, with, reach) {
			if to, pattern, no := rule.refuses(s); no {
				return Refusal{c, to, "policy.labels." + c.Label + ", " + pattern}, true
			}
		}
	}
	return Refusal{}, false
}

// stop is one place where the data of a call goes.
type stop struct{ names, hosts []string }

// stops are those of a call: one, or one for each call of a pipeline, whose hosts are only known when it runs.
func stops(uses string, with json.RawMessage, reach Reach) []stop {
	names, hosts := reach(uses, with)
	if uses != pipeline {
		return []stop{{names, hosts}}
	}
	var all []stop
	for _, id := range Parts(uses, with) {
		names, own := reach(id, nil)
		if len(own) > 0 {
			own = append(slices.Clone(hosts), Anywhere)
		}
		all = append(all, stop{names, own})
	}
	return all
}

// pipeline is the capability that is a chain of others.
const pipeline = "pipeline"

// Parts are the capabilities that a call is made of: its own, or those of a pipeline.
func Parts(uses string, with json.RawMessage) []string {
	if uses != pipeline {
		return []string{uses}
	}
	var in struct{ Run string }
	_ = json.Unmarshal(with, &in) // what is no chain has no parts
	chain, _ := expr.ParsePipeline(in.Run)
	return chain.Names()
}

// refuses names what may not have the data, and the part of the rule that says so.
func (r *LabelRule) refuses(s stop) (to, pattern string, no bool) {
	for _, name := range slices.Concat(s.names, s.hosts) {
		if p, hit := matches(r.Deny, name); hit {
			return name, "deny: " + p, true
		}
	}
	if len(r.Allow) == 0 {
		return "", "", false
	}
	for _, name := range s.names {
		if _, hit := matches(r.Allow, name); hit {
			return "", "", false
		}
	}
	only := "allow: " + strings.Join(r.Allow, ", ")
	for _, host := range s.hosts {
		if _, hit := matches(r.Allow, host); !hit && host != "" {
			if host == Anywhere {
				host = s.names[0]
			}
			return host, only, true
		}
	}
	return s.names[0], only, len(s.hosts) == 0
}

// matches finds the first pattern that a name fits. A star stands for any characters.
func matches(patterns []string, name string) (string, bool) {
	for _, p := range patterns {
		if ok, err := path.Match(flat(p), flat(name)); ok && err == nil && name != "" {
			return p, true
		}
	}
	return "", false
}

// flat makes of a name one in which a star passes over slashes; the case of letters does not matter to hosts.
func flat(s string) string { return strings.ToLower(strings.ReplaceAll(s, "/", "\x00")) }

// known are the labels of a list that the policy speaks of; all others are words to find things by.
func (p *Policy) known(labels []string) []string {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return p.Labels[l] == nil })
}

// labelNames lists the labels that the policy speaks of.
func (p *Policy) labelNames() []string {
	if p == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.Labels))
}
