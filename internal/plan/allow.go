package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// confinement checks what the policy says of the sandbox, and the commands of tasks against what it allows.
func (c *checker) confinement(policy source.Node, p *Policy) {
	sub := func(n source.Node, key string) source.Node {
		if v, ok := n.Get(key); ok {
			return v
		}
		return n
	}
	switch {
	case p.Sandbox == "off":
		c.warn(sub(policy, "sandbox"), WarnSandbox, "leave it out, and name what tasks need in allow", "commands can read, write and reach whatever you can: the sandbox is off")
	case p.Sandbox != "" && !slices.Contains(sandboxes, p.Sandbox):
		c.notOneOf(sub(policy, "sandbox"), "sandbox", p.Sandbox, sandboxes)
	}
	if p.Allow == nil {
		return
	}
	n := sub(policy, "allow")
	for key, paths := range map[string][]string{"read": p.Allow.Read, "write": p.Allow.Write} {
		for i, path := range paths {
			if problem := badPath(path); problem != "" {
				c.fault(item(sub(n, key), i), CodeAllow, "write a path from the project root without .., one that begins with /, or with ~/", "allow.%s: %q %s", key, path, problem)
			}
		}
	}
	for i, host := range p.Allow.Hosts {
		if !validHost(host) {
			c.fault(item(sub(n, "hosts"), i), CodeAllow, "write host, *.domain, host:port or *", "allow.hosts: %q is no host", host)
		}
	}
	for i, name := range p.Allow.Commands {
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, " \t\n") {
			c.fault(item(sub(n, "commands"), i), CodeAllow, "name one program, without arguments", "allow.commands: %q is no program", name)
		}
	}
	if p.Allow.Commands != nil && c.programs != nil {
		for _, s := range c.scopes {
			c.file = s.file
			for i := range s.tasks {
				c.commands(s, i, p.Allow.Commands)
			}
		}
		c.file = c.scopes[0].file
	}
}

// commands refuses the programs of a command line that are visibly none of the allowed ones.
func (c *checker) commands(s *scope, i int, allowed []string) {
	t := &s.tasks[i]
	if t.Run == "" || t.Uses != "shell" {
		return
	}
	for _, name := range c.programs(t.Run) {
		if allows(allowed, name) {
			continue
		}
		c.fault(s.node(i, "run"), CodeCommand, "add it to policy.allow.commands, or do without", "command %s of %s is not allowed", name, t.ID)
	}
}

// allows reports whether a program may be one of the allowed ones: by its name, by its path, or in a folder.
func allows(allowed []string, program string) bool {
	base := program[strings.LastIndexByte(program, '/')+1:]
	return slices.ContainsFunc(allowed, func(a string) bool {
		dir := strings.TrimSuffix(strings.TrimPrefix(a, "./"), "/") + "/"
		return a == program || a == base || strings.HasPrefix(strings.TrimPrefix(program, "./"), dir)
	})
}

func badPath(path string) string {
	switch {
	case strings.TrimSpace(path) == "" || strings.ContainsRune(path, 0):
		return "is no path"
	case slices.Contains(strings.Split(path, "/"), ".."):
		return "goes up by .."
	case strings.HasPrefix(path, "~") && path != "~" && !strings.HasPrefix(path, "~/"):
		return "names somebody else's home folder"
	}
	return ""
}

func validHost(host string) bool {
	if host == "*" {
		return true
	}
	if at := strings.LastIndexByte(host, ':'); at >= 0 && (strings.Count(host, ":") == 1 || strings.Contains(host, "]:")) {
		if n, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil || n == 0 {
			return false
		}
		host = host[:at]
	}
	host = strings.TrimPrefix(host, "*.")
	return host != "" && !strings.ContainsAny(host, " \t\n/*@")
}

// keepEmpty makes lists that are there and empty differ from those that are not there.
func (a *Allow) keepEmpty(n source.Node) {
	for key, list := range map[string]*[]string{"read": &a.Read, "write": &a.Write, "hosts": &a.Hosts, "commands": &a.Commands} {
		if v, ok := n.Get(key); ok && v.Kind == source.List && *list == nil {
			*list = []string{}
		}
	}
}

// item is the i-th of a list, or the node itself where one stands for a list.
func item(n source.Node, i int) source.Node {
	if n.Kind == source.List && i < len(n.Items) {
		return n.Items[i]
	}
	return n
}
