package view

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// nested has groups in groups, fan-outs of groups, an empty subplan, and routes of all kinds.
const nested = `
plan: nested
title: 'Say "hello" & <goodbye> \ #1 한글 🪨'
tasks:
  - {id: top, uses: shell, title: 'a "b" [c] {d} (e) | f ; end'}
  - id: outer
    needs: [top]
    title: Outer
    subplan:
      tasks:
        - {id: a, uses: shell, next: {failure: [b]}}
        - {id: b, uses: shell}
        - id: inner
          needs: [a]
          subplan: {tasks: [{id: x, uses: noop, needs: [top]}, {id: y, uses: noop, needs: [x]}]}
  - {id: many, each: "${top.list}", needs: [top], title: Each, subplan: {tasks: [{id: one, uses: noop}, {id: two, uses: noop, needs: [one]}]}}
  - {id: end, kind: milestone, needs: [outer, many]}
`

func graphs(t *testing.T) map[string]Graph {
	t.Helper()
	n := sample(t, nested)
	n.assess["many"] = items(2)
	a, w := accepted(t), fanned(t, 40, 20)
	return map[string]Graph{"feature": GraphOf(read(t, feature), nil), "feature-run": GraphOf(a.st.Plan, a.st), "nested": GraphOf(read(t, nested), nil),
		"nested-run": GraphOf(n.st.Plan, n.start().run(0).st), "wide-run": GraphOf(w.st.Plan, w.st)}
}

func TestGraph(t *testing.T) {
	for name, g := range graphs(t) {
		golden(t, "graph-"+name+".mermaid", g.Mermaid())
		golden(t, "graph-"+name+".dot", g.Dot())
	}
	raw, err := json.MarshalIndent(GraphOf(read(t, nested), nil), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "graph-nested.json", string(raw)+"\n")
}

// Graphviz itself reads what we write, and draws every node and edge.
func TestDotIsDot(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed: the syntax is held by golden files alone")
	}
	for name, g := range graphs(t) {
		cmd := exec.Command(dot, "-Tplain")
		cmd.Stdin = strings.NewReader(g.Dot())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v %s", name, err, stderr.String())
		}
		count := map[string]int{}
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(line, " ")
			count[word]++
		}
		if count["node"] != len(g.Nodes) || count["edge"] != len(g.Edges) {
			t.Errorf("%s: %d nodes of %d, %d edges of %d", name, count["node"], len(g.Nodes), count["edge"], len(g.Edges))
		}
	}
}

// The same plan gives the same drawing, and no edge ends in nothing.
func TestGraphIsStable(t *testing.T) {
	first := graphs(t)
	for name, g := range graphs(t) {
		if g.Mermaid() != first[name].Mermaid() || g.Dot() != first[name].Dot() {
			t.Errorf("%s differs when it is drawn again", name)
		}
		names := g.names()
		for _, e := range g.Edges {
			if names[e.From] == "" || names[e.To] == "" {
				t.Errorf("%s: %v ends in nothing", name, e)
			}
		}
	}
}

func TestGraphOfATask(t *testing.T) {
	g := GraphOf(&plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Needs: []string{"gone"}, Failure: []plan.FailureMode{{Name: "x", Recover: "ask ann"}}}}}, nil)
	if len(g.Nodes) != 1 || len(g.Edges) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestEveryStatusHasALook(t *testing.T) {
	all := []lifecycle.Status{lifecycle.Pending, lifecycle.Ready, lifecycle.Running, lifecycle.Waiting, lifecycle.Completed, lifecycle.FailedTask,
		lifecycle.Skipped, lifecycle.Abandoned, lifecycle.RolledBack, Blocked}
	for _, s := range all {
		if looks[s].glyph == "" || tint(s) == "" {
			t.Errorf("%s has no look", s)
		}
		var c counts
		c.add(lifecycle.Task{Status: s})
		if got, _ := json.Marshal(c.words(true)); string(got) == `""` {
			t.Errorf("%s is not counted", s)
		}
	}
}
