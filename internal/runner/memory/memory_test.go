package memory_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
	runner "github.com/cairn-plan/cairn/internal/runner/memory"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a memory that knows one fact, and the capabilities that use it.
func desk(t *testing.T) (*memory.Memory, *capability.Registry) {
	t.Helper()
	s, err := sqlite.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	m := &memory.Memory{Store: s, Now: func() time.Time { return now }, Project: ".."}
	known := memory.Fact{Key: "deploy.region", Value: memory.Value("eu-west-1"), Place: m.Seen("")[0], Confidence: 0.5}
	if _, err := m.Set(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	reg := capability.NewRegistry()
	for _, e := range runner.All(func() *memory.Memory { return m }) {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	return m, reg
}

func TestContracts(t *testing.T) {
	for _, c := range []capability.Contract{runner.Get(), runner.Set(), runner.Search(), runner.Forget()} {
		t.Run(c.ID, func(t *testing.T) {
			_, reg := desk(t)
			capabilitytest.Run(t, reg, c, capabilitytest.World{})
		})
	}
}

// do makes one call as task t of plan p would.
func do(t *testing.T, reg *capability.Registry, id, key, with string) (map[string]json.RawMessage, error) {
	t.Helper()
	_, r, ok := reg.Lookup(id)
	if !ok {
		t.Fatal(id)
	}
	res, err := r.Run(t.Context(), capability.Call{Plan: "p", Task: "t", Execution: 2, Attempt: 1, Key: digest.Sum([]byte(key)), With: json.RawMessage(with)})
	return res.Outputs, err
}

// A retry, with the same key, does not write again; another execution, with a new one, does. So it is with forgetting.
func TestTriedAgain(t *testing.T) {
	m, reg := desk(t)
	const fact = `{"key": "count", "value": 1}`
	for i, key := range []string{"one", "one", "two", "one"} {
		if _, err := do(t, reg, "memory.set", key, fact); err != nil {
			t.Fatal(i, err)
		}
	}
	for i := range 2 {
		if _, err := do(t, reg, "memory.forget", "three", `{"key": "count", "why": "wrong"}`); err != nil {
			t.Fatal(i, err)
		}
	}
	all, err := m.History(t.Context(), "count", m.Seen("")[0])
	if err != nil || len(all) != 3 || !all[0].Forgotten || all[1].Forgotten {
		t.Errorf("%+v, %v", all, err)
	}
	if s := all[1].Source; s.Plan != "p" || s.Task != "t" || s.Execution != 2 || all[1].Author != "plan:p" {
		t.Errorf("%+v", all[1])
	}
	if _, err := do(t, reg, "memory.forget", "four", `{"key": "count", "why": "wrong"}`); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func TestReading(t *testing.T) {
	_, reg := desk(t)
	out, err := do(t, reg, "memory.get", "", `{"key": "deploy.region"}`)
	if err != nil || string(out["value"]) != `"eu-west-1"` || string(out["found"]) != "true" || string(out["confidence"]) != "0.5" {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := do(t, reg, "memory.get", "", `{"key": "deploy.regoin"}`); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	out, err = do(t, reg, "memory.get", "", `{"key": "deploy.regoin", "default": null}`)
	if err != nil || string(out["found"]) != "false" {
		t.Errorf("%s, %v", out, err)
	}
	out, err = do(t, reg, "memory.search", "", `{"text": "Which region?"}`)
	if err != nil || string(out["count"]) != "1" {
		t.Errorf("%s, %v", out, err)
	}
}

func TestPlanSeesItsOwn(t *testing.T) {
	m, reg := desk(t)
	if _, err := do(t, reg, "memory.set", "k", `{"key": "deploy.region", "value": "here", "scope": "plan", "expires": "1d", "confidence": 0.4, "source": "Ann said so"}`); err != nil {
		t.Fatal(err)
	}
	a, err := m.Get(t.Context(), "deploy.region", m.Seen("p"))
	if err != nil || a.Scope != memory.Plan || a.Confidence != 0.4 || a.Source.Note != "Ann said so" || a.Expires.Sub(m.Now()) != 24*time.Hour {
		t.Errorf("%+v, %v", a, err)
	}
	for _, with := range []string{
		`{"key": "a b", "value": 1}`, `{"key": "k", "value": 1, "scope": "world"}`, `{"key": "k", "value": 1, "expires": "soon"}`, `{"key": "k"}`,
	} {
		if _, err := do(t, reg, "memory.set", "k", with); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", with, err)
		}
	}
	if _, err := do(t, reg, "memory.forget", "k", `{"key": "k", "why": "x", "scope": "world"}`); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestNoHome(t *testing.T) {
	for _, e := range runner.All(func() *memory.Memory { return nil }) {
		if _, err := e.Runner.Run(t.Context(), capability.Call{With: e.Contract.Examples[0].With}); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
	}
}
