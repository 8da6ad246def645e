package manifest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	runnerhttp "github.com/cairn-plan/cairn/internal/runner/http"
	"github.com/cairn-plan/cairn/internal/runner/manifest"
	"github.com/cairn-plan/cairn/internal/runner/process"
	_ "github.com/cairn-plan/cairn/internal/runner/sandbox/entrance" // this binary keeps confined commands too
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	code := m.Run()
	process.Close()
	os.Exit(code)
}

func load(t *testing.T, src string) capability.Entry {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	e, err := manifest.Load(filepath.Join(t.TempDir(), "tool.yaml"), []byte(src), runnerhttp.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func call(t *testing.T, with string) (capability.Call, *capabilitytest.Host) {
	t.Helper()
	h := &capabilitytest.Host{}
	return capability.Call{Plan: "p", Task: "t", Execution: 1, Attempt: 2, Key: digest.Sum([]byte("k")), With: json.RawMessage(with), Dir: t.TempDir(), Host: h}, h
}

const greet = `
id: text.greet
summary: Greet somebody
inputs: {name: string, loud: optional boolean, more: optional any}
outputs: {text: string}
repeat: pure
needs: {write: false}
criticality: safe
cost_tier: 2
estimate: 5s
positional: [name]
examples:
  - says: Greet Ann
    with: {name: Ann}
run: |
  # it's a greeting
  printf 'Hello %s' ${inputs.name}
`

func TestContract(t *testing.T) {
	e := load(t, greet)
	c := e.Contract
	if c.ID != "text.greet" || c.Version != "1" || c.Repeat != capability.Pure || c.Estimate != 5*time.Second || c.CostTier != 2 || !strings.HasSuffix(c.Provider, "tool.yaml") {
		t.Errorf("contract: %+v", c)
	}
	reg := capability.NewRegistry()
	if err := reg.Reload([]capability.Entry{e}); err != nil {
		t.Fatal(err)
	}
	if got := reg.Fits("text.greet", json.RawMessage(`{"name": "x", "lod": true}`)); len(got) != 1 || !strings.Contains(got[0], `did you mean "loud"`) {
		t.Errorf("fits: %v", got)
	}
	warm, _ := call(t, `{"name": "Ann"}`)
	if _, err := e.Runner.Run(t.Context(), warm); err != nil { // the supervisor of all processes starts with the first
		t.Fatal(err)
	}
	capabilitytest.Run(t, reg, c, capabilitytest.World{})

	slow := load(t, "id: a.b\nsummary: s\nexamples: [{says: x, with: {}}]\nrun: sleep 1000\n")
	if err := reg.Reload([]capability.Entry{slow}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	c1, _ := call(t, `{}`)
	host := &herald{spawned: make(chan struct{})}
	c1.Host = host
	ended := make(chan error, 1)
	go func() {
		_, err := slow.Runner.Run(ctx, c1)
		ended <- err
	}()
	<-host.spawned
	stop()
	if err := <-ended; !fault.Is(err, fault.Interrupted) {
		t.Errorf("stopped: %v", err)
	}
}

// herald says when a process was spawned.
type herald struct {
	capabilitytest.Host
	spawned chan struct{}
}

func (h *herald) Spawned(capability.Process) error {
	close(h.spawned)
	return nil
}

func TestCommands(t *testing.T) {
	for name, c := range map[string]struct{ src, with, want string }{
		"quoted":      {greet, `{"name": "'; echo pwned; '"}`, `{"text":"Hello '; echo pwned; '"}`},
		"json":        {"id: a.b\nsummary: s\nrun: 'echo \"{\\\"n\\\": 3, \\\"l\\\": [1]}\"'", `{}`, `{"l":[1],"n":3}`},
		"plain":       {"id: a.b\nsummary: s\nrun: echo hi", `{}`, `{"stdout":"hi"}`},
		"silent":      {"id: a.b\nsummary: s\nrun: 'true'", `{}`, `{}`},
		"sole number": {"id: a.b\nsummary: s\noutputs: {n: integer}\nrun: echo 42", `{}`, `{"n":42}`},
		"sole text":   {"id: a.b\nsummary: s\noutputs: {n: string}\nrun: echo 42", `{}`, `{"n":"42"}`},
		"sole object": {"id: a.b\nsummary: s\noutputs: {o: object}\nrun: 'echo \"{\\\"x\\\": 1}\"'", `{}`, `{"o":{"x":1}}`},
		"argv":        {"id: a.b\nsummary: s\ncommand: [printf, '%s|', 'a ${inputs.x} b', '${inputs.none}', '${inputs.l[0].k}']", `{"x": "1 '2", "l": [{"k": true}]}`, `{"stdout":"a 1 '2 b||true|"}`},
		"stdin":       {"id: a.b\nsummary: s\noutputs: {got: any}\nrun: cat", `{"x": [1, "é"]}`, `{"got":{"x": [1, "é"]}}`},
		"variables":   {"id: a.b\nsummary: s\nenv: {OWN: 'v ${inputs.my-in}'}\nrun: 'echo \"$CAIRN_INPUT_MY_IN,$CAIRN_INPUT_N,$OWN,$CAIRN_TASK,$CAIRN_ATTEMPT,${HOME:+h}\"'", `{"my-in": "a b", "n": 1.5}`, `{"stdout":"a b,1.5,v a b,t,2,h"}`},
		"alias":       {"id: a.b\ndescription: s\nschema: {type: object, properties: {x: {type: integer}}}\nrun: echo ${inputs.x}", `{"x": 7}`, `{"stdout":"7"}`},
	} {
		e := load(t, c.src)
		in, host := call(t, c.with)
		res, err := e.Runner.Run(t.Context(), in)
		got, _ := json.Marshal(res.Outputs)
		if err != nil || !same(got, c.want) || len(host.Processes()) != 1 || *res.Exit != 0 {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func same(a []byte, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestCommandBesideTheManifest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool.sh"), []byte("#!/bin/sh\necho beside in \"$(basename \"$PWD\")\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := manifest.Load(filepath.Join(dir, "m.yaml"), []byte("id: a.b\nsummary: s\ncommand: [./tool.sh]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := call(t, `{}`)
	res, err := e.Runner.Run(t.Context(), in)
	if err != nil || string(res.Outputs["stdout"]) != `"beside in `+filepath.Base(in.Dir)+`"` {
		t.Errorf("%s, %v", res.Outputs, err)
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ src, with, want string }{
		"status":       {"run: 'echo oh >&2; exit 3'", `{}`, "exit status 3: oh"},
		"signal":       {"run: 'kill -KILL $$'", `{}`, "signal SIGKILL"},
		"promise":      {"outputs: {n: integer}\nrun: echo many", `{}`, `"n": type: many has type "string", want "integer"`},
		"no program":   {"command: [no-such-program-here]", `{}`, "no-such-program-here"},
		"no object":    {"run: 'true'", `[]`, "no object"},
		"wrong ref":    {"command: [echo, '${task.x}']", `{}`, "cannot be read here"},
		"wrong env":    {"env: {A: '${secret:NONE}'}\nrun: 'true'", `{}`, "not among those"},
		"secret unset": {"needs: {secrets: [CAIRN_TEST_UNSET]}\nrun: 'true'", `{}`, "needs the secret CAIRN_TEST_UNSET"},
		"deep":         {"command: [echo, '${inputs.a.b}']", `{"a": 1}`, "so it has no"},
	} {
		e := load(t, "id: a.b\nsummary: s\n"+c.src)
		in, _ := call(t, c.with)
		if _, err := e.Runner.Run(t.Context(), in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	e := load(t, "id: a.b\nsummary: s\nrun: sleep 1000")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	in, _ := call(t, `{}`)
	if _, err := e.Runner.Run(ctx, in); err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "time was over") {
		t.Errorf("timeout: %v", err)
	}
}

// knows is a store of one secret.
func knows(name, value string) func(context.Context, string) (string, error) {
	return func(_ context.Context, asked string) (string, error) {
		if asked != name {
			return "", fault.New(fault.NotFound, "there is no secret %s", asked).Remedy("set CAIRN_SECRET_%s", asked)
		}
		return value, nil
	}
}

func TestASecretThatIsNotThere(t *testing.T) {
	e := load(t, "id: a.b\nsummary: s\nneeds: {secrets: [API_KEY]}\nrun: 'touch ran'")
	in, _ := call(t, `{}`)
	in.Env = map[string]string{"API_KEY": "of the plan"} // a variable is no secret
	in.Secret = knows("OTHER", "x")
	_, err := e.Runner.Run(t.Context(), in)
	if !fault.Is(err, fault.NotFound) || err.Error() != "it needs the secret API_KEY: there is no secret API_KEY" || fault.HintOf(err) != "set CAIRN_SECRET_API_KEY" {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if _, err := os.Stat(filepath.Join(in.Dir, "ran")); err == nil {
		t.Error("it ran all the same")
	}
}

func TestSecretsAreNotTold(t *testing.T) {
	e := load(t, "id: a.b\nsummary: s\nneeds: {secrets: [API_KEY]}\nrun: 'echo \"key $API_KEY\"; echo \"$API_KEY\" >&2'")
	in, _ := call(t, `{}`)
	in.Secret = knows("API_KEY", "s3cr3t")
	res, err := e.Runner.Run(t.Context(), in)
	if err != nil || string(res.Outputs["stdout"]) != `"key [secret API_KEY]"` || strings.Contains(res.Stderr+res.Stdout, "s3cr3t") {
		t.Errorf("%s %s %s, %v", res.Outputs, res.Stdout, res.Stderr, err)
	}
}

func TestLongOutputIsStored(t *testing.T) {
	e := load(t, "id: a.b\nsummary: s\noutputs: {text: string}\nrun: 'head -c 5000 /dev/zero | tr \"\\0\" x'")
	in, host := call(t, `{}`)
	res, err := e.Runner.Run(t.Context(), in)
	if b, _ := host.Content("text"); err != nil || len(b) != 5000 || res.Outputs["text"] != nil || len(res.Artifacts) != 1 {
		t.Errorf("%v, %v", res.Artifacts, err)
	}
}

func TestDeclaredOutputs(t *testing.T) {
	e := load(t, "id: a.b\nsummary: s\nneeds: {write: true}\nrun: 'echo out; echo err >&2; echo file > left.txt'")
	in, host := call(t, `{}`)
	in.Want = []capability.Want{{Name: "o", From: "stdout"}, {Name: "e", From: "stderr"}, {Name: "f", Path: "left.txt", Type: "text"}, {Name: "stdout"}}
	res, err := e.Runner.Run(t.Context(), in)
	if b, _ := host.Content("f"); err != nil || string(b) != "file\n" || string(res.Outputs["o"]) != `"out\n"` || string(res.Outputs["e"]) != `"err\n"` {
		t.Errorf("%s, %v", res.Outputs, err)
	}
	in.Want = []capability.Want{{Name: "f", Path: "nothing.txt"}}
	if _, err := e.Runner.Run(t.Context(), in); err == nil || !strings.Contains(err.Error(), "was not left behind") {
		t.Errorf("%v", err)
	}
}

func TestProbe(t *testing.T) {
	src := "id: a.b\nsummary: s\nrepeat: once\noutputs: {n: integer}\nrun: echo 1\nprobe:\n  run: 'echo 2; exit ${inputs.code}'"
	e := load(t, src)
	p, ok := e.Runner.(capability.Prober)
	if !ok {
		t.Fatal("no prober")
	}
	for code, want := range map[string]string{"0": "true <nil>", "1": "false <nil>", "7": "false the probe cannot tell: it ended with exit status 7"} {
		in, _ := call(t, `{"code": `+code+`}`)
		res, done, err := p.Probe(t.Context(), in)
		if got := fmt.Sprint(done, err); got != want {
			t.Errorf("exit %s: %s, want %s", code, got, want)
		}
		if done && string(res.Outputs["n"]) != "2" {
			t.Errorf("outputs: %s", res.Outputs)
		}
	}
	in, _ := call(t, `[]`)
	if _, _, err := p.Probe(t.Context(), in); err == nil {
		t.Error("probed without inputs")
	}
	if _, ok := load(t, greet).Runner.(capability.Prober); ok {
		t.Error("a manifest without a probe claims to have one")
	}
}

func TestURL(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength+1)
		n, _ := r.Body.Read(body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/long":
			fmt.Fprintf(w, "%q", strings.Repeat("x", 5000))
		case r.URL.Path == "/fail":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, r.Header.Get("Authorization"))
		default:
			_ = json.NewEncoder(w).Encode(map[string]string{"uri": r.URL.RequestURI(), "method": r.Method, "body": string(body[:n]), "auth": r.Header.Get("Authorization"),
				"key": r.Header.Get("Idempotency-Key")})
		}
	}))
	defer s.Close()
	head := "id: a.b\nsummary: s\nurl: " + s.URL
	e := load(t, head+"/x/${inputs.p}?q=${inputs.q}\nheaders: {Authorization: 'Bearer ${secret:TOKEN}'}\nneeds: {secrets: [TOKEN]}")
	if !e.Contract.Needs.Network || e.Contract.Repeat != capability.Repeatable {
		t.Errorf("contract: %+v", e.Contract)
	}
	in, _ := call(t, `{"p": "a/b c", "q": "1&2"}`)
	in.Secret = knows("TOKEN", "t0k3n")
	res, err := e.Runner.Run(t.Context(), in)
	if err != nil || string(res.Outputs["uri"]) != `"/x/a%2Fb%20c?q=1%262"` || string(res.Outputs["auth"]) != `"Bearer [secret TOKEN]"` || string(res.Outputs["method"]) != `"GET"` {
		t.Errorf("%s, %v", res.Outputs, err)
	}
	e = load(t, head+"\nmethod: post\nexpect_status: [200]")
	in, _ = call(t, `{"n":1}`)
	res, err = e.Runner.Run(t.Context(), in)
	if err != nil || string(res.Outputs["body"]) != `"{\"n\":1}"` || string(res.Outputs["key"]) != `"`+in.Key.String()+`"` || e.Contract.Repeat != capability.Keyed {
		t.Errorf("%s, %v", res.Outputs, err)
	}
	e = load(t, head+"/long\noutputs: {text: string}")
	in, host := call(t, `{}`)
	res, err = e.Runner.Run(t.Context(), in)
	if b, _ := host.Content("text"); err != nil || len(b) != 5002 || len(res.Artifacts) != 1 {
		t.Errorf("long: %d, %v", len(b), err)
	}
	for src, want := range map[string]string{"/fail": "answered 500", "/${task.x}": "cannot be read here", "/x\nheaders: {A: '${b.c}'}": "cannot be read here",
		"/x\nneeds: {secrets: [CAIRN_TEST_UNSET]}": "none are known here"} {
		in, _ := call(t, `{}`)
		if res, err := load(t, head+src).Runner.Run(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) || len(res.Artifacts) > 0 {
			t.Errorf("%s: %v", src, err)
		}
	}
}
