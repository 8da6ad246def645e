package process

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Env builds the environment of a child from nothing: what a program cannot do without, what was
// declared, and extra entries of the form NAME=value, each overriding what came before. It is
// sorted. Nothing else of the engine's environment, which may hold secrets, gets through.
func Env(declared map[string]string, extra ...string) []string {
	vars := map[string]string{
		"PATH":   defaultPath,
		"TMPDIR": os.TempDir(),
		"LANG":   "C.UTF-8",
		"LC_ALL": "C.UTF-8",
		"TERM":   "dumb",
	}
	if home, err := os.UserHomeDir(); err == nil {
		vars["HOME"] = home
	}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok && v != "" {
			vars[name] = v
		}
	}
	maps.Copy(vars, declared)
	for _, e := range extra {
		if name, v, ok := strings.Cut(e, "="); ok {
			vars[name] = v
		}
	}
	env := make([]string, 0, len(vars))
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

// Value finds a variable in an environment; as for a program, the last of several counts.
func Value(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if n, v, ok := strings.Cut(e, "="); ok && n == name {
			return v
		}
	}
	return ""
}
