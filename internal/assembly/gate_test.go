package assembly_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

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
