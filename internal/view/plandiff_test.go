package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

func TestPlanDiffIsKeyedByTask(t *testing.T) {
	a := &plan.Plan{Name: "p", Title: "Old", Tasks: []plan.Task{{ID: "a", Uses: "shell", Run: "one", Timeout: 5}, {ID: "gone", Uses: "noop"},
		{ID: "g", Subplan: &plan.Subplan{Tasks: []plan.Task{{ID: "x", Uses: "shell", Run: "one"}}}}}}
	b := &plan.Plan{Name: "p", Title: "New", Tasks: []plan.Task{{ID: "new"},
		{ID: "g", Subplan: &plan.Subplan{Tasks: []plan.Task{{ID: "x", Uses: "shell", Run: "two"}}}}, {ID: "a", Uses: "shell", Run: "one", Needs: []string{"new"}}}}
	edits, err := PlanDiff(a, b)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(edits)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"op":"add","path":"/tasks/a/needs","value":["new"]},{"op":"remove","path":"/tasks/a/timeout"},` +
		`{"op":"replace","path":"/tasks/g/subplan/tasks/x/run","value":"two"},{"op":"remove","path":"/tasks/gone"},{"op":"add","path":"/tasks/new","value":{}},` +
		`{"op":"replace","path":"/title","value":"New"}]`
	if string(raw) != want {
		t.Errorf("\n got %s\nwant %s", raw, want)
	}
	var text strings.Builder
	if err := PlanDiffText(&text, edits, false); err != nil {
		t.Fatal(err)
	}
	shown := `~ a
+   needs: ["new"]
-   timeout: "5ns"
~ g/x
-   run: "one"
+   run: "two"
- gone  noop
+ new
- title: "Old"
+ title: "New"
`
	if text.String() != shown {
		t.Errorf("%s", text.String())
	}
	text.Reset()
	if err := PlanDiffText(&text, nil, true); err != nil || text.String() != "they are the same\n" {
		t.Errorf("%s", text.String())
	}
}

func TestImpactText(t *testing.T) {
	var b strings.Builder
	m := lifecycle.Impact{Rev: 3, Kept: []string{"a"}, Again: []lifecycle.Rerun{{Task: "b", Why: "its work changed", Was: lifecycle.Completed, Held: true}},
		Changed: []lifecycle.Rerun{{Task: "c", Why: "its work changed", Was: lifecycle.Pending}}, Dropped: []lifecycle.Drop{{Task: "d", Status: lifecycle.Completed}}, Added: []string{"e"}}
	if err := ImpactText(&b, "p", m, Again{Took: 2e9, Cost: plan.Money{Micro: 1_500_000, Currency: "USD"}}); err != nil {
		t.Fatal(err)
	}
	want := `revision 3 of plan p
  kept       1  a
  run again  1  b (its work changed; it must not run twice, so a person is asked first)
  changed    1  c (its work changed)
  added      1  e
  dropped    1  d (completed)
what runs again took 2s and 1.5 USD
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := ImpactText(&b, "p", lifecycle.Impact{Rev: 2}, Again{}); err != nil || !strings.Contains(b.String(), "nothing that was done is touched") {
		t.Errorf("%s", b.String())
	}
}
