package cli

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// homeName is the folder that makes another folder a project, beside configName and .git.
const homeName = ".cairn"

// place is where a command works and under which settings: cairn.yaml, then CAIRN_*, then flags.
type place struct {
	root    string // the project; tasks run here
	home    string
	actor   string // person:NAME
	workers int    // 0: as the plan says
	secrets map[string]Secret
	roles   map[string][]string
	trust   bool
	policy  *plan.Policy
	notify  Notify
	models  map[string]Model
	replay  string // a home whose recordings answer in the place of models
}

// site is what main needs to know of a place.
func (p place) site() Site {
	return Site{Home: p.home, Root: p.root, Secrets: p.secrets, Policies: p.policies, roles: p.roles, trust: p.trust,
		Notify: p.notify, Review: p.review(), Models: p.models, Replay: p.replay}
}

// locate finds the project upwards from dir and reads its settings.
func locate(dir, homeFlag, as string, env func(string) string) (place, error) {
	root := projectRoot(dir)
	c, err := readConfig(filepath.Join(root, configName))
	if err != nil {
		return place{}, err
	}
	p := place{root: root, home: filepath.Join(root, homeName), workers: c.workers, secrets: c.secrets,
		roles: c.roles, trust: c.as == asTrusted, policy: c.policy, notify: c.notify, models: c.models}
	if c.home != "" {
		p.home = under(root, c.home)
	}
	if h := cmp.Or(homeFlag, env("CAIRN_HOME")); h != "" {
		p.home = under(dir, h)
	}
	if from := env("CAIRN_REPLAY"); from != "" {
		p.replay = under(dir, from)
	}
	if w := env("CAIRN_WORKERS"); w != "" {
		if p.workers, err = strconv.Atoi(w); err != nil || p.workers < 1 {
			return place{}, fault.New(fault.Invalid, "CAIRN_WORKERS is %q, which is no number above 0", w).Remedy("set it to a number such as 4, or unset it")
		}
	}
	p.actor, err = identify(c, cmp.Or(env("CAIRN_ACTOR"), c.actor), as, osUser(env))
	return p, err
}

// projectRoot is the nearest folder upwards that holds a home, a cairn.yaml or a repository; else dir itself.
func projectRoot(dir string) string {
	for at := dir; ; {
		for _, mark := range []string{homeName, configName, ".git"} {
			if _, err := os.Stat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// person is how the journal names somebody: kind and name. Whoever says no kind is a person.
func person(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return "person:" + name
}

func osUser(env func(string) string) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		name := u.Username
		if runtime.GOOS == "windows" { // DOMAIN\name
			name = name[strings.LastIndex(name, `\`)+1:]
		}
		return name
	}
	return cmp.Or(env("USER"), env("USERNAME"), "unknown")
}
