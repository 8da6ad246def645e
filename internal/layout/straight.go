package layout

import "math"

// straightWork bounds the search for straight edges, and straightSize the levels for which it is worth it:
// in a drawing of tens of thousands of vertices nobody follows a single edge.
const (
	straightWork = 60_000_000
	straightSize = 40_000
)

// roots finds, for each vertex, the one that it must stand level with.
func (l *level) roots() []int32 {
	root := make([]int32, len(l.vertices))
	for v := range root {
		root[v] = int32(v)
	}
	for _, it := range l.items {
		for r := range it.long {
			root[it.vertex+int32(r)] = it.vertex
		}
	}
	return root
}

// repair gives all ranks of a group the same place, and moves down what then has too little room. From here
// on places are whole numbers, and gaps are rounded up to them.
func (p *placer) repair() []arc {
	l := p.l
	for _, it := range l.items {
		sum := 0.0
		for r := range it.long {
			sum += p.y[it.vertex+int32(r)]
		}
		p.y[it.vertex] = sum / float64(it.long)
	}
	var rests []arc
	after := make([][]int32, len(l.vertices))
	degree := make([]int, len(l.vertices))
	for _, layer := range l.layers {
		for i := 0; i+1 < len(layer); i++ {
			u, v := p.root[layer[i]], p.root[layer[i+1]]
			after[u] = append(after[u], int32(len(rests)))
			rests = append(rests, arc{from: u, to: v, min: int(math.Ceil(p.gap(layer[i], layer[i+1]) - 0.001))})
			degree[v]++
		}
	}
	var order []int32
	for v := range l.vertices {
		p.y[v] = math.Round(p.y[v])
		if p.root[v] == int32(v) && degree[v] == 0 {
			order = append(order, int32(v))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, k := range after[order[i]] {
			to := rests[k].to
			p.y[to] = math.Max(p.y[to], p.y[order[i]]+float64(rests[k].min))
			if degree[to]--; degree[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return rests
}

// straight finds the places at which the sum of what edges go up and down, by their pull, is least, from
// where everything is now. For every segment there is a node above its two ends: the sum of its distances
// to them is least when it is level with the upper, and is then how far the ends are apart. One more node
// above all joins what nothing else does.
func (p *placer) straight(rests []arc) {
	l := p.l
	n := len(l.vertices)
	if n+len(l.segments) > straightSize {
		return
	}
	at := make([]int, n+1, n+1+len(l.segments))
	top := math.Inf(1)
	for v := range n {
		at[v] = int(p.y[p.root[v]])
		top = math.Min(top, p.y[p.root[v]])
	}
	at[n] = int(top)
	arcs := rests
	for v := range n {
		switch r := p.root[v]; {
		case r != int32(v):
			arcs = append(arcs, arc{from: r, to: int32(v)}) // stands for itself no more
		case l.vertices[v].pos == 0:
			arcs = append(arcs, arc{from: int32(n), to: r})
		}
	}
	for _, s := range l.segments {
		u, v := p.root[s.u], p.root[s.v]
		if u == v {
			continue
		}
		w := int(p.pull(s.u, s.v))
		above := int32(len(at))
		at = append(at, min(at[u], at[v]))
		arcs = append(arcs, arc{from: above, to: u, weight: w}, arc{from: above, to: v, weight: w})
	}
	newSimplex(arcs, at).solve(straightWork)
	for v := range n {
		p.y[v] = float64(at[p.root[v]])
	}
}
