//go:build unix

package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "do-not-leak")
	t.Setenv("TZ", "")
	t.Setenv("LC_TIME", "de_DE")
	env := Env(map[string]string{"COLOR": "red", "TERM": "vt100"}, "EXTRA=1=2", "COLOR=blue")
	o := run(t, Spec{Argv: []string{"env"}, Env: env, Dir: "/"})
	var names []string
	for line := range strings.Lines(string(o.Stdout)) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	allowed := []string{"COLOR", "EXTRA", "HOME", "LANG", "LC_ALL", "PATH", "PWD", "TERM", "TMPDIR", "USER",
		"OLDPWD", "SHLVL", "_"} // what a shell adds on its own
	for _, n := range names {
		if !slices.Contains(allowed, n) {
			t.Errorf("%s leaked", n)
		}
	}
	for name, want := range map[string]string{"COLOR": "blue", "EXTRA": "1=2", "TERM": "vt100", "LC_ALL": "C.UTF-8", "PATH": os.Getenv("PATH")} {
		if got := Value(env, name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if !slices.IsSorted(env) {
		t.Errorf("not sorted: %q", env)
	}
	t.Setenv("TZ", "UTC")
	if Value(Env(nil), "TZ") != "UTC" || Value(Env(nil), "NONE") != "" {
		t.Error("TZ is set, so it is passed on")
	}
	t.Setenv("PATH", "")
	if Value(Env(nil), "PATH") != defaultPath {
		t.Error("no default for PATH")
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "text": 0o644, "-odd": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho ran\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, path string
		found      bool
	}{
		{"tool", dir, true}, {"tool", "/nowhere:.", true}, {"tool", "/nowhere", false}, {"text", dir, false},
		{"./tool", "", true}, {"./text", "", false}, {dir + "/tool", "", true}, {dir, "", false},
	} {
		path, ok := Find(c.name, dir, []string{"PATH=/wrong", "PATH=" + c.path})
		if ok != c.found || ok && path != filepath.Join(dir, "tool") {
			t.Errorf("%s on %s: %s, %v", c.name, c.path, path, ok)
		}
	}
	p := Spec{Argv: []string{"-odd"}, Env: Env(map[string]string{"PATH": dir + ":/usr/bin:/bin"})}
	if o := run(t, p); string(o.Stdout) != "ran\n" {
		t.Errorf("a name like an option: %q %q", o.Stdout, o.Stderr)
	}
}
