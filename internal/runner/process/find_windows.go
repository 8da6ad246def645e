package process

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

const defaultPath = `C:\Windows\System32;C:\Windows`

// inherited are the variables that come from the engine's environment when they are set there: on
// Windows a program hardly starts without the system's own.
var inherited = []string{"PATH", "HOME", "USERNAME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "TZ",
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "ProgramData"}

// Find looks a program up on the PATH of env, or as a path from dir.
func Find(name, dir string, env []string) (string, bool) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		path, err := exec.LookPath(name)
		return path, err == nil
	}
	for _, d := range filepath.SplitList(Value(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

func program(p Spec) ([]string, error) {
	path, ok := Find(p.Argv[0], p.Dir, p.Env)
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no program %s", p.Argv[0]).
			Remedy("install it, or give its full path; PATH is %s", Value(p.Env, "PATH"))
	}
	return append([]string{path}, p.Argv[1:]...), nil
}
