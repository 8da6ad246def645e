package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// shells carry out what a plan says: what they may start is what counts.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh"}

// loaders start every program that is not linked statically.
var loaders = []string{"/lib64/ld-*", "/lib/ld-*", "/lib/*-linux-gnu*/ld-*", "/usr/lib64/ld-*", "/libx32/ld-*"}

// companions are what some programs start by themselves, from where they are installed.
var companions = map[string][]string{
	"go":  {"../pkg/tool", "../bin"},
	"git": {"../lib/git-core", "../libexec/git-core"},
	"gcc": {"../lib/gcc", "../libexec/gcc", "as", "ld", "x86_64-linux-gnu-as", "x86_64-linux-gnu-ld", "aarch64-linux-gnu-as", "aarch64-linux-gnu-ld"},
}

// commands limits what a child may execute. A loader that is called by name runs anything that can be read, and so does
// an interpreter: this keeps a task to its tools, it is no wall. The walls are around files and networks.
func (p *Policy) commands(l capability.Limits, c Child) error {
	if l.Commands == nil {
		return nil
	}
	self, err := c.permitted(l)
	if err != nil {
		return err
	}
	p.Exec = []string{"/bin/sh", self}
	for _, pattern := range loaders {
		found, _ := filepath.Glob(pattern)
		p.Exec = append(p.Exec, found...)
	}
	for _, name := range l.Commands {
		path := c.find(l, name)
		if path == "" {
			continue
		}
		p.Exec = append(p.Exec, path)
		at, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		p.Exec = append(p.Exec, c.interpreters(l, at)...)
		for _, beside := range companions[filepath.Base(path)] {
			p.Exec = append(p.Exec, filepath.Join(filepath.Dir(at), beside))
		}
		p.ExecTmp = p.ExecTmp || filepath.Base(path) == "go" // which builds tests there, and runs them
	}
	return nil
}

// permitted finds the program of the child itself, which must be a shell of the system or be listed.
func (c Child) permitted(l capability.Limits) (string, error) {
	path := c.find(l, c.Program)
	shell := slices.Contains(shells, filepath.Base(c.Program)) && !under(resolved(path), l.Root)
	listed := slices.ContainsFunc(l.Commands, func(name string) bool {
		at := c.find(l, name)
		return name == c.Program || at != "" && under(path, strings.TrimSuffix(at, "/"))
	})
	if !shell && !listed {
		return "", NotAllowed(c.Program)
	}
	return path, nil
}

// NotAllowed tells that a command is not among those of the policy.
func NotAllowed(name string) error {
	return fault.New(fault.Denied, "command %s is not allowed by policy.allow.commands", name).
		Remedy("if it is to be run, add it: policy: {allow: {commands: [..., %s]}}", name)
}

// find looks up a name as the child would, or a path from the workspace; empty when nothing is there.
func (c Child) find(l capability.Limits, name string) string {
	if strings.ContainsAny(name, "/~") {
		return place(l, strings.TrimSuffix(name, "/"))
	}
	for _, dir := range c.Path {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Dir, dir)
		}
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// interpreters are the programs that run a script: that of its first line, and the one that env looks up.
func (c Child) interpreters(l capability.Limits, script string) []string {
	f, err := os.Open(script)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !ok || len(words) == 0 {
		return nil
	}
	all := []string{words[0]}
	if filepath.Base(words[0]) == "env" && len(words) > 1 {
		if path := c.find(l, words[len(words)-1]); path != "" {
			all = append(all, path)
		}
	}
	return all
}
