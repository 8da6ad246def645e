package shell

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/runner/process"
)

// versions remembers what is known of shells, by path: asking one costs a process.
type versions struct {
	known sync.Map // string to string
}

// of tells which shell runs a command and, when the command begins with a plain word, which program
// that is. The program is not asked for its version: nobody knows what it would do.
func (v *versions) of(in input, spec process.Spec, root string) map[string]string {
	found := map[string]string{}
	if path, ok := process.Find(in.Shell, spec.Dir, spec.Env); ok {
		found[filepath.Base(in.Shell)] = v.shell(path, root)
	}
	word := firstWord(in.Run)
	if path, ok := process.Find(word, spec.Dir, spec.Env); word != "" && ok {
		found[filepath.Base(word)] = path
	}
	return found
}

// speaks lists shells that answer --version and do nothing else then.
var speaks = []string{"bash", "zsh", "fish", "ksh93"}

var number = regexp.MustCompile(`\d+(\.\d+)+\S*`)

// shell is the real path of a shell, and its version when it has one. One of the workspace is not asked: a task may have
// made it, and it would not be confined.
func (v *versions) shell(path, root string) string {
	if s, ok := v.known.Load(path); ok {
		return s.(string)
	}
	said := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		said = target
	}
	if slices.Contains(speaks, filepath.Base(said)) && installed(said, root) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, said, "--version")
		cmd.Env = process.Env(nil)
		if out, err := cmd.CombinedOutput(); err == nil {
			said = strings.TrimSpace(said + " " + number.FindString(string(out)))
		}
	}
	v.known.Store(path, said)
	return said
}

// installed reports whether a program is the system's.
func installed(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return (root == "" || err != nil || strings.HasPrefix(rel, "..")) && slices.ContainsFunc([]string{"/bin/", "/usr/", "/opt/", "/nix/"},
		func(dir string) bool { return strings.HasPrefix(path, dir) })
}

// builtins are words that a shell keeps to itself although programs of that name may be installed.
var builtins = []string{"alias", "bg", "break", "case", "cd", "command", "continue", "echo", "eval", "exec", "exit",
	"export", "false", "fg", "for", "getopts", "hash", "if", "jobs", "kill", "local", "printf", "pwd", "read",
	"readonly", "return", "set", "shift", "test", "time", "times", "trap", "true", "type", "ulimit", "umask",
	"unset", "until", "wait", "while", "[", "{", "!", ":", "."}

// firstWord is the program that a command line begins with, past assignments; empty when only a
// shell could tell.
func firstWord(run string) string {
	for {
		run = strings.TrimLeft(run, " \t\r\n")
		end := strings.IndexAny(run, " \t\r\n;|&()<>")
		word := run
		if end >= 0 {
			word = run[:end]
		}
		switch {
		case word == "" || strings.ContainsAny(word, "'\"`$\\*?[#~{}!") || slices.Contains(builtins, word):
			return ""
		case !strings.Contains(word, "="):
			return word
		case end < 0:
			return ""
		}
		run = run[end:]
	}
}
