//go:build unix

package assembly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/plan"
)

const learning = `
plan: learning
tasks:
  - {id: read, uses: noop, with: {outputs: {short: 1, long: LONG}}, outputs: {long: {type: text, retention: 1h}, short: {type: number}}}
  - {id: note, needs: [read], uses: memory.set, with: {key: size, value: "${read.short}"}}
`

// What a fact comes from is found in the journal, and no longer stands once its artifact was dropped.
func TestSourcesOfFacts(t *testing.T) {
	text := strings.Replace(learning, "LONG", strings.Repeat("much ", 2000), 1)
	dir := t.TempDir()
	now := time.Now()
	h, err := assembly.Open(t.Context(), assembly.Options{Home: dir + "/.cairn", Root: dir, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, faults := plan.Read("plan.yaml", []byte(text), plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	name, err := h.Engine.Submit(t.Context(), p, "plan.yaml", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	drive(t, h, name)
	m := h.Memory
	a, err := m.Get(t.Context(), "size", m.Seen(""))
	if err != nil || string(a.Value) != "1" || a.Source.String() != "learning/note" || a.Of != ".." || a.Stale != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	for source, code := range map[string]fault.Code{
		"learning/read": "", "learning/read/long": "", "learning/read/short": "", "learning#3": "", "a note in words": "", "https://example.com/x": "",
		"nowhere/read": fault.NotFound, "learning/nobody": fault.NotFound, "learning/read/nothing": fault.NotFound, "learning#999": fault.NotFound,
		"learning#99999999999999999999": fault.Invalid, "nowhere#1": fault.NotFound,
	} {
		src, err := m.Source(t.Context(), source)
		if code == "" && (err != nil || src.String() != source) || code != "" && !fault.Is(err, code) {
			t.Errorf("%s is %+v, %v", source, src, err)
		}
	}
	long, err := m.Source(t.Context(), "learning/read/long")
	if err != nil {
		t.Fatal(err)
	}
	if why, err := m.Sources.Outdated(t.Context(), long); err != nil || why != "" {
		t.Errorf("outdated from the start: %q, %v", why, err)
	}
	now = now.Add(2 * time.Hour)
	if dropped, err := h.Engine.Expire(t.Context(), false); err != nil || len(dropped) != 1 {
		t.Fatal(dropped, err)
	}
	for want, src := range map[string]memory.Source{
		"artifact learning/read/long was dropped":      long,
		"task gone is no longer part of plan learning": {Plan: "learning", Task: "gone", Execution: 1},
		"plan nowhere is not in this home":             {Plan: "nowhere", Task: "t", Execution: 1},
		"task learning/read was run again":             {Plan: "learning", Task: "read"},
		"":                                             {Plan: "learning", Record: 2},
	} {
		if why, err := m.Sources.Outdated(t.Context(), src); err != nil || why != want {
			t.Errorf("%s is outdated: %q, %v", src, why, err)
		}
	}
}
