package layout_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/layout"
)

// dotText writes a graph for Graphviz, with the sizes and the room that ours has.
func dotText(g layout.Graph) []byte {
	var b bytes.Buffer
	s := layout.DefaultStyle()
	fmt.Fprintf(&b, "digraph g { rankdir=LR; ranksep=%.3f; nodesep=%.3f; node [shape=box,fixedsize=true,width=%.3f,height=%.3f,label=\"\"];\n",
		s.Rank/72, s.Node/72, nodeW/72, nodeH/72)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s;\n", n.ID)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "%s -> %s;\n", e.From, e.To)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// dot has Graphviz draw a graph, and says how long the whole process took.
func dot(t testing.TB, g layout.Graph) (plain []byte, took time.Duration) {
	t.Helper()
	cmd := exec.Command("dot", "-Tplain")
	cmd.Stdin = bytes.NewReader(dotText(g))
	start := time.Now()
	out, err := cmd.Output()
	took = time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	return out, took
}

// plainOf reads what Graphviz drew.
func plainOf(t testing.TB, g layout.Graph) figure {
	t.Helper()
	out, _ := dot(t, g)
	byEnds := map[string][][]layout.Point{}
	var w, h float64
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		switch fields[0] {
		case "graph":
			w, h = inch(fields[2]), inch(fields[3])
		case "edge":
			n, _ := strconv.Atoi(fields[3])
			var points []layout.Point
			for i := range n {
				points = append(points, layout.Point{X: inch(fields[4+2*i]), Y: inch(fields[5+2*i])})
			}
			key := fields[1] + " " + fields[2]
			byEnds[key] = append(byEnds[key], points)
		}
	}
	paths := make([][]layout.Point, len(g.Edges))
	for i, e := range g.Edges {
		key := e.From + " " + e.To
		paths[i] = byEnds[key][0]
		byEnds[key] = byEnds[key][1:]
	}
	return measure(g, paths, w, h)
}

func inch(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v * 72
}

// TestBesideDot prints how our drawings read beside those of Graphviz, where it is installed, and fails
// when they read much worse.
func TestBesideDot(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil || testing.Short() || raced {
		t.Skip("dot is not installed, or it would take long")
	}
	for _, c := range []struct {
		name string
		g    layout.Graph
	}{
		{"tree 85", tree(85)}, {"pipelines 6x8", pipelines(6, 8)},
		{"layered 20", layered(20, 4, 1)}, {"layered 40", layered(40, 5, 2)}, {"layered 100", layered(100, 8, 3)},
		{"layered 200", layered(200, 12, 4)}, {"layered 400", layered(400, 16, 5)},
	} {
		ours := own(c.g)
		theirs := plainOf(t, c.g)
		t.Logf("%-14s crossings %5d / %5d  length %7.0f / %7.0f  straight %3d / %3d  size %5.0fx%-5.0f / %5.0fx%-5.0f",
			c.name, ours.crossings, theirs.crossings, ours.length, theirs.length, ours.straight, theirs.straight, ours.w, ours.h, theirs.w, theirs.h)
		if float64(ours.crossings) > 1.5*float64(theirs.crossings)+10 {
			t.Errorf("%s: %d crossings, dot has %d", c.name, ours.crossings, theirs.crossings)
		}
		if ours.length > 1.5*theirs.length {
			t.Errorf("%s: edges are %.0f long, dot's %.0f", c.name, ours.length, theirs.length)
		}
	}
}
