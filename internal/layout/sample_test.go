package layout_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cairn-plan/cairn/internal/layout"
)

const (
	nodeW = 120.0
	nodeH = 36.0
)

func node(i int) layout.Node { return layout.Node{ID: fmt.Sprint("n", i), W: nodeW, H: nodeH} }

func edge(a, b int) layout.Edge { return layout.Edge{From: fmt.Sprint("n", a), To: fmt.Sprint("n", b)} }

// layered is a plan of n tasks in stages of about width, each needing one to three tasks of the stages
// shortly before it.
func layered(n, width int, seed uint64) layout.Graph {
	r := rand.New(rand.NewPCG(seed, 1))
	var g layout.Graph
	for i := range n {
		g.Nodes = append(g.Nodes, node(i))
		if i < width {
			continue
		}
		for range 1 + r.IntN(3) {
			back := 1 + r.IntN(width*2)
			if r.IntN(10) == 0 {
				back = 1 + r.IntN(width*6)
			}
			if j := i - i%width - back; j >= 0 {
				g.Edges = append(g.Edges, edge(j, i))
			}
		}
	}
	return g
}

// tree is one task that n others follow from, each with up to four after it.
func tree(n int) layout.Graph {
	var g layout.Graph
	for i := range n {
		g.Nodes = append(g.Nodes, node(i))
		if i > 0 {
			g.Edges = append(g.Edges, edge((i-1)/4, i))
		}
	}
	return g
}

// pipelines are parallel chains that begin and end together.
func pipelines(chains, long int) layout.Graph {
	var g layout.Graph
	n := chains*long + 2
	for i := range n {
		g.Nodes = append(g.Nodes, node(i))
	}
	for c := range chains {
		at := 1 + c*long
		g.Edges = append(g.Edges, edge(0, at))
		for k := range long - 1 {
			g.Edges = append(g.Edges, edge(at+k, at+k+1))
		}
		g.Edges = append(g.Edges, edge(at+long-1, n-1))
	}
	return g
}

// grouped has stages that are subplans of a few tasks, some of them one inside the other.
func grouped(stages int, seed uint64) layout.Graph {
	r := rand.New(rand.NewPCG(seed, 2))
	var g layout.Graph
	n := 0
	add := func(group string) int {
		nd := node(n)
		nd.Group = group
		g.Nodes = append(g.Nodes, nd)
		n++
		return n - 1
	}
	prev := add("")
	var before string
	for s := range stages {
		id := fmt.Sprint("g", s)
		g.Groups = append(g.Groups, layout.Group{ID: id, Head: 24})
		if before != "" && r.IntN(2) == 0 {
			g.Edges = append(g.Edges, layout.Edge{From: before, To: id})
		} else {
			g.Edges = append(g.Edges, layout.Edge{From: fmt.Sprint("n", prev), To: id})
		}
		last := -1
		for k := range 2 + r.IntN(4) {
			group := id
			if k == 2 {
				group = id + "/in"
				g.Groups = append(g.Groups, layout.Group{ID: group, Group: id, Head: 24})
			}
			at := add(group)
			if last >= 0 && r.IntN(3) > 0 {
				g.Edges = append(g.Edges, edge(last, at))
			}
			if k == 1 {
				g.Edges = append(g.Edges, edge(prev, at))
			}
			last = at
		}
		if r.IntN(2) == 0 {
			p := add("")
			g.Edges = append(g.Edges, layout.Edge{From: id, To: fmt.Sprint("n", p)})
			prev = p
		}
		before = id
	}
	return g
}
