package layout_test

import (
	"math"
	"testing"

	"github.com/cairn-plan/cairn/internal/layout"
)

// TestAddingALeafMovesLittle adds one task after another of a plan, and looks at what became of the rest:
// how many of those that stood one above the other in a rank changed places, and how far they moved.
func TestAddingALeafMovesLittle(t *testing.T) {
	for _, c := range []struct {
		name         string
		g            layout.Graph
		swaps, moved float64 // at most: share of pairs, heights of a node
	}{
		{"tree", tree(40), 0.02, 0.5},
		{"pipelines", pipelines(5, 5), 0.01, 1},
		{"layered 30", layered(30, 4, 1), 0.08, 0.7},
		{"layered 60", layered(60, 6, 2), 0.10, 1.2},
	} {
		before := layout.Draw(c.g, layout.DefaultStyle())
		pairs, swaps, moved, n := 0, 0, 0.0, 0
		for after := range c.g.Nodes {
			g := c.g
			leaf := len(g.Nodes)
			g.Nodes = append(g.Nodes[:leaf:leaf], node(leaf))
			g.Edges = append(g.Edges[:len(g.Edges):len(g.Edges)], edge(after, leaf))
			now := layout.Draw(g, layout.DefaultStyle())
			for i, a := range before.Nodes {
				n++
				moved += math.Abs(a.Y-now.Nodes[i].Y) / nodeH
				for j, b := range before.Nodes[:i] {
					if a.X == b.X && now.Nodes[i].X == now.Nodes[j].X {
						pairs++
						if (a.Y < b.Y) != (now.Nodes[i].Y < now.Nodes[j].Y) {
							swaps++
						}
					}
				}
			}
		}
		share, mean := float64(swaps)/float64(pairs), moved/float64(n)
		t.Logf("%-12s %4.1f %% of pairs change places, nodes move by %.2f heights", c.name, 100*share, mean)
		if share > c.swaps || mean > c.moved {
			t.Errorf("%s: %.3f of the pairs changed places, nodes moved by %.2f heights", c.name, share, mean)
		}
	}
}
