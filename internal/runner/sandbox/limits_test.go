//go:build linux

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// limited is a task of the world under the limits of a call.
func (w *world) limited(t *testing.T, l capability.Limits, script string) result {
	t.Helper()
	if !w.mine {
		t.Setenv("HOME", w.user)
	}
	if l.Root == "" {
		l.Root = w.project
	}
	l.Home, l.Read = w.home, append(l.Read, self(t))
	spec := w.spec(t, script)
	spec.Confine, spec.Dir, spec.Env = nil, l.Root, append(spec.Env, "PATH="+os.Getenv("PATH"))
	if err := spec.Limit(l); err != nil {
		return result{err: err}
	}
	return w.run(t, spec)
}

func (r result) ok() bool { return r.err == nil && r.Exit == 0 && len(r.left) == 0 }

func TestDefaultLimits(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		script string
		ok     bool
	}{
		{`echo x > new && cat src/a.c`, true},
		{`cat $USERHOME/.ssh/id_ed25519`, false},
		{`cat $USERHOME/.netrc`, false},
		{`cat .cairn/cairn.db`, false},
		{`echo x > .git/hooks/new`, false},
		{`echo x > $OUTSIDE/new`, false},
		{`$ATTACK listen`, true},
		{`$ATTACK dial tcp $TCP`, false},
		{`$ATTACK dial unix $ABSTRACT`, false},
		{`$ATTACK dial unix $SOCKET`, false},
	} {
		if r := w.limited(t, capability.Limits{}, c.script); r.ok() != c.ok {
			t.Errorf("%s: exit %d, %v, %s", c.script, r.Exit, r.err, r.out)
		}
	}
}

// What is sent in a network of one's own reaches nobody outside of it.
func TestNetworkOfItsOwn(t *testing.T) {
	w := newWorld(t)
	if r := w.limited(t, capability.Limits{}, `$ATTACK send $UDP`); !r.ok() {
		t.Fatalf("%s", r.out)
	}
	if w.hears() {
		t.Error("something came out")
	}
	if r := w.limited(t, capability.Limits{Hosts: []string{"*"}}, `$ATTACK send $UDP && $ATTACK dial tcp $TCP`); !r.ok() {
		t.Fatalf("%s", r.out)
	}
	if !w.hears() {
		t.Error("with all hosts allowed nothing came out")
	}
	sandbox.Without(t, "namespaces")
	if r := w.limited(t, capability.Limits{}, `$ATTACK send $UDP || $ATTACK dial tcp $TCP || $ATTACK listen`); r.ok() {
		t.Errorf("without namespaces: %s", r.out)
	}
}

func TestHostsArePorts(t *testing.T) {
	for _, c := range []struct {
		hosts string
		want  []uint16
		loop  bool
	}{
		{"example.org", []uint16{443, 80}, false},
		{"example.org:8080 *.b.org", []uint16{8080, 443, 80}, false},
		{"a *", []uint16{sandbox.AnyPort}, false},
		{"", nil, true},
	} {
		p, _, err := sandbox.Of(capability.Limits{Hosts: append([]string{}, strings.Fields(c.hosts)...)}, sandbox.Child{Dir: t.TempDir()})
		if err != nil || !slices.Equal(p.Connect, c.want) || p.Loopback != c.loop {
			t.Errorf("%s: %v, %v, %v", c.hosts, p.Connect, p.Loopback, err)
		}
	}
	if p, _, err := sandbox.Of(capability.Limits{Hosts: []string{"*"}, Trial: true}, sandbox.Child{Dir: t.TempDir()}); err != nil || p.Connect != nil || !p.Loopback {
		t.Errorf("a trial reaches %v, %v", p.Connect, err)
	}
	if _, _, err := sandbox.Of(capability.Limits{Hosts: []string{"a:b"}}, sandbox.Child{Dir: t.TempDir()}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestWritesThatAreNamed(t *testing.T) {
	w := newWorld(t)
	l := capability.Limits{Write: []string{"src", "out/", "~/notes/"}}
	for script, ok := range map[string]bool{
		`echo x > src/new`: true, `echo x > out/new`: true, `echo x > $USERHOME/notes/n`: true, `cat main.c`: true,
		`echo x > new`: false, `echo x >> main.c`: false, `echo x > .git/new`: false,
	} {
		if r := w.limited(t, l, script); r.ok() != ok {
			t.Errorf("%s: exit %d, %v, %s", script, r.Exit, r.err, r.out)
		}
	}
	if r := w.limited(t, capability.Limits{Write: []string{"../../outside"}}, "true"); !fault.Is(r.err, fault.Invalid) {
		t.Errorf("%v", r.err)
	}
	if r := w.limited(t, capability.Limits{Write: []string{}}, "echo x > src/a.c"); r.ok() {
		t.Error("an empty list allows something")
	}
	if r := w.limited(t, capability.Limits{Write: []string{".", "~/notes"}, Trial: true}, "echo x > $USERHOME/notes/n2"); r.ok() {
		t.Error("a trial writes elsewhere")
	}
}

func TestMayWrite(t *testing.T) {
	w := newWorld(t)
	if err := os.Symlink("../.git", filepath.Join(w.project, "src/link")); err != nil {
		t.Fatal(err)
	}
	l := capability.Limits{Root: w.project, Write: []string{"src/", w.outside}}
	for path, ok := range map[string]bool{
		"src/a.c": true, "src/new/deep": true, "main.c": false, "src/link/config": false, "src/../main.c": false, "srcs": false,
	} {
		if err := sandbox.MayWrite(l, filepath.Join(w.project, path)); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := sandbox.MayWrite(l, filepath.Join(w.outside, "x")); err != nil {
		t.Error(err)
	}
	if err := sandbox.MayWrite(capability.Limits{}, "/x"); err != nil {
		t.Error(err)
	}
}

func TestCommandsThatAreNamed(t *testing.T) {
	w := newWorld(t)
	tool := filepath.Join(w.project, "tools/say")
	if err := errorsOf(os.Mkdir(filepath.Dir(tool), 0o755), os.WriteFile(tool, []byte("#!/usr/bin/env sh\necho said\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	l := capability.Limits{Commands: []string{"cat", "tools/say", "nowhere"}}
	for script, ok := range map[string]bool{
		`cat main.c`: true, `echo built in`: true, `./tools/say`: true, `sh -c 'cat main.c'`: true,
		`ls`: false, `cp /bin/ls src/ls; ./src/ls`: false,
	} {
		if r := w.limited(t, l, script); r.ok() != ok {
			t.Errorf("%s: exit %d, %v, %s", script, r.Exit, r.err, r.out)
		}
	}
	spec := process.Spec{Argv: []string{"ls"}, Dir: w.project, Env: process.Env(nil)}
	if err := spec.Limit(l); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "command ls is not allowed") {
		t.Errorf("%v", err)
	}
	// A shell that the task made is no shell of the system.
	spec.Argv = []string{"./sh"}
	if err := spec.Limit(l); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	spec.Argv = []string{"tools/say"}
	if err := spec.Limit(capability.Limits{Root: w.project, Commands: []string{"tools/"}}); err != nil {
		t.Errorf("%v", err)
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// A build needs what its toolchain keeps, and nothing else of the home folder.
func TestGoBuildsOffline(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go here")
	}
	home := os.Getenv("HOME")
	w := newWorld(t)
	t.Setenv("HOME", home) // where there is a cache that is not empty
	w.mine = true
	for path, text := range map[string]string{
		w.project + "/m/go.mod": "module m\n", w.project + "/m/m_test.go": `package m

import ("net/http"; "net/http/httptest"; "testing")

func TestServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := http.Get(s.URL); err != nil { t.Fatal(err) }
}
`} {
		if err := errorsOf(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		l      capability.Limits
		script string
	}{
		{capability.Limits{}, `go test -count=1 -vet=off ./...`},
		{capability.Limits{Commands: []string{"go", "gcc"}}, `go test -count=1 -vet=off ./...`},
		{capability.Limits{Trial: true}, `go list ./...`},
	} {
		if r := w.limited(t, c.l, "cd m && "+c.script); !r.ok() {
			t.Errorf("%+v: exit %d, %v, %s", c.l, r.Exit, r.err, r.out)
		}
	}
}

// Without namespaces the root can be used all the same, and it is said what is not protected there.
func TestRootWithoutNamespaces(t *testing.T) {
	sandbox.Without(t, "namespaces")
	w := newWorld(t)
	r := w.limited(t, capability.Limits{}, `echo x > new && mkdir d && ! cat $USERHOME/.netrc && ! echo x > $OUTSIDE/new`)
	if !r.ok() || !slices.ContainsFunc(r.Unprotected, func(s string) bool { return strings.Contains(s, "git hooks") && strings.Contains(s, "not protected") }) {
		t.Errorf("exit %d, %v, %s, %q", r.Exit, r.err, r.out, r.Unprotected)
	}
	if r := w.limited(t, capability.Limits{Mode: capability.Require}, "true"); !fault.Is(r.err, fault.Denied) {
		t.Errorf("%v", r.err)
	}
}

// In a linked work tree inside the home git can work, but neither hooks nor config nor the home can be changed.
func TestLinkedWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	for _, without := range []string{"", "namespaces"} {
		sandbox.Without(t, without)
		w := newWorld(t)
		tree := filepath.Join(w.home, "trees/p")
		for _, args := range [][]string{{"init", "-q", "."}, {"add", "main.c"}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first"}, {"worktree", "add", "-q", "-b", "plan/p", tree}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = w.project
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %s", args, out)
			}
		}
		for script, ok := range map[string]bool{
			`git status --short`: true,
			`echo x > new && git add new && git -c user.name=a -c user.email=a@b.c commit -qm second`: true,
			`cat ../../cairn.db`:                                   false,
			`git config user.name x`:                               false,
			`echo x > $(git rev-parse --git-common-dir)/hooks/new`: false,
			`echo x > $(git rev-parse --git-common-dir)/HEAD`:      false,
		} {
			if r := w.limited(t, capability.Limits{Root: tree}, script); r.ok() != ok {
				t.Errorf("without %q: %s: exit %d, %v, %s", without, script, r.Exit, r.err, r.out)
			}
		}
		if without == "" {
			if r := w.limited(t, capability.Limits{Root: tree}, `echo x > $(git rev-parse --git-dir)/commondir || rm .git`); r.ok() {
				t.Errorf("the pointers can be changed: %s", r.out)
			}
		}
	}
}

// A .git that a task has put there points nowhere that is not its own.
func TestForgedWorkTree(t *testing.T) {
	w := newWorld(t)
	if err := errorsOf(os.RemoveAll(filepath.Join(w.project, ".git")), os.WriteFile(filepath.Join(w.project, ".git"), []byte("gitdir: "+w.user+"/.ssh/worktrees/x\n"), 0o644),
		os.MkdirAll(filepath.Join(w.user, ".ssh/worktrees/x"), 0o755), os.WriteFile(filepath.Join(w.user, ".ssh/worktrees/x/commondir"), []byte("../..\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if r := w.limited(t, capability.Limits{}, `cat $USERHOME/.ssh/id_ed25519`); r.ok() {
		t.Errorf("%s", r.out)
	}
}
