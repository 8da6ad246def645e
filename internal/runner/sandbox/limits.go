package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Child is what the limits of a call are to hold.
type Child struct {
	Program string   // as it is called
	Dir     string   // where it runs; the workspace, where the limits name none
	Path    []string // folders in which programs are looked for
}

// Of makes the policy of a child from the limits of a call, and the variables that point its tools to the caches which
// it may use. It refuses a program that the limits do not allow.
//
// The workspace, the system and the folders of the engine's own PATH can always be read. What a person's toolchains
// keep to be fast is theirs to use as well, for builds would need a network without; keys are elsewhere.
func Of(l capability.Limits, c Child) (Policy, map[string]string, error) {
	if l.Root == "" {
		l.Root = c.Dir
	}
	user, _ := os.UserHomeDir() // without one there is nothing of it to allow
	p := Default(l.Root, l.Home)
	p.Strict, p.Lenient = l.Mode == capability.Require, l.Mode != capability.Require
	p.Read = append(p.Read, programs(user)...)
	env := p.caches(user, l.Trial)
	p.work(l)
	for _, path := range l.Read {
		p.Read = append(p.Read, place(l, path))
	}
	p.worktree(l)
	if err := p.reach(l); err != nil {
		return p, env, err
	}
	if id := identity(); id != "" {
		p.Holds = map[string]string{".gitconfig": id}
	}
	err := p.commands(l, c)
	return p, env, err
}

// work says what of the files is the task's to change.
func (p *Policy) work(l capability.Limits) {
	if l.Write == nil {
		return
	}
	p.Read = append(p.Read, l.Root)
	p.Write = slices.DeleteFunc(p.Write, func(path string) bool { return path == l.Root })
	for _, path := range l.Write {
		if path = place(l, path); !l.Trial || under(filepath.Clean(path), l.Root) {
			p.Write = append(p.Write, path)
		}
	}
}

// place is the path that a policy means. A slash at its end is kept: it asks for a folder to be made.
func place(l capability.Limits, path string) string {
	end := ""
	if strings.HasSuffix(path, "/") && len(path) > 1 {
		end = "/"
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if user, err := os.UserHomeDir(); err == nil {
			return filepath.Join(user, rest) + end
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path) + end
	}
	if path = filepath.FromSlash(path); !filepath.IsLocal(path) {
		return path // it is refused with what is wrong with it
	}
	return filepath.Join(l.Root, path) + end
}

// caches allows those of all toolchains that are there. A trial must leave no trace in them.
func (p *Policy) caches(user string, trial bool) map[string]string {
	all := map[string]string{}
	if user == "" {
		return all
	}
	for name := range Caches {
		var q Policy
		env, err := q.Allow(name, user)
		if err != nil {
			continue
		}
		p.Read = append(p.Read, q.Read...)
		if trial {
			p.Read = append(p.Read, q.Write...)
			delete(env, "GOCACHE") // which Go must be able to write
		} else {
			p.Write = append(p.Write, q.Write...)
		}
		for v, path := range env {
			all[v] = path
		}
	}
	return all
}

// programs are the folders where the engine itself finds programs: of a person's, those in the home folder too.
func programs(user string) (dirs []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && dir != user && dir != "/" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// reach turns hosts into ports, which is all that the kernel can tell apart.
func (p *Policy) reach(l capability.Limits) error {
	if len(l.Hosts) == 0 || l.Trial {
		p.Loopback = true
		return nil
	}
	for _, pattern := range l.Hosts {
		_, port := capability.SplitHost(pattern)
		switch n, err := strconv.ParseUint(port, 10, 16); {
		case pattern == "*":
			p.Connect, p.Bind = []uint16{AnyPort}, []uint16{AnyPort}
			return nil
		case port == "":
			p.Connect = append(p.Connect, 443, 80)
		case err != nil || n == 0:
			return fault.New(fault.Invalid, "policy.allow.hosts: %q has no port that can be reached", pattern).Remedy("write host, *.domain, host:port with a number, or *")
		default:
			p.Connect = append(p.Connect, uint16(n))
		}
	}
	return nil
}

// MayWrite refuses a path, wherever links lead on the way to it, that the limits of a call do not let be written.
func MayWrite(l capability.Limits, path string) error {
	if l.Write == nil || l.Root == "" {
		return nil
	}
	at := resolved(path)
	for _, w := range l.Write {
		if w = strings.TrimSuffix(place(l, w), "/"); under(at, resolved(w)) {
			return nil
		}
	}
	shown := path
	if rel, err := filepath.Rel(l.Root, path); err == nil {
		shown = filepath.ToSlash(rel)
	}
	return fault.New(fault.Denied, "%s may not be written: policy.allow.write does not name it", shown).
		Remedy("if that is meant, add it: policy: {allow: {write: [%s]}}", shown)
}

// resolved is where a path leads, as far as it is there.
func resolved(path string) string {
	path = filepath.Clean(path)
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	if up := filepath.Dir(path); up != path {
		return filepath.Join(resolved(up), filepath.Base(path))
	}
	return path
}
