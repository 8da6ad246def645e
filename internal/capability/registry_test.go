package capability_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

var nothing = capability.RunnerFunc(func(context.Context, capability.Call) (capability.Result, error) {
	return capability.Result{}, nil
})

func contract(id string) capability.Contract {
	return capability.Contract{ID: id, Version: "1", Summary: "Greet", Repeat: capability.Pure, Positional: []string{"name"},
		Inputs: json.RawMessage(`{"type": "object", "$defs": {"count": {"type": "integer", "minimum": 1}},
			"properties": {"name": {"type": "string", "minLength": 2}, "times": {"$ref": "#/$defs/count"}, "loud": {"type": "boolean"}},
			"required": ["name"], "dependentRequired": {"loud": ["times"]}, "additionalProperties": false}`),
		Outputs:  json.RawMessage(`{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}`),
		Examples: []capability.Example{{Says: "hello", With: json.RawMessage(`{"name": "Ann"}`)}}}
}

func registry(t *testing.T, ids ...string) *capability.Registry {
	t.Helper()
	r := capability.NewRegistry()
	for _, id := range ids {
		if err := r.Add(contract(id), nothing); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestRegistryFindsWhatWasAdded(t *testing.T) {
	r := registry(t, "b.greet", "a.greet")
	c, run, ok := r.Lookup("a.greet")
	if !ok || c.Summary != "Greet" || run == nil {
		t.Errorf("lookup: %v %v %v", c, run, ok)
	}
	if _, _, ok := r.Lookup("c.greet"); ok {
		t.Error("found what was not added")
	}
	var ids []string
	for _, c := range r.List() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"a.greet", "b.greet"}) {
		t.Errorf("list: %v", ids)
	}
	for id, want := range map[string][2]bool{"a.greet": {true, true}, "sql.query": {false, true}, "sql.qery": {false, false},
		"mcp.files.read": {false, true}, "mcp.files": {false, false}} {
		if got := [2]bool{r.Installed(id), r.Known(id)}; got != want {
			t.Errorf("%s: installed, known = %v", id, got)
		}
	}
	known := r.IDs()
	if !slices.IsSorted(known) || !slices.Contains(known, "b.greet") || !slices.Contains(known, "web.fetch") {
		t.Errorf("ids: %v", known)
	}
	if !slices.IsSorted(capability.Catalogue) {
		t.Error("the catalogue is not sorted")
	}
}

func TestAddRefuses(t *testing.T) {
	r := registry(t, "a.greet")
	if err := r.Add(contract("a.greet"), nothing); !fault.Is(err, fault.Conflict) {
		t.Errorf("twice: %v", err)
	}
	if err := r.Add(contract("b.greet"), nil); err == nil {
		t.Error("added without a runner")
	}
	for want, spoil := range map[string]func(*capability.Contract){
		"noun.verb":                       func(c *capability.Contract) { c.ID = "Greet Me" },
		"no version":                      func(c *capability.Contract) { c.Version = " " },
		"no summary":                      func(c *capability.Contract) { c.Summary = "" },
		`repeat is "often"`:               func(c *capability.Contract) { c.Repeat = "often" },
		`criticality is "bad"`:            func(c *capability.Contract) { c.Criticality = "bad" },
		"cost tier is 9":                  func(c *capability.Contract) { c.CostTier = 9 },
		"below zero":                      func(c *capability.Contract) { c.Estimate = -1 },
		"schema of its inputs is broken":  func(c *capability.Contract) { c.Inputs = json.RawMessage(`{"type": 5}`) },
		"schema of its outputs is broken": func(c *capability.Contract) { c.Outputs = json.RawMessage(`{"type": "array"}`) },
		"is broken: ":                     func(c *capability.Contract) { c.Outputs = json.RawMessage(`{"$ref": "#/$defs/none"}`) },
		`"a" has the type "strin"`: func(c *capability.Contract) {
			c.Outputs = json.RawMessage(`{"type": "object", "properties": {"l": {"type": "array", "items": {"properties": {"a": {"type": "strin"}}}}}}`)
		},
		`it has the type "set"`: func(c *capability.Contract) {
			c.Outputs = json.RawMessage(`{"type": "object", "anyOf": [{"type": ["object", "set"]}]}`)
		},
		`positional input "who"`:       func(c *capability.Contract) { c.Positional = []string{"who"} },
		`example 1: "name" is missing`: func(c *capability.Contract) { c.Examples[0].With = json.RawMessage(`{}`) },
	} {
		c := contract("c.greet")
		spoil(&c)
		if err := r.Add(c, nothing); err == nil || !strings.Contains(err.Error(), want) || fault.HintOf(err) == "" {
			t.Errorf("%v, want %q", err, want)
		}
		if c.Validate() == nil {
			t.Errorf("%s: valid", want)
		}
	}
	if len(r.List()) != 1 {
		t.Error("something refused was added")
	}
}

func TestFits(t *testing.T) {
	r := registry(t, "a.greet")
	for with, want := range map[string][]string{
		`{"name": "Ann", "times": 2}`:                      nil,
		`{"name": "${who.name}"}`:                          nil,
		`{"name": "${who.name}", "times": 0}`:              {`"times": minimum: 0`},
		`{"nmae": "Ann"}`:                                  {`"name" is missing`, `"nmae" is not among them; did you mean "name"?`},
		`{"name": "Ann", "colour": 1}`:                     {`"colour" is not among them: they are loud, name, times`},
		`{"name": 5, "times": "x"}`:                        {`"name": type: 5 has type "integer", want "string"`, `"times": type: x has type "string", want "integer"`},
		`{"name": "Ann", "loud": true}`:                    {`dependentRequired`},
		`{"name": "Ann", "loud": true, "times": "${a.b}"}`: nil,
		`[]`:   {"must be an object"},
		`nul`:  {"must be an object"},
		`null`: {"must be an object"},
		``:     {`"name" is missing`},
	} {
		got := r.Fits("a.greet", json.RawMessage(with))
		same := len(got) == len(want)
		for i := range want {
			same = same && strings.Contains(got[i], want[i])
		}
		if !same {
			t.Errorf("%s: %q, want %q", with, got, want)
		}
	}
	if got := r.Fits("sql.query", json.RawMessage(`{"x": 1}`)); got != nil {
		t.Errorf("judged what is not installed: %v", got)
	}
}

func TestCheck(t *testing.T) {
	r := registry(t, "a.greet")
	if err := r.Check("a.greet", json.RawMessage(`{"name": "Ann"}`)); err != nil {
		t.Error(err)
	}
	if err := r.Check("a.greet", json.RawMessage(`{"name": 1, "x": 2}`)); !fault.Is(err, fault.Invalid) ||
		!strings.Contains(err.Error(), `"name": type`) || !strings.Contains(err.Error(), `"x" is not`) || !strings.Contains(fault.HintOf(err), "show a.greet") {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if err := r.Check("a.greet", json.RawMessage(`{"times": "${a.b}", "name": "Ann"}`)); err == nil {
		t.Error("a reference that nobody resolved was let through")
	}
	if err := r.Check("b.greet", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown: %v", err)
	}
	s := r.Snapshot()
	if err := s.CheckOutputs("a.greet", map[string]json.RawMessage{"text": json.RawMessage(`"hi"`), "more": json.RawMessage(`1`)}); err != nil {
		t.Error(err)
	}
	if err := s.CheckOutputs("a.greet", map[string]json.RawMessage{"text": json.RawMessage(`1`)}); err == nil {
		t.Error("outputs that were not promised went through")
	}
	if err := s.CheckOutputs("a.greet", map[string]json.RawMessage{"text": json.RawMessage(`{`)}); err == nil {
		t.Error("broken outputs went through")
	}
	if err := s.CheckOutputs("b.greet", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown: %v", err)
	}
}

func TestReloadExchangesAtOnce(t *testing.T) {
	r := registry(t, "a.greet")
	load := func(n int) []capability.Entry {
		var all []capability.Entry
		for i := range 5 {
			all = append(all, capability.Entry{Contract: contract(fmt.Sprintf("m%d.t%d", n, i)), Runner: nothing})
		}
		return all
	}
	if err := r.Reload(load(0)); err != nil {
		t.Fatal(err)
	}
	before := r.Snapshot()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := r.Snapshot()
				list := s.List()
				if len(list) != 6 || list[0].ID != "a.greet" || list[1].ID[:2] != list[5].ID[:2] {
					t.Errorf("half a reload was seen: %v", list)
					return
				}
				if got := s.Fits(list[5].ID, json.RawMessage(`{"name": 1}`)); len(got) != 1 {
					t.Errorf("fits: %v", got)
					return
				}
			}
		})
	}
	for n := range 20 {
		if err := r.Reload(load(n % 9)); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
	if len(before.List()) != 6 || !before.Installed("m0.t0") {
		t.Error("a snapshot changed")
	}

	now := r.Snapshot()
	for _, bad := range [][]capability.Entry{
		{{Contract: contract("a.greet"), Runner: nothing}},
		{{Contract: contract("x.y"), Runner: nothing}, {Contract: contract("x.y"), Runner: nothing}},
		{{Contract: contract("X"), Runner: nothing}},
	} {
		if err := r.Reload(bad); err == nil {
			t.Errorf("%v was loaded", bad[0].Contract.ID)
		}
	}
	if !reflect.DeepEqual(r.Snapshot(), now) {
		t.Error("a refused reload changed something")
	}
	if err := r.Add(contract("z.z"), nothing); err != nil || !r.Installed("m1.t0") {
		t.Errorf("adding lost what was loaded: %v", err)
	}
	if err := r.Reload(nil); err != nil || r.Installed("m1.t0") || !r.Installed("z.z") {
		t.Errorf("reloading nothing: %v", err)
	}
}

func TestWorse(t *testing.T) {
	if c := capability.Pure.Worse(capability.Keyed); c != capability.Keyed {
		t.Errorf("%s", c)
	}
	if c := capability.Class("?").Worse("??"); c != capability.Once {
		t.Errorf("unknown classes are %s", c)
	}
}
