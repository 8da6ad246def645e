package docs_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

// The graphs on the pages are what `cairn graph --as svg` draws of a run under the real law.
func TestGraphsAreWhatCairnDraws(t *testing.T) {
	for _, g := range []struct {
		file, source string
		steps        func(*run)
	}{
		{"first-graph.svg", "first", midway},
		{"routes-graph.svg", "routes", routed},
		{"subplan-graph.svg", "subplan", washed},
	} {
		p := exampleOf(t, g.source)
		r := submitted(t, p, time.Date(2026, 1, 2, 14, 5, 0, 0, time.UTC))
		r.take(0, lifecycle.PlanStarted, "", &lifecycle.Session{Epoch: 1})
		g.steps(r)
		got := []byte(view.GraphOf(p, r.state).SVG(view.SVGOptions{}))
		if *update {
			if err := os.WriteFile(g.file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(g.file)
		if err != nil {
			t.Fatal(err)
		}
		if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what cairn draws; look at what changed, then: go test ./docs -update", g.file)
		}
	}
}

func exampleOf(t *testing.T, name string) *plan.Plan {
	t.Helper()
	source := "../examples/" + name + ".yaml"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	caps, err := assembly.Capabilities(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, faults := plan.Read(source, text, plan.Options{Capabilities: caps})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// midway is the first example while the folders are counted.
func midway(r *run) {
	items := 6
	r.take(0, lifecycle.TaskEnded, "folders", ended(time.Second))
	r.take(0, lifecycle.TaskAssessed, "count", &lifecycle.Assessed{Run: true, Count: &items})
	r.take(0, lifecycle.TaskEnded, "count-1", ended(time.Second))
	r.take(0, lifecycle.TaskEnded, "endings", ended(time.Second))
}

// routed is the example of routes, up to where the short way was not taken.
func routed(r *run) {
	r.take(0, lifecycle.TaskEnded, "probe", &lifecycle.Ended{Outcome: lifecycle.Failed, Error: "the short way is closed"})
	r.take(0, lifecycle.TaskEnded, "widen", ended(time.Second))
	r.take(0, lifecycle.TaskAssessed, "shortcut", &lifecycle.Assessed{Why: "its condition does not hold"})
}

// washed is the example of subplans, with one dish washed and another being washed while it is dried.
func washed(r *run) {
	items := 3
	r.take(0, lifecycle.TaskEnded, "table", ended(time.Second))
	r.take(0, lifecycle.TaskAssessed, "dishes", &lifecycle.Assessed{Run: true, Count: &items})
	r.take(0, lifecycle.TaskEnded, "dishes-1/wash", ended(time.Second))
}
