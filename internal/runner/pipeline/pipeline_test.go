package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/noop"
	"github.com/cairn-plan/cairn/internal/runner/pipeline"
)

type part struct {
	id, inputs string
	positional []string
	class      capability.Class
	run        capability.RunnerFunc
}

func object(pairs ...string) capability.Result {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return capability.Result{Outputs: out}
}

func registry(t *testing.T) (*capability.Registry, *[]capability.Call) {
	t.Helper()
	var calls []capability.Call
	note := func(f capability.RunnerFunc) capability.RunnerFunc {
		return func(ctx context.Context, c capability.Call) (capability.Result, error) {
			calls = append(calls, c)
			return f(ctx, c)
		}
	}
	reg := capability.NewRegistry()
	for _, p := range []part{
		{"search", `{"type":"object","properties":{"query":{"type":"string"},"n":{"type":"integer"}},"required":["query"]}`, []string{"query", "n"}, capability.Pure,
			func(context.Context, capability.Call) (capability.Result, error) {
				return object("links", `["u1","u2"]`), nil
			}},
		{"fetch", `{"type":"object","properties":{"urls":{"type":"array"}},"required":["urls"]}`, nil, capability.Repeatable,
			func(ctx context.Context, c capability.Call) (capability.Result, error) {
				ref, err := c.Host.Put(ctx, "body", "text", strings.NewReader("the body"))
				res := object("count", "2")
				res.Artifacts, res.Versions = []capability.Ref{ref}, map[string]string{"fetch": "9"}
				return res, err
			}},
		{"rank", `{"type":"object","properties":{"docs":{}}}`, nil, capability.Keyed,
			func(_ context.Context, c capability.Call) (capability.Result, error) {
				return object("sources", string(c.With), "exitless", "1"), nil
			}},
		{"fail", `{"type":"object"}`, nil, capability.Once,
			func(context.Context, capability.Call) (capability.Result, error) {
				return capability.Result{Stderr: "oh"}, fault.New(fault.Denied, "no").Remedy("ask")
			}},
		{"store", `{"type":"object"}`, nil, capability.Once,
			func(ctx context.Context, c capability.Call) (capability.Result, error) {
				_, err := c.Host.Put(ctx, "x", "text", errorReader{})
				return capability.Result{}, err
			}},
	} {
		c := capability.Contract{ID: p.id, Version: "1", Summary: p.id, Inputs: json.RawMessage(p.inputs), Positional: p.positional, Repeat: p.class}
		if err := reg.Add(c, note(p.run)); err != nil {
			t.Fatal(err)
		}
	}
	if err := reg.Add(noop.Contract(), noop.Runner); err != nil {
		t.Fatal(err)
	}
	if err := reg.Add(pipeline.Contract(), pipeline.New(reg)); err != nil {
		t.Fatal(err)
	}
	return reg, &calls
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func with(run string, more ...string) json.RawMessage {
	m := map[string]json.RawMessage{}
	m["run"], _ = json.Marshal(run)
	for i := 0; i < len(more); i += 2 {
		m[more[i]] = json.RawMessage(more[i+1])
	}
	raw, _ := json.Marshal(m)
	return raw
}

func TestContract(t *testing.T) {
	reg, _ := registry(t)
	capabilitytest.Run(t, reg, pipeline.Contract(), capabilitytest.World{})
}

func TestChainHandsResultsOn(t *testing.T) {
	reg, calls := registry(t)
	host := &capabilitytest.Host{}
	call := capability.Call{Host: host, Key: digest.Sum([]byte("k")), Want: []capability.Want{{Name: "sources"}},
		With: with(`search(query, n=3) -> links; fetch(links) -> docs; rank(docs) -> sources`, "query", `"q"`)}
	res, err := pipeline.New(reg).Run(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"links":   `["u1","u2"]`,
		"docs":    `{"body":"the body","count":2}`,
		"sources": `{"exitless":1,"sources":{"docs":{"body":"the body","count":2}}}`,
	} {
		if string(res.Outputs[name]) != want {
			t.Errorf("%s = %s, want %s", name, res.Outputs[name], want)
		}
	}
	got := *calls
	if string(got[0].With) != `{"n":3,"query":"q"}` || string(got[1].With) != `{"urls":["u1","u2"]}` {
		t.Errorf("inputs: %s, %s", got[0].With, got[1].With)
	}
	if got[0].Key == got[1].Key || got[0].Key == call.Key || got[0].Want != nil {
		t.Error("the calls of a chain share a key, or are asked for the outputs of the whole")
	}
	if b, ok := host.Content("docs.body"); !ok || string(b) != "the body" || len(res.Artifacts) != 1 || res.Artifacts[0].Name != "docs.body" {
		t.Errorf("stored: %s, %v", b, res.Artifacts)
	}
	if res.Versions["fetch"] != "9" {
		t.Errorf("versions: %v", res.Versions)
	}
	again := got[0].Key
	if _, err := pipeline.New(reg).Run(t.Context(), call); err != nil || (*calls)[3].Key != again {
		t.Errorf("a retry has another key: %v", err)
	}
}

func TestLastCallWithoutAName(t *testing.T) {
	reg, _ := registry(t)
	res, err := pipeline.New(reg).Run(t.Context(), capability.Call{Host: &capabilitytest.Host{},
		With: with(`search("x"); rank(inputs.a.b[0])`, "a", `{"b":[1]}`)})
	if err == nil {
		t.Fatalf("an index was read: %v", res)
	}
	res, err = pipeline.New(reg).Run(t.Context(), capability.Call{Host: &capabilitytest.Host{}, With: with(`search("x"); rank(inputs.a.b)`, "a", `{"b":1}`)})
	if err != nil || string(res.Outputs["sources"]) != `{"docs":1}` || res.Outputs["links"] != nil {
		t.Errorf("%s, %v", res.Outputs, err)
	}
}

func TestChainFails(t *testing.T) {
	reg, _ := registry(t)
	for run, want := range map[string]string{
		`search("x") -> l; fail(); rank(l)`: "call 2 of the chain, fail: no",
		`nobody()`:                          "not installed",
		`pipeline("noop()")`:                "not installed",
		`search(5)`:                         "do not fit",
		`search("a", 2, 3)`:                 "takes 2 inputs without a name",
		`search("a", query="b")`:            "twice",
		`search(missing)`:                   `there is no "missing"`,
		`search("x") -> l; rank(l.x.y)`:     "l.x.y",
		`store()`:                           "the disk is gone",
		`do something`:                      "no chain of calls",
	} {
		_, err := pipeline.New(reg).Run(t.Context(), capability.Call{Host: &capabilitytest.Host{}, With: with(run)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", run, err, want)
		}
	}
	res, err := pipeline.New(reg).Run(t.Context(), capability.Call{Host: &capabilitytest.Host{}, With: with(`search("x") -> l; fail()`)})
	if !fault.Is(err, fault.Denied) || fault.HintOf(err) != "ask" || res.Stderr != "oh" || res.Outputs["l"] == nil {
		t.Errorf("%v (%s), %v", err, fault.HintOf(err), res)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := pipeline.New(reg).Run(ctx, capability.Call{With: with(`noop()`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestClassIsTheWorst(t *testing.T) {
	reg, _ := registry(t)
	for run, want := range map[string]capability.Class{
		`search("x")`: capability.Pure, `search("x"); fetch([])`: capability.Repeatable, `rank(1); search("x")`: capability.Keyed,
		`search("x"); fail()`: capability.Once, `nobody()`: capability.Once, `prose`: capability.Once,
	} {
		if got := pipeline.New(reg).Class(with(run)); got != want {
			t.Errorf("%s is %s, want %s", run, got, want)
		}
	}
}

// gatekeeper lets so many calls on.
type gatekeeper struct {
	capabilitytest.Host
	asked []string
	most  int
}

func (g *gatekeeper) Queue(_ context.Context, id string, with json.RawMessage) error {
	if len(g.asked) == g.most {
		return fault.New(fault.Failed, "its turn comes too late").Remedy("wait")
	}
	g.asked = append(g.asked, id+string(with))
	return nil
}

// Each call of a chain waits for a turn of its own, with the inputs that tell where it goes.
func TestEachCallHasItsTurn(t *testing.T) {
	reg, calls := registry(t)
	host := &gatekeeper{most: 1}
	_, err := pipeline.New(reg).Run(t.Context(), capability.Call{Host: host, With: with(`search("x") -> l; fetch(l)`)})
	if err == nil || !strings.Contains(err.Error(), "call 2 of the chain, fetch: its turn comes too late") || fault.HintOf(err) != "wait" {
		t.Error(err)
	}
	if len(*calls) != 1 || len(host.asked) != 1 || host.asked[0] != `search{"query":"x"}` {
		t.Errorf("%d calls were made, and asked for were %v", len(*calls), host.asked)
	}
}
