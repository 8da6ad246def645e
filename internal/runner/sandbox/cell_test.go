//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// What an ordinary task needs works.
func TestOrdinaryWork(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"new file in the root", `echo x > new && cat new`, "x\n"},
		{"new folder in the root", `mkdir -p out/deep && echo y > out/deep/f && cat out/deep/f && rm -r out`, "y\n"},
		{"moving across folders", `echo z > src/z && mv src/z . && cat z`, "z\n"},
		{"temporary files", `f=$(mktemp) && echo t > $f && cat $f && rm $f`, "t\n"},
		{"a home of its own", `echo h > ~/h && cat ~/h`, "h\n"},
		{"devices", `head -c 3 /dev/zero | wc -c; echo x > /dev/null; echo err > /dev/stderr`, "3\n"},
		{"itself in /proc", `cat /proc/self/comm; sh -c 'test -d /proc/$$'`, "cat\n"},
		{"pipes and fifos", `mkfifo src/p; (echo f > src/p &) ; cat src/p`, "f\n"},
		{"executing what it wrote", `printf '#!/bin/sh\necho ran\n' > src/run; chmod +x src/run; ./src/run`, "ran\n"},
		{"the index of a repository", `echo i > .git/index.lock && mv .git/index.lock .git/index && cat .git/index`, "i\n"},
		{"reading hooks and config", `cat .git/config .git/hooks/pre-commit`, "[core]\n#!/bin/sh\n"},
		{"signals of its own", `sleep 60 & kill $! && wait $!; echo $?`, "143\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.run(t, w.spec(t, c.script))
			if r.err != nil || r.Exit != 0 || string(r.Stdout) != c.want || len(r.left) > 0 {
				t.Errorf("exit %d %s, %v, said %q and %q", r.Exit, r.Signal, r.err, r.Stdout, r.Stderr)
			}
			if len(r.Unprotected) > 0 {
				t.Errorf("unprotected: %v", r.Unprotected)
			}
		})
	}
}

func TestNetworkThatIsAllowed(t *testing.T) {
	w := newWorld(t)
	_, port, _ := strings.Cut(w.tcp, ":")
	w.policy.Connect = []uint16{atoi(t, port)}
	if r := w.run(t, w.spec(t, `$ATTACK dial tcp $TCP`)); r.Exit != 0 {
		t.Errorf("%s", r.out)
	}
	w.policy.Connect, w.policy.Bind, w.policy.Unix = nil, []uint16{sandbox.AnyPort}, true
	if r := w.run(t, w.spec(t, `$ATTACK listen && $ATTACK dial unix $SOCKET`)); r.Exit != 0 {
		t.Errorf("%s", r.out)
	}
}

func atoi(t *testing.T, s string) (n uint16) {
	t.Helper()
	for _, c := range s {
		n = n*10 + uint16(c-'0')
	}
	return n
}

// A workspace inside the home of cairn is there though the home around it is not.
func TestWorkspaceInTheHome(t *testing.T) {
	w := newWorld(t)
	tree := filepath.Join(w.home, "workspaces/p1")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.home, "one")
	if err := os.WriteFile(file, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.policy = sandbox.Default(tree, w.home)
	w.policy.Read = append(w.policy.Read, file)
	spec := w.spec(t, `echo x > new && cat new ../../one && ! cat ../../cairn.db && ! echo x > ../../one`)
	spec.Dir = tree
	if r := w.run(t, spec); r.Exit != 0 || !strings.HasPrefix(string(r.Stdout), "x\n1") || w.read("user/project/.cairn/one") != "1" {
		t.Errorf("exit %d, %s", r.Exit, r.out)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.project, "link")
	for path, to := range map[string]string{link: w.outside, filepath.Join(w.project, "deep"): w.outside, filepath.Join(w.project, ".git/modules"): w.outside} {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(*sandbox.Policy)
		code   fault.Code
		says   string
	}{
		"link out of the root":    {func(p *sandbox.Policy) { p.Write = append(p.Write, link) }, fault.Denied, "leads out of the workspace"},
		"through a link":          {func(p *sandbox.Policy) { p.Write = append(p.Write, filepath.Join(link, "new")+"/") }, fault.NotFound, "not there"},
		"dots":                    {func(p *sandbox.Policy) { p.Write = append(p.Write, w.project+"/../../outside") }, fault.Invalid, "without .."},
		"relative":                {func(p *sandbox.Policy) { p.Read = append(p.Read, "src") }, fault.Invalid, "absolute"},
		"nothing there":           {func(p *sandbox.Policy) { p.Write = append(p.Write, w.project+"/none") }, fault.NotFound, "is not there"},
		"no workspace":            {func(p *sandbox.Policy) { p.Root = w.base + "/none" }, fault.NotFound, "workspace"},
		"a link that is kept":     {func(p *sandbox.Policy) { p.ReadOnly = append(p.ReadOnly, link) }, fault.Denied, "is a link"},
		"a folder that is a file": {func(p *sandbox.Policy) { p.Write = append(p.Write, w.project+"/main.c/x/") }, fault.Failed, "cannot make"},
	} {
		p := sandbox.Default(w.project, w.home)
		c.change(&p)
		_, err := sandbox.Prepare(p)
		if err == nil || fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.there("outside/new") {
		t.Error("a folder was made outside")
	}
}

func TestPrepareMakesFolders(t *testing.T) {
	w := newWorld(t)
	w.policy.Write = append(w.policy.Write, w.project+"/build/")
	if err := os.RemoveAll(filepath.Join(w.project, ".git/hooks")); err != nil {
		t.Fatal(err)
	}
	c, err := sandbox.Prepare(w.policy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !w.there("user/project/build") || !w.there("user/project/.git/hooks") {
		t.Error("not made")
	}
	env := c.Env([]string{"HOME=/x", "A=b"})
	if process.Value(env, "HOME") != c.Tmp() || process.Value(env, "TMPDIR") != c.Tmp() || process.Value(env, "A") != "b" {
		t.Errorf("%v", env)
	}
	w.policy.Tmp = false
	bare, err := sandbox.Prepare(w.policy)
	if err != nil || bare.Tmp() != "" || len(bare.Env([]string{"A=b"})) != 1 {
		t.Errorf("%v, %v", bare, err)
	}
}

// Naming a kept path is the way to allow it.
func TestHooksAllowedByName(t *testing.T) {
	w := newWorld(t)
	w.policy.Write = append(w.policy.Write, filepath.Join(w.project, ".git/hooks"))
	if r := w.run(t, w.spec(t, `echo x > .git/hooks/new`)); r.Exit != 0 || !w.there("user/project/.git/hooks/new") {
		t.Errorf("%s", r.out)
	}
}

func TestAllowCaches(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".cache/go-build"), 0o755); err != nil {
		t.Fatal(err)
	}
	var p sandbox.Policy
	env, err := p.Allow("go", home)
	if err != nil || env["GOCACHE"] != filepath.Join(home, ".cache/go-build") || env["GOMODCACHE"] != "" || len(p.Write) != 1 {
		t.Errorf("%v, %v, %v", env, p, err)
	}
	if _, err := p.Allow("cobol", home); fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.HintOf(err), "[go npm") {
		t.Errorf("%v", err)
	}
}

// Where something is lacking a task runs with a warning, and a strict one does not run.
func TestLacking(t *testing.T) {
	for _, c := range []struct {
		without []string
		says    string
	}{
		{[]string{"landlock"}, "no Landlock"},
		{[]string{"seccomp"}, "no seccomp"},
		{[]string{"namespaces"}, "no namespaces"},
	} {
		t.Run(c.without[0], func(t *testing.T) {
			sandbox.Without(t, c.without...)
			w := newWorld(t)
			r := w.run(t, w.spec(t, `echo ok`))
			if r.err != nil || string(r.Stdout) != "ok\n" || !slices.ContainsFunc(r.Unprotected, func(s string) bool { return strings.Contains(s, c.says) }) {
				t.Errorf("%v, %q, unprotected %q", r.err, r.Stdout, r.Unprotected)
			}
			w.policy.Strict = true
			if r := w.run(t, w.spec(t, `echo ok`)); fault.CodeOf(r.err) != fault.Denied || !strings.Contains(r.err.Error(), c.says) || len(r.Stdout) > 0 {
				t.Errorf("strict: %v, %q", r.err, r.Stdout)
			}
			if !slices.ContainsFunc(sandbox.Probe(), func(p sandbox.Protection) bool { return !p.Have && p.Says != "" }) {
				t.Errorf("%+v", sandbox.Probe())
			}
		})
	}
	w := newWorld(t)
	w.policy.Strict = true
	if r := w.run(t, w.spec(t, `echo ok`)); r.err != nil || len(r.Unprotected) > 0 {
		t.Errorf("strict with all: %v, %v", r.err, r.Unprotected)
	}
	for _, p := range sandbox.Probe() {
		if !p.Have || p.Says == "" {
			t.Errorf("%+v", p)
		}
	}
}

func TestCannotStart(t *testing.T) {
	w := newWorld(t)
	long := w.spec(t, strings.Repeat("#", 3<<20))
	if r := w.run(t, long); fault.CodeOf(r.err) != fault.Invalid || fault.HintOf(r.err) == "" {
		t.Errorf("%v, %s", r.err, r.out)
	}
	w.policy.Read = nil // not even a shell
	if r := w.run(t, w.spec(t, "true")); r.err == nil || !strings.Contains(r.err.Error(), "permission denied") {
		t.Errorf("%v, %s", r.err, r.out)
	}
}
