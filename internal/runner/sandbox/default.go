package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// system is what programs need to start and to find their libraries, certificates and settings.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap",
	"/home/linuxbrew/.linuxbrew", "/etc", "/proc", "/sys",
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
}

// private is what the system keeps for itself. Who is not root cannot read most of it anyway.
var private = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/ppp",
	"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/security/opasswd",
	"/etc/docker", "/etc/kubernetes", "/etc/rancher", "/etc/letsencrypt", "/opt/containerd",
}

// Default lets a task write the workspace, but neither the home of cairn nor what git runs by
// itself, read the system, and use no network. home may be inside root.
//
// A repository's hooks and config are read-only because the person's own git obeys them later, outside
// of any sandbox.
func Default(root, home string) Policy {
	p := Policy{
		Root:   root,
		Read:   slices.Clone(system),
		Write:  []string{root},
		Hidden: slices.Clone(private),

		CPU: 4 * time.Hour, Memory: 16 << 30, FileSize: 16 << 30, Disk: 64 << 30, Files: 4 << 20,
		Processes: 1024, OpenFiles: 8192,
		Umask: 0o022, Tmp: true,
	}
	if keys, err := filepath.Glob("/etc/ssh/ssh_host_*_key"); err == nil {
		p.Hidden = append(p.Hidden, keys...)
	}
	if home != "" {
		p.Hidden = append(p.Hidden, home)
	}
	for _, dir := range repositories(filepath.Join(root, ".git")) {
		p.ReadOnly = append(p.ReadOnly, filepath.Join(dir, "hooks")+"/", filepath.Join(dir, "config"))
		if _, err := os.Lstat(filepath.Join(dir, "config.worktree")); err == nil {
			p.ReadOnly = append(p.ReadOnly, filepath.Join(dir, "config.worktree"))
		}
	}
	return p
}

// repositories lists a git dir and those of its submodules. A .git that is a file, as in a worktree,
// points to a place that is not granted.
func repositories(git string) []string {
	if st, err := os.Lstat(git); err != nil || !st.IsDir() {
		return nil
	}
	all := []string{git}
	subs, _ := filepath.Glob(filepath.Join(git, "modules", "*", "config"))
	for _, s := range subs {
		all = append(all, filepath.Dir(s))
	}
	return all
}

// Cache is what a toolchain keeps in a person's home folder, and how it is told where that is when
// HOME is another.
type Cache struct {
	Read  []string          // from the home folder
	Write []string          // likewise; a task that may write it can change what later tasks build with
	Env   map[string]string // variable to path, likewise
}

// Caches lists the toolchains that a policy can name.
var Caches = map[string]Cache{
	"go":     {Read: []string{"sdk"}, Write: []string{".cache/go-build", "go/pkg"}, Env: map[string]string{"GOCACHE": ".cache/go-build", "GOMODCACHE": "go/pkg/mod"}},
	"npm":    {Read: []string{".nvm"}, Write: []string{".npm/_cacache"}, Env: map[string]string{"npm_config_cache": ".npm"}},
	"pip":    {Read: []string{".pyenv"}, Write: []string{".cache/pip"}, Env: map[string]string{"PIP_CACHE_DIR": ".cache/pip"}},
	"rustup": {Read: []string{".rustup", ".cargo/bin"}, Write: []string{".cargo/registry"}, Env: map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}},
}

// Allow adds the caches of a toolchain, as far as they are there, and returns the variables that
// point to them.
func (p *Policy) Allow(name, userHome string) (env map[string]string, err error) {
	c, ok := Caches[name]
	if !ok {
		known := make([]string, 0, len(Caches))
		for n := range Caches {
			known = append(known, n)
		}
		slices.Sort(known)
		return nil, fault.New(fault.Invalid, "there is no cache %q", name).Remedy("use one of %v, or give its paths in read and write", known)
	}
	there := func(rel string) bool {
		_, err := os.Stat(filepath.Join(userHome, rel))
		return err == nil
	}
	for _, rel := range c.Read {
		p.Read = append(p.Read, filepath.Join(userHome, rel))
	}
	for _, rel := range c.Write {
		if there(rel) {
			p.Write = append(p.Write, filepath.Join(userHome, rel))
		}
	}
	env = map[string]string{}
	for v, rel := range c.Env {
		if there(rel) {
			env[v] = filepath.Join(userHome, rel)
		}
	}
	return env, nil
}
