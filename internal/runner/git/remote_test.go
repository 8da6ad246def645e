package git_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// conflicting runs git by hand where it is expected to fail.
func conflicting(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("git %s succeeded: %s", strings.Join(args, " "), out)
	}
}

func probe(k task, with string) (bool, error) {
	k.t.Helper()
	run, call, err := k.call("git.push", with)
	if err != nil {
		k.t.Fatal(err)
	}
	_, done, err := run.(capability.Prober).Probe(k.t.Context(), call)
	return done, err
}

func TestPush(t *testing.T) {
	dir := repository(t)
	remote := sh(t, dir, "remote", "get-url", "origin")
	k := task{t: t, dir: dir}
	sh(t, dir, "branch", "unasked")
	sh(t, dir, "tag", "v1")
	if done, err := probe(k, `{}`); done || err != nil {
		t.Errorf("before: %v, %v", done, err)
	}
	p, err := k.preview("git.push", `{}`)
	if err != nil || p.Commands[0] != "git push origin main:main" || len(p.Commands) != 4 || !strings.HasSuffix(p.Commands[1], "commit 3") {
		t.Errorf("%v, %v", p, err)
	}
	if sh(t, remote, "for-each-ref") != "" {
		t.Error("the preview pushed")
	}
	for _, pushed := range []string{"true", "false"} {
		if out := k.must("git.push", `{}`); string(out["pushed"]) != pushed || text(t, out["commit"]) != sh(t, remote, "rev-parse", "main") {
			t.Errorf("%s", out)
		}
	}
	if got := sh(t, remote, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("more was pushed: %s", got)
	}
	if done, err := probe(k, `{}`); !done || err != nil {
		t.Errorf("after: %v, %v", done, err)
	}
	write(t, dir, "README.md", "more\n")
	sh(t, dir, "commit", "-q", "-a", "-m", "more")
	if p, err := k.preview("git.push", `{}`); err != nil || len(p.Commands) != 2 || !strings.HasSuffix(p.Commands[1], "more") {
		t.Errorf("%v, %v", p, err)
	}
	if done, err := probe(k, `{}`); done || err != nil {
		t.Errorf("one ahead: %v, %v", done, err)
	}
	k.must("git.push", `{"branch": "main", "to": "review/main"}`)
	sh(t, dir, "branch", "behind", "main~1")
	if done, err := probe(k, `{"branch": "behind", "to": "review/main"}`); !done || err != nil {
		t.Errorf("somebody pushed on top: %v, %v", done, err)
	}
}

func TestPushRefused(t *testing.T) {
	dir := repository(t)
	remote := sh(t, dir, "remote", "get-url", "origin")
	k := task{t: t, dir: dir}
	k.must("git.push", `{}`)
	there := sh(t, remote, "rev-parse", "main")
	sh(t, dir, "reset", "-q", "--hard", "HEAD~1")
	write(t, dir, "README.md", "other\n")
	sh(t, dir, "commit", "-q", "-a", "-m", "other")
	k.refused("git.push", `{}`, fault.Conflict, "has commits that main has not")
	if _, err := k.preview("git.push", `{}`); !fault.Is(err, fault.Conflict) {
		t.Errorf("preview: %v", err)
	}
	k.refused("git.push", `{"lease": "`+strings.Repeat("1", 40)+`"}`, fault.Conflict, "is not at 111111111111 any more")
	if sh(t, remote, "rev-parse", "main") != there {
		t.Error("it was pushed")
	}
	k.must("git.push", `{"lease": "`+there+`"}`)
	if sh(t, remote, "rev-parse", "main") == there {
		t.Error("it was not replaced")
	}
	hook := filepath.Join(remote, "hooks", "pre-receive")
	write(t, remote, "hooks/pre-receive", "#!/bin/sh\necho protected; exit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	k.refused("git.push", `{"to": "x"}`, fault.Denied, "pre-receive hook declined; it says: protected")
	k.refused("git.push", `{"remote": "none"}`, fault.NotFound, "no remote none")
	k.refused("git.push", `{"branch": "none"}`, fault.NotFound, "no branch none")
	k.refused("git.push", `{"to": "a b"}`, fault.Invalid, "no name for a branch")
	k.refused("git.push", `{"token": "t"}`, fault.Invalid, "a token is for https")
	k.refused("git.push", `{"remote": "`+t.TempDir()+`"}`, fault.NotFound, "no repository at the remote")
	k.refused("git.push", `{"remote": "ext::sh -c touch% x"}`, fault.Failed, "not allowed")
	gone := httptest.NewServer(nil)
	gone.Close()
	k.refused("git.push", `{"remote": "`+gone.URL+`/x.git"}`, fault.Failed, "nobody listens")
	if p, err := k.preview("git.push", `{"remote": "`+gone.URL+`/x.git"}`); err != nil || len(p.Unforeseen) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := probe(k, `{"remote": "`+gone.URL+`/x.git"}`); err == nil {
		t.Error("a remote that cannot be asked told something")
	}
	run, call, _ := k.call("git.push", `{"remote": "-x"}`)
	if _, err := run.Run(t.Context(), call); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
	sh(t, dir, "checkout", "-q", "--detach")
	k.refused("git.push", `{}`, fault.Conflict, "detached")
}

// TestPushOverHTTP speaks to git's own server program.
func TestPushOverHTTP(t *testing.T) {
	dir := repository(t)
	remote := sh(t, dir, "remote", "get-url", "origin")
	sh(t, remote, "config", "http.receivepack", "true")
	status := 0
	backend := &cgi.Handler{Path: filepath.Join(sh(t, dir, "--exec-path"), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(remote), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"}}
	if _, err := os.Stat(backend.Path); err != nil {
		t.Skipf("git has no server program here: %v", err)
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:s3cret"))
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch {
		case status != 0:
			w.WriteHeader(status)
		case r.Header.Get("Authorization") != want:
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(nethttp.StatusUnauthorized)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	address := s.URL + "/" + filepath.Base(remote)
	k := task{t: t, dir: dir}
	with := `{"remote": "` + address + `", "token": "s3cret"}`
	out := k.must("git.push", with)
	if string(out["pushed"]) != "true" || sh(t, remote, "rev-parse", "main") != sh(t, dir, "rev-parse", "main") {
		t.Errorf("%s", out)
	}
	if done, err := probe(k, with); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	k.refused("git.push", `{"remote": "`+address+`"}`, fault.Denied, "other credentials")
	k.refused("git.push", `{"remote": "`+address+`", "token": "wrong"}`, fault.Denied, "other credentials")
	for code, says := range map[int]string{404: "no repository at the remote", 500: "server failed", 403: "other credentials"} {
		status = code
		_, err := k.run("git.push", strings.Replace(with, "http://", "http://u:pw@", 1))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(fmt.Sprint(err, fault.HintOf(err)), "pw") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestBisect(t *testing.T) {
	dir := t.TempDir()
	sh(t, dir, "init", "-q")
	var commits []string
	for i := range 12 {
		write(t, dir, "n", fmt.Sprint(i))
		write(t, dir, fmt.Sprintf("d%d/x", i%2), fmt.Sprint(i))
		sh(t, dir, "add", ".")
		sh(t, dir, "commit", "-q", "-m", fmt.Sprintf("commit %d", i))
		commits = append(commits, sh(t, dir, "rev-parse", "HEAD"))
	}
	write(t, dir, "n", "not committed")
	before := sh(t, dir, "status", "--porcelain=v2", "--branch")
	k := task{t: t, dir: dir}
	good := `"good": "` + commits[0] + `"`
	out := k.must("git.bisect", `{`+good+`, "run": "test $(cat n) -lt 7"}`)
	var tried []struct{ Verdict string }
	if err := json.Unmarshal(out["tested"], &tried); err != nil || text(t, out["commit"]) != commits[7] || text(t, out["subject"]) != "commit 7" || string(out["author"]) != `"Ada"` || len(tried) > 6 {
		t.Errorf("%s, %v", out, err)
	}
	if out := k.must("git.bisect", `{`+good+`, "run": "n=$(cat n); test $n = 5 && exit 125; test $n -lt 7", "verify": false}`); text(t, out["commit"]) != commits[7] {
		t.Errorf("with a skip: %s", out)
	}
	out, err := k.run("git.bisect", `{`+good+`, "run": "n=$(cat n); test $n -gt 3 -a $n -lt 9 && exit 125; test $n -lt 7"}`)
	if err == nil || !strings.Contains(err.Error(), "it is one of") || !strings.Contains(string(out["candidates"]), commits[7]) {
		t.Errorf("all skipped: %s, %v", out, err)
	}
	for with, says := range map[string]string{
		`{` + good + `, "run": "true"}`:                                             "succeeds at",
		`{` + good + `, "run": "false"}`:                                            "fails at",
		`{` + good + `, "run": "no-such-program"}`:                                  "exit status 127",
		`{"good": "HEAD", "run": "true"}`:                                           "are the same commit",
		`{"good": "HEAD", "bad": "HEAD~3", "run": "true"}`:                          "wrong way round",
		`{"good": "none", "run": "true"}`:                                           "no commit none",
		`{` + good + `, "bad": "none", "run": "true"}`:                              "no commit none",
		`{` + good + `, "run": " "}`:                                                "no command",
		`{` + good + `, "run": "true", "paths": ["../.."]}`:                         "no path inside",
		`{` + good + `, "run": "test $(cat n) -lt 7", "paths": ["d0"], "x": false}`: `"x"`,
	} {
		if _, err := k.run("git.bisect", with); err == nil || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", with, err)
		}
	}
	sh(t, dir, "checkout", "-q", "-f", "-b", "side", commits[3])
	sh(t, dir, "commit", "-q", "--allow-empty", "-m", "side")
	if _, err := k.run("git.bisect", `{"good": "side", "bad": "main", "run": "test $(git log -1 --format=%s) = side", "verify": false}`); err == nil || !strings.Contains(err.Error(), "parted") {
		t.Errorf("repaired on the side: %v", err)
	}
	sh(t, dir, "checkout", "-q", "main")
	write(t, dir, "n", "not committed")
	if after := sh(t, dir, "status", "--porcelain=v2", "--branch"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if list := sh(t, dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("a work tree was left: %s", list)
	}
}
