package layout

import "slices"

// house is a graph taken apart into levels.
type house struct {
	Graph
	style  Style
	root   *level
	levels []*level // of each group
	nodeAt []where  // of each node
	ends   []ends   // of each edge
	spent  int      // vertices that edges have been given so far

	colX, colW    []float64 // left and width of each rank
	width         float64
	boxes, frames []Box
}

// where is an item of a level.
type where struct {
	in *level
	i  int
}

// ends are the two ends of an edge, and how it goes from the one to the other.
type ends struct {
	from, to end
	turned   bool // drawn from its end to its start
	via      []step
	known    bool
}

// end is a node, or a group.
type end struct {
	where
	node int // -1 for a group
}

// step is a vertex that an edge passes.
type step struct {
	in *level
	v  int32
}

// level is what stands directly in one group.
type level struct {
	group  int // -1 for the whole graph
	up     where
	items  []item
	links  []link
	ranks  int
	height float64
	top    float64 // where it begins in the drawing
	first  int     // its first rank in the drawing

	vertices []vertex
	segments []segment
	loose    []passage
	layers   [][]int32
	left     adjacency
	right    adjacency
}

// item is a node, or a group as a whole.
type item struct {
	node, group int // the other is -1
	order       int // the first node in it: what decides when nothing else does
	start, long int // ranks of its level
	least       int // the rank at which it begins at least
	height      float64
	vertex      int32 // the first of its vertices, of which there is one a rank
}

// link joins two items for an edge.
type link struct {
	from, to int
	edge     int
	weak     bool
}

// passage is an edge that comes from outside a level or goes there, and so crosses some of its ranks.
type passage struct {
	edge, item int
	out        bool
}

func newHouse(g Graph, style Style) *house {
	h := &house{Graph: g, style: style, root: &level{group: -1}, nodeAt: make([]where, len(g.Nodes)),
		levels: make([]*level, len(g.Groups)), boxes: make([]Box, len(g.Nodes)), frames: make([]Box, len(g.Groups))}
	number := make(map[string]int, len(g.Groups))
	for i, gr := range g.Groups {
		h.levels[i] = &level{group: i}
		if _, taken := number[gr.ID]; !taken {
			number[gr.ID] = i
		}
	}
	h.build(number)
	h.resolve(number)
	return h
}

// build puts nodes and groups into their levels.
func (h *house) build(number map[string]int) {
	parent := make([]int, len(h.Groups))
	for i, gr := range h.Groups {
		parent[i] = -1
		if p, ok := number[gr.Group]; ok && gr.Group != "" && !circular(parent[:i], p, i) {
			parent[i] = p
		}
	}
	first := make([]int, len(h.Groups))
	for i := range first {
		first[i] = len(h.Nodes) + i
	}
	for n, node := range h.Nodes {
		in := h.root
		if g, ok := number[node.Group]; ok && node.Group != "" {
			in = h.levels[g]
			for a := g; a >= 0; a = parent[a] {
				first[a] = min(first[a], n)
			}
		}
		in.items = append(in.items, item{node: n, group: -1, order: n, long: 1, least: max(node.Rank, 0), height: node.H})
	}
	for g := range h.Groups {
		in := h.root
		if parent[g] >= 0 {
			in = h.levels[parent[g]]
		}
		in.items = append(in.items, item{node: -1, group: g, order: first[g]})
	}
	for _, l := range append([]*level{h.root}, h.levels...) {
		slices.SortStableFunc(l.items, func(a, b item) int { return a.order - b.order })
		for i, it := range l.items {
			if it.node >= 0 {
				h.nodeAt[it.node] = where{l, i}
			} else {
				h.levels[it.group].up = where{l, i}
			}
		}
	}
}

// circular reports whether taking p as the parent of i would close a circle among the parents so far.
func circular(parent []int, p, i int) bool {
	for p != i && p >= 0 && p < len(parent) {
		p = parent[p]
	}
	return p == i
}

// resolve finds the ends of edges, and the level in which the two are different items.
func (h *house) resolve(groups map[string]int) {
	nodes := make(map[string]int, len(h.Nodes))
	for i, n := range h.Nodes {
		if _, taken := nodes[n.ID]; !taken {
			nodes[n.ID] = i
		}
	}
	find := func(id string) (end, bool) {
		if n, ok := nodes[id]; ok {
			return end{h.nodeAt[n], n}, true
		}
		if g, ok := groups[id]; ok {
			return end{h.levels[g].up, -1}, true
		}
		return end{}, false
	}
	h.ends = make([]ends, len(h.Edges))
	for i, e := range h.Edges {
		from, ok := find(e.From)
		to, also := find(e.To)
		h.ends[i] = ends{from: from, to: to, known: ok && also}
		if !ok || !also || from == to {
			continue
		}
		in, a, b := meet(from.where, to.where)
		if a == b { // a group and something in it
			h.ends[i].known = false
			continue
		}
		in.links = append(in.links, link{a, b, i, e.Weak})
	}
}

// meet finds the innermost level that holds both, and the items in which they are there.
func meet(a, b where) (in *level, i, j int) {
	deep := func(w where) (n int) {
		for l := w.in; l.group >= 0; l = l.up.in {
			n++
		}
		return n
	}
	da, db := deep(a), deep(b)
	for ; da > db; da-- {
		a = a.in.up
	}
	for ; db > da; db-- {
		b = b.in.up
	}
	for a.in != b.in {
		a, b = a.in.up, b.in.up
	}
	return a.in, a.i, b.i
}
