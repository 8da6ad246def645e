//go:build unix

package process

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// inherited are the variables that come from the engine's environment when they are set there.
var inherited = []string{"PATH", "HOME", "USER", "TMPDIR", "TZ"}

// Find looks a program up as a child with this environment and directory would: on its PATH, or as
// a path from dir.
func Find(name, dir string, env []string) (string, bool) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for _, d := range filepath.SplitList(Value(env, "PATH")) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if path := filepath.Join(d, name); executable(path) {
			return path, true
		}
	}
	return "", false
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// program is what the gate executes. A name stays a name, as programs show it in their messages.
func program(p Spec) ([]string, error) {
	name := p.Argv[0]
	path, ok := Find(name, p.Dir, p.Env)
	if !ok {
		f := fault.New(fault.NotFound, "there is no program %s", name)
		if strings.Contains(name, "/") {
			return nil, f.Remedy("check that the file is there and executable: ls -l %s", path)
		}
		return nil, f.Remedy("install it, or give its full path; PATH is %s", Value(p.Env, "PATH"))
	}
	if name[0] == '-' {
		return append([]string{path}, p.Argv[1:]...), nil
	}
	return p.Argv, nil
}

func identifier(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
