package layout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cairn-plan/cairn/internal/layout"
)

func draw(g layout.Graph) layout.Drawing { return layout.Draw(g, layout.DefaultStyle()) }

// check looks for what must hold of every drawing: nothing overlaps, members are inside their groups and
// all else is outside, edges begin and end at their boxes, and everything is on the sheet.
func check(t *testing.T, g layout.Graph, d layout.Drawing) {
	t.Helper()
	inside := map[string]map[string]bool{} // group -> all that it holds
	around := map[string]string{}
	for _, gr := range g.Groups {
		around[gr.ID] = gr.Group
		inside[gr.ID] = map[string]bool{}
	}
	hold := func(id, group string) {
		for n := 0; group != "" && n < 100; n++ {
			if inside[group] != nil {
				inside[group][id] = true
			}
			group = around[group]
		}
	}
	boxes := map[string]layout.Box{}
	for i, n := range g.Nodes {
		boxes[n.ID] = d.Nodes[i]
		hold(n.ID, n.Group)
		if b := d.Nodes[i]; b.W != n.W || b.H != n.H || b.X < -0.01 || b.Y < -0.01 || b.X+b.W > d.W+0.01 || b.Y+b.H > d.H+0.01 {
			t.Fatalf("%s is at %+v on a sheet of %.0f x %.0f", n.ID, b, d.W, d.H)
		}
	}
	for i, gr := range g.Groups {
		boxes[gr.ID] = d.Groups[i]
		hold(gr.ID, gr.Group)
	}
	for i, n := range g.Nodes {
		for j, m := range g.Nodes[:i] {
			if overlap(d.Nodes[i], d.Nodes[j]) {
				t.Fatalf("%s %+v is over %s %+v", n.ID, d.Nodes[i], m.ID, d.Nodes[j])
			}
		}
		for j, gr := range g.Groups {
			if in := inside[gr.ID][n.ID]; in && !within(d.Groups[j], d.Nodes[i]) || !in && overlap(d.Groups[j], d.Nodes[i]) {
				t.Fatalf("%s %+v, of %s: %v, which is at %+v", n.ID, d.Nodes[i], gr.ID, in, d.Groups[j])
			}
		}
	}
	for i, a := range g.Groups {
		for j, b := range g.Groups {
			if in := inside[b.ID][a.ID]; in && !within(d.Groups[j], d.Groups[i]) || i < j && !in && !inside[a.ID][b.ID] && overlap(d.Groups[i], d.Groups[j]) {
				t.Fatalf("groups %s %+v and %s %+v", a.ID, d.Groups[i], b.ID, d.Groups[j])
			}
		}
	}
	for i, e := range g.Edges {
		ps := d.Edges[i].Points
		if len(ps) == 0 {
			continue
		}
		if len(ps)%3 != 1 || !touches(boxes[e.From], ps[0]) || !touches(boxes[e.To], ps[len(ps)-1]) {
			t.Fatalf("%s -> %s goes %v, from %+v to %+v", e.From, e.To, ps, boxes[e.From], boxes[e.To])
		}
	}
}

func overlap(a, b layout.Box) bool {
	return a.X < b.X+b.W-0.01 && b.X < a.X+a.W-0.01 && a.Y < b.Y+b.H-0.01 && b.Y < a.Y+a.H-0.01
}

func within(outer, b layout.Box) bool {
	return b.X >= outer.X && b.Y >= outer.Y && b.X+b.W <= outer.X+outer.W && b.Y+b.H <= outer.Y+outer.H
}

// touches reports whether a point is on the left or the right side of a box.
func touches(b layout.Box, p layout.Point) bool {
	near := func(a, b float64) bool { return a-b < 0.01 && b-a < 0.01 }
	return (near(p.X, b.X) || near(p.X, b.X+b.W)) && p.Y >= b.Y-0.01 && p.Y <= b.Y+b.H+0.01
}

func TestDrawingsHold(t *testing.T) {
	for name, g := range map[string]layout.Graph{
		"empty": {}, "one": {Nodes: []layout.Node{node(0)}}, "tree": tree(40), "pipelines": pipelines(4, 6),
		"layered": layered(120, 7, 9), "grouped": grouped(8, 1), "only a group": {Groups: []layout.Group{{ID: "g", Head: 20}}},
		"apart": {Nodes: []layout.Node{node(0), node(1), node(2)}},
	} {
		t.Run(name, func(t *testing.T) { check(t, g, draw(g)) })
	}
}

func TestSameGraphSameDrawing(t *testing.T) {
	for range 3 {
		if !reflect.DeepEqual(draw(layered(80, 6, 3)), draw(layered(80, 6, 3))) || !reflect.DeepEqual(draw(grouped(6, 3)), draw(grouped(6, 3))) {
			t.Fatal("two drawings of one graph differ")
		}
	}
}

func TestEdgesLeadToTheRight(t *testing.T) {
	g := layered(100, 8, 4)
	d := draw(g)
	for i, e := range g.Edges {
		if ps := d.Edges[i].Points; ps[0].X >= ps[len(ps)-1].X {
			t.Errorf("%s -> %s leads back", e.From, e.To)
		}
	}
}

// A route that goes back is turned round for the ranks only; what tasks need decides.
func TestWeakEdgesGiveWay(t *testing.T) {
	g := layout.Graph{Nodes: []layout.Node{node(0), node(1), node(2), node(3)}, Edges: []layout.Edge{
		{From: "n2", To: "n0", Weak: true}, edge(0, 1), edge(1, 2), {From: "n1", To: "n3", Weak: true},
	}}
	d := draw(g)
	check(t, g, d)
	if !(d.Nodes[0].X < d.Nodes[1].X && d.Nodes[1].X < d.Nodes[2].X && d.Nodes[1].X < d.Nodes[3].X) {
		t.Errorf("ranks: %+v", d.Nodes)
	}
	if back := d.Edges[0].Points; back[0].X <= back[len(back)-1].X {
		t.Errorf("the route back goes %v", back)
	}
}

func TestCirclesAndLoopsAreDrawn(t *testing.T) {
	g := layout.Graph{Nodes: []layout.Node{node(0), node(1), node(2)}, Edges: []layout.Edge{edge(0, 1), edge(1, 2), edge(2, 0), edge(1, 1)}}
	d := draw(g)
	check(t, g, d)
	for i, e := range d.Edges {
		if len(e.Points) == 0 {
			t.Errorf("edge %d is not drawn", i)
		}
	}
}

func TestLongEdgesAreStraight(t *testing.T) {
	g := pipelines(1, 8)
	g.Edges = append(g.Edges, edge(0, 9))
	d := draw(g)
	long := d.Edges[len(d.Edges)-1].Points
	heights := map[float64]bool{}
	for _, p := range long {
		heights[p.Y] = true
	}
	if len(heights) > 3 { // where it leaves, passes and arrives
		t.Errorf("the edge past all ranks goes %v", long)
	}
}

func TestRankHints(t *testing.T) {
	a, b := node(0), node(1)
	b.Rank = 2
	d := draw(layout.Graph{Nodes: []layout.Node{a, b, node(2), node(3)}, Edges: []layout.Edge{edge(0, 2), edge(2, 3), edge(0, 1)}})
	if d.Nodes[1].X != d.Nodes[3].X {
		t.Errorf("asked for rank 2: %+v", d.Nodes)
	}
}

func TestOddInputIsDrawnAsFarAsItGoes(t *testing.T) {
	in := node(1)
	in.Group = "a"
	lost := node(2)
	lost.Group = "nowhere"
	g := layout.Graph{
		Nodes:  []layout.Node{node(0), in, lost, node(0)},
		Groups: []layout.Group{{ID: "a", Group: "b"}, {ID: "b", Group: "a"}, {ID: "a"}},
		Edges:  []layout.Edge{{From: "n0", To: "nobody"}, {From: "a", To: "n1"}, {From: "n0", To: "n1", Label: 50}},
	}
	d := draw(g)
	if len(d.Edges[0].Points) != 0 || len(d.Edges[1].Points) != 0 || len(d.Edges[2].Points) == 0 {
		t.Errorf("%+v", d.Edges)
	}
}

func TestLabelsGetRoom(t *testing.T) {
	g := layout.Graph{Nodes: []layout.Node{node(0), node(1)}, Edges: []layout.Edge{{From: "n0", To: "n1", Label: 200}}}
	d := draw(g)
	if room := d.Nodes[1].X - d.Nodes[0].X - nodeW; room < 200 {
		t.Errorf("%.0f between the nodes", room)
	}
	if at := d.Edges[0].Label.X; at < d.Nodes[0].X+nodeW || at > d.Nodes[1].X {
		t.Errorf("the label is at %.0f", at)
	}
}

// TestRandomGraphs draws graphs of all kinds, groups in groups and edges in circles among them.
func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(150) {
		g := anything(rand.New(rand.NewPCG(seed, 3)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, g, draw(g)) })
	}
}

func anything(r *rand.Rand) layout.Graph {
	var g layout.Graph
	var ids []string
	for i := range r.IntN(6) {
		gr := layout.Group{ID: fmt.Sprint("g", i), Head: float64(r.IntN(30))}
		if i > 0 && r.IntN(2) == 0 {
			gr.Group = fmt.Sprint("g", r.IntN(i))
		}
		g.Groups = append(g.Groups, gr)
		ids = append(ids, gr.ID)
	}
	for i := range 1 + r.IntN(30) {
		n := layout.Node{ID: fmt.Sprint("n", i), W: 20 + float64(r.IntN(150)), H: 10 + float64(r.IntN(60)), Point: r.IntN(4) == 0, Rank: max(r.IntN(20)-16, 0)}
		if len(g.Groups) > 0 && r.IntN(3) > 0 {
			n.Group = g.Groups[r.IntN(len(g.Groups))].ID
		}
		g.Nodes = append(g.Nodes, n)
		ids = append(ids, n.ID)
	}
	for range r.IntN(50) {
		g.Edges = append(g.Edges, layout.Edge{From: ids[r.IntN(len(ids))], To: ids[r.IntN(len(ids))], Weak: r.IntN(3) == 0, Label: float64(r.IntN(2) * r.IntN(60))})
	}
	return g
}

// Where long edges would need more vertices than a drawing is given, some go straight over what is between.
func TestVeryLongEdgesAreDrawnAllTheSame(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("takes long")
	}
	g := pipelines(1, 1200)
	for i := range 300 {
		g.Edges = append(g.Edges, edge(0, 1201-i))
	}
	d := draw(g)
	for i := range d.Edges {
		if len(d.Edges[i].Points) < 4 {
			t.Fatalf("edge %d is not drawn", i)
		}
	}
}
