//go:build unix

package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// A plan that one binary began is carried on by another, with other versions of what it uses.
func TestAnotherBinaryGoesOn(t *testing.T) {
	dir := t.TempDir()
	open := func(version string) *assembly.House {
		h, err := assembly.Open(t.Context(), assembly.Options{Home: filepath.Join(dir, ".cairn"), Root: dir, Version: version,
			Extend: func(r *capability.Registry) error {
				c := capability.Contract{ID: "greet", Version: version, Summary: "Greet", Repeat: capability.Pure, Inputs: []byte(`{"type":"object"}`), Outputs: []byte(`{"type":"object"}`)}
				return r.Add(c, capability.RunnerFunc(func(context.Context, capability.Call) (capability.Result, error) {
					return capability.Result{Outputs: map[string]json.RawMessage{"by": json.RawMessage(strconv.Quote(version))}}, nil
				}))
			}})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open("1.0.0")
	p, faults := plan.Read("p.yaml", []byte("plan: p\ntasks: [{id: a, uses: greet}, {id: g, kind: gate, needs: [a]}, {id: b, uses: greet, needs: [g]}]"), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Engine.Submit(t.Context(), p, "", "person:ann"); err != nil {
		t.Fatal(err)
	}
	finish := func(h *assembly.House, yes string) *lifecycle.State {
		r, err := h.Engine.Open(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := (&local.Driver{Yes: yes}).Drive(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return r.State
	}
	finish(h, "")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = open("2.0.0")
	defer h.Close()
	st := finish(h, "person:ann")
	for task, want := range map[string]string{"a": `"1.0.0"`, "b": `"2.0.0"`} {
		if got, _ := st.Task(task); got.Result == nil || string(got.Result.Outputs["by"]) != want {
			t.Errorf("%s was done by %+v", task, got.Result)
		}
	}
	if err := h.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rep, err := audit.Verify(t.Context(), proof(t, h)); err != nil || st.Phase != lifecycle.PlanCompleted || !rep.Sound() {
		t.Errorf("%s, %v, %+v", st.Phase, err, rep)
	}
}

// Waiting for people costs nothing but the memory of the plan.
func TestTenThousandGatesWait(t *testing.T) {
	dir := t.TempDir()
	h, err := assembly.Open(t.Context(), assembly.Options{Home: filepath.Join(dir, ".cairn"), Root: dir, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const gates = 10_000
	var text strings.Builder
	text.WriteString("plan: wide\ntasks:\n")
	for i := range gates {
		fmt.Fprintf(&text, "  - {id: g%d, kind: gate, approve: {role: lead, within: 24h, escalate: owner}}\n", i)
	}
	p, faults := plan.Read("wide.yaml", []byte(text.String()), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	name, err := h.Engine.Submit(t.Context(), p, "", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, routines := memory(), runtime.NumGoroutine()
	r, err := h.Engine.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{}).Drive(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	waiting := 0
	for task := range r.State.Tasks() {
		if task.Wait == lifecycle.ForDecision {
			waiting++
		}
	}
	if more := runtime.NumGoroutine() - routines; waiting != gates || more > 0 {
		t.Errorf("%d gates wait, with %d goroutines more", waiting, more)
	}
	took := int64(memory()) - int64(before)
	t.Logf("%d gates wait in %.1f MB", waiting, float64(took)/1e6)
	if took > 50e6 {
		t.Errorf("they take %d bytes", took)
	}
	runtime.KeepAlive(r)
}
