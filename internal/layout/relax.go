package layout

import (
	"math"
	"slices"
)

// How often ranks are placed anew: first each by the rank before it, to carry news across the drawing
// fast, then by both sides until it settles, and last edges are made straight where there is room.
const (
	carrying  = 6
	settling  = 30
	polishing = 8
)

// The pull of a segment: the more it only passes, the straighter it should be.
const (
	pullNodes  = 1
	pullMixed  = 2
	pullPasses = 8
	pullRigid  = 500
)

// coordinates gives every vertex its place across the ranks: as near to its neighbours as the room in its
// rank lets it.
func (l *level) coordinates(style Style) {
	if len(l.vertices) == 0 {
		return
	}
	p := &placer{l: l, style: style, y: make([]float64, len(l.vertices)), root: l.roots()}
	p.pack()
	for i := range carrying {
		p.sweep(i%2 == 0, i%2 == 0, i%2 == 1)
	}
	for i := range settling {
		p.sweep(i%2 == 0, true, true)
	}
	for i := range polishing {
		p.polish(i%2 == 0)
	}
	p.straight(p.repair())
	p.finish()
}

type placer struct {
	l     *level
	style Style
	y     []float64
	root  []int32 // for each vertex the one that it stands level with: the first rank of its group, or itself
	pools []pool
}

// gap is the room between the middles of two vertices that stand side by side.
func (p *placer) gap(u, v int32) float64 {
	x, y := &p.l.vertices[u], &p.l.vertices[v]
	room := p.style.Node
	if x.pass || y.pass {
		room = p.style.Edge
	}
	return x.height/2 + y.height/2 + room
}

func (p *placer) pull(u, v int32) float64 {
	x, y := &p.l.vertices[u], &p.l.vertices[v]
	switch {
	case x.pass && y.pass:
		return pullPasses
	case x.pass || y.pass:
		return pullMixed
	case x.rigid && y.rigid && (v == u+1 || u == v+1):
		return pullRigid
	}
	return pullNodes
}

// pack puts the vertices of each rank close together, around the same middle.
func (p *placer) pack() {
	for _, layer := range p.l.layers {
		at := 0.0
		for i, v := range layer {
			if i > 0 {
				at += p.gap(layer[i-1], v)
			}
			p.y[v] = at
		}
		for _, v := range layer {
			p.y[v] -= at / 2
		}
	}
}

// sweep places every rank by its neighbours on the left, on the right, or on both sides.
func (p *placer) sweep(forward, left, right bool) {
	for k := range p.l.layers {
		r := k
		if !forward {
			r = len(p.l.layers) - 1 - k
		}
		p.place(p.l.layers[r], left, right)
	}
}

// pool is a run of vertices that touch, with the mean of where they want to be.
type pool struct {
	want, pull float64
	first      int
}

// place moves the vertices of one rank to where the sum of the squares of what their edges go up or down is
// least: vertices that get in each other's way are pooled and want what they want on the average.
func (p *placer) place(layer []int32, left, right bool) {
	pools := p.pools[:0]
	offset := 0.0
	offsets := make([]float64, len(layer))
	for i, v := range layer {
		if i > 0 {
			offset += p.gap(layer[i-1], v)
		}
		offsets[i] = offset
		want, pull := p.want(v, left, right)
		pools = append(pools, pool{want - offset, pull, i})
		for n := len(pools); n > 1 && pools[n-2].want > pools[n-1].want; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			sum := a.pull + b.pull
			pools[n-2] = pool{(float64(a.want*a.pull) + float64(b.want*b.pull)) / sum, sum, a.first}
			pools = pools[:n-1]
		}
	}
	for k, q := range pools {
		end := len(layer)
		if k+1 < len(pools) {
			end = pools[k+1].first
		}
		for i := q.first; i < end; i++ {
			p.y[layer[i]] = q.want + offsets[i]
		}
	}
	p.pools = pools
}

// want is where a vertex would be by its neighbours alone. One without any wants, faintly, to stay.
func (p *placer) want(v int32, left, right bool) (want, pull float64) {
	add := func(u int32) {
		w := p.pull(u, v)
		want += float64(w * p.y[u]) // rounded here, so that no machine fuses it with the sum
		pull += w
	}
	if left {
		for _, u := range p.l.left.of(v) {
			add(u)
		}
	}
	if right {
		for _, u := range p.l.right.of(v) {
			add(u)
		}
	}
	if pull == 0 {
		return p.y[v], 0.01
	}
	return want / pull, pull
}

// polish makes edges straight where that needs no one else to move: each vertex goes as near to the middle
// of its neighbours, by weight, as its rank has room.
func (p *placer) polish(forward bool) {
	type tug struct{ y, pull float64 }
	var tugs []tug
	for k := range p.l.layers {
		r := k
		if !forward {
			r = len(p.l.layers) - 1 - k
		}
		layer := p.l.layers[r]
		for i, v := range layer {
			tugs = tugs[:0]
			total := 0.0
			for _, side := range [2]adjacency{p.l.left, p.l.right} {
				for _, u := range side.of(v) {
					w := p.pull(u, v)
					tugs = append(tugs, tug{p.y[u], w})
					total += w
				}
			}
			if len(tugs) == 0 {
				continue
			}
			slices.SortFunc(tugs, func(a, b tug) int {
				switch {
				case a.y < b.y:
					return -1
				case a.y > b.y:
					return 1
				}
				return 0
			})
			low, high := math.Inf(-1), math.Inf(1)
			if i > 0 {
				low = p.y[layer[i-1]] + p.gap(layer[i-1], v)
			}
			if i+1 < len(layer) {
				high = p.y[layer[i+1]] - p.gap(v, layer[i+1])
			}
			sum := 0.0
			for n, t := range tugs {
				sum += t.pull
				if sum*2 < total {
					continue
				}
				best := t.y
				if sum*2 == total && n+1 < len(tugs) { // anywhere between the two is as good
					best = math.Min(math.Max(p.y[v], t.y), tugs[n+1].y)
				}
				if low <= high {
					p.y[v] = math.Min(math.Max(best, low), high)
				}
				break
			}
		}
	}
}

// finish writes the places down, from the top of the level.
func (p *placer) finish() {
	low, high := math.Inf(1), math.Inf(-1)
	for v := range p.l.vertices {
		p.y[v] = p.y[p.root[v]]
		half := p.l.vertices[v].height / 2
		low, high = math.Min(low, p.y[v]-half), math.Max(high, p.y[v]+half)
	}
	for v := range p.l.vertices {
		p.l.vertices[v].y = p.y[v] - low
	}
	p.l.height = high - low
}
