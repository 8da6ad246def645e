package view

import (
	"slices"
	"strings"
	"testing"
)

func TestRisks(t *testing.T) {
	p := read(t, `
plan: risky
tasks:
  - {id: look, uses: shell, run: ls}
  - {id: clean, uses: shell, run: rm -rf build}
  - {id: same, uses: shell, with: {run: rm -rf build}}
  - {id: again, uses: shell, run: rm -rf build, repeat: repeatable}
  - {id: odd, uses: shell, with: {run: [rm, -rf, build]}}
  - {id: gone, uses: http.request, with: {method: DELETE, url: "https://example.org/a"}}
  - {id: mine, uses: my.tool, with: {run: rm -rf build}}
  - id: inner
    subplan:
      tasks:
        - {id: drop, uses: sql.exec, with: {sql: DROP TABLE users}}
`)
	var got []string
	for _, r := range Risks(p) {
		if s := r.Task + " " + r.Pattern; !slices.Contains(got, s) {
			got = append(got, s)
		}
		if r.Once == (r.Task == "again") {
			t.Errorf("%s: once is %v", r.Task, r.Once)
		}
	}
	if len(got) != 5 || got[0] != "clean rm-recursive" || got[1] != "same rm-recursive" || got[2] != "again rm-recursive" ||
		!strings.HasPrefix(got[3], "gone ") || !strings.HasPrefix(got[4], "inner/drop ") {
		t.Error(got)
	}
	var b strings.Builder
	if err := RiskLines(&b, "plan.yaml", Risks(p)[:1], true); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1mplan.yaml: \x1b[0m"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("%q", b.String())
	}
	m := submit(t, p)
	raw, err := PlanJSON(m.st)
	if err != nil || !strings.Contains(string(raw), `"pattern":"rm-recursive"`) {
		t.Error(err, string(raw))
	}
	b.Reset()
	if err := TaskText(&b, m.st, m.records, "clean"); err != nil || !strings.Contains(b.String(), "Risks\n  critical  `rm -rf build` deletes") {
		t.Error(err, b.String())
	}
}
