package layout

import (
	"math"
	"slices"
)

// columns gives the ranks of the whole drawing their places from left to right.
func (h *house) columns() {
	n := h.root.ranks
	h.colX, h.colW = make([]float64, n), make([]float64, n)
	before, after := make([]int, n), make([]int, n) // groups that begin before, or end after, a rank
	h.number(h.root, 0, before, after)
	for i, node := range h.Nodes {
		w := h.nodeAt[i]
		r := w.in.first + w.in.items[w.i].start
		h.colW[r] = math.Max(h.colW[r], node.W)
	}
	room := make([]float64, n)
	for i, e := range h.ends {
		if e.known && h.Edges[i].Label > 0 {
			r := e.from.in.first + e.from.in.items[e.from.i].start + e.from.in.items[e.from.i].long - 1
			room[r] = math.Max(room[r], h.Edges[i].Label+h.style.Rank/2)
		}
	}
	x := 0.0
	for r := range n {
		x += float64(before[r]) * h.style.Pad
		h.colX[r] = x
		x += h.colW[r] + float64(after[r])*h.style.Pad
		if r+1 < n {
			x += math.Max(h.style.Rank, room[r])
		}
	}
	h.width = x
}

// number gives levels their first ranks, and counts the boxes that begin and end at each. It returns how
// many begin at the first rank of the level, one inside the other, and how many end at its last.
func (h *house) number(l *level, first int, before, after []int) (begin, end int) {
	l.first = first
	for i := range l.items {
		it := &l.items[i]
		if it.group < 0 {
			continue
		}
		a, b := h.number(h.levels[it.group], first+it.start, before, after)
		a, b = a+1, b+1
		from, to := first+it.start, first+it.start+it.long-1
		before[from], after[to] = max(before[from], a), max(after[to], b)
		h.frames[it.group].X, h.frames[it.group].W = float64(a), float64(b) // until the ranks have places
		if it.start == 0 {
			begin = max(begin, a)
		}
		if it.start+it.long == l.ranks {
			end = max(end, b)
		}
	}
	return begin, end
}

// place gives the boxes of a level, which begins at top, their coordinates.
func (h *house) place(l *level, top float64) {
	l.top = top
	for i := range l.items {
		it := &l.items[i]
		y := top + l.vertices[it.vertex].y - it.height/2
		first := l.first + it.start
		if it.node >= 0 {
			n := &h.Nodes[it.node]
			h.boxes[it.node] = Box{h.colX[first] + (h.colW[first]-n.W)/2, y, n.W, n.H}
			continue
		}
		f := &h.frames[it.group]
		last := first + it.long - 1
		left := h.colX[first] - f.X*h.style.Pad
		right := h.colX[last] + h.colW[last] + f.W*h.style.Pad
		*f = Box{left, y, right - left, it.height}
		h.place(h.levels[it.group], y+h.Groups[it.group].Head)
	}
}

// box is where an end is.
func (h *house) box(e end) (b Box, point bool) {
	if e.node >= 0 {
		return h.boxes[e.node], h.Nodes[e.node].Point
	}
	return h.frames[e.in.items[e.i].group], false
}

// route draws all edges.
func (h *house) route() []Path {
	paths := make([]Path, len(h.Edges))
	for i := range h.ends {
		slices.SortStableFunc(h.ends[i].via, func(a, b step) int {
			return a.in.first + a.in.vertices[a.v].rank - b.in.first - b.in.vertices[b.v].rank
		})
	}
	leave, arrive := h.ports()
	for i := range h.ends {
		e := &h.ends[i]
		switch {
		case !e.known:
		case e.from == e.to:
			paths[i] = h.loop(e.from)
		default:
			paths[i] = h.path(e, leave[i], arrive[i], h.Edges[i].Label)
		}
	}
	return paths
}

// port is one end of an edge at a box.
type port struct {
	edge  int
	other float64 // how high the edge goes on
	at    *float64
}

// ports spreads the edges at each side of each box, in the order of where they go on.
func (h *house) ports() (leave, arrive []float64) {
	leave, arrive = make([]float64, len(h.ends)), make([]float64, len(h.ends))
	type side struct {
		end
		right bool
	}
	sides := map[side][]port{}
	var order []side
	add := func(s side, p port) {
		if len(sides[s]) == 0 {
			order = append(order, s)
		}
		sides[s] = append(sides[s], p)
	}
	for i := range h.ends {
		e := &h.ends[i]
		if !e.known || e.from == e.to {
			continue
		}
		a, _ := h.box(e.from)
		b, _ := h.box(e.to)
		next, before := b.Y+b.H/2, a.Y+a.H/2
		if n := len(e.via); n > 0 {
			next, before = height(e.via[0]), height(e.via[n-1])
		}
		add(side{e.from, true}, port{i, next, &leave[i]})
		add(side{e.to, false}, port{i, before, &arrive[i]})
	}
	for _, s := range order {
		ps := sides[s]
		slices.SortStableFunc(ps, func(p, q port) int {
			switch {
			case p.other < q.other:
				return -1
			case p.other > q.other:
				return 1
			}
			return p.edge - q.edge
		})
		b, point := h.box(s.end)
		h.spread(ps, b.Y+b.H/2, b.H, point)
	}
	return leave, arrive
}

// spread gives ports, in order, their places around the middle of a side. The one that goes straight on
// keeps the middle.
func (h *house) spread(ps []port, middle, high float64, point bool) {
	centre := float64(len(ps)-1) / 2
	for i, p := range ps {
		if math.Abs(p.other-middle) < 0.5 {
			centre = float64(i)
			break
		}
	}
	space := 0.0
	if most := math.Max(centre, float64(len(ps)-1)-centre); most > 0 && !point {
		space = math.Min(h.style.Ports, high*0.3/most)
	}
	for i, p := range ps {
		*p.at = middle + (float64(i)-centre)*space
	}
}

func height(s step) float64 { return s.in.top + s.in.vertices[s.v].y }

// path draws an edge: level through the ranks, curved between them.
func (h *house) path(e *ends, leave, arrive, label float64) Path {
	a, _ := h.box(e.from)
	b, _ := h.box(e.to)
	p := pen{points: []Point{{a.X + a.W, leave}}}
	rank := e.from.in.first + e.from.in.items[e.from.i].start + e.from.in.items[e.from.i].long - 1
	if e.turned {
		p.level(a.X + a.W + h.style.Lead)
	}
	p.level(math.Max(h.colX[rank]+h.colW[rank], a.X+a.W))
	gap := p.last()
	for i, s := range e.via {
		r := s.in.first + s.in.vertices[s.v].rank
		p.curve(Point{h.colX[r], height(s)})
		p.level(h.colX[r] + h.colW[r])
		if i == 0 {
			gap = mid(gap, Point{h.colX[r], height(s)})
		}
	}
	first := e.to.in.first + e.to.in.items[e.to.i].start
	lead := h.style.Lead
	if e.turned {
		lead = 0 // its head is at the other end
	}
	p.curve(Point{math.Min(h.colX[first], b.X-lead), arrive})
	if len(e.via) == 0 {
		gap = mid(gap, p.last())
	}
	p.level(b.X)
	if e.turned {
		slices.Reverse(p.points)
	}
	return Path{Points: p.points, Label: gap}
}

func mid(a, b Point) Point { return Point{(a.X + b.X) / 2, (a.Y + b.Y) / 2} }

// loop draws an edge from a box to itself, beside it.
func (h *house) loop(e end) Path {
	b, _ := h.box(e)
	x, y, out := b.X+b.W, b.Y+b.H/2, h.style.Rank*0.6
	return Path{
		Points: []Point{{x, y - b.H/4}, {x + out, y - b.H/4 - out/2}, {x + out, y + b.H/4 + out/2}, {x, y + b.H/4}},
		Label:  Point{x + out, y},
	}
}

// pen draws pieces one after the other.
type pen struct{ points []Point }

func (p *pen) last() Point { return p.points[len(p.points)-1] }

func (p *pen) level(x float64) {
	if from := p.last(); x > from.X {
		p.piece(Point{from.X + (x-from.X)/3, from.Y}, Point{x - (x-from.X)/3, from.Y}, Point{x, from.Y})
	}
}

// curve goes to a point, beginning and ending level.
func (p *pen) curve(to Point) {
	from := p.last()
	if math.Abs(from.Y-to.Y) < 0.01 {
		p.level(to.X)
		return
	}
	half := (to.X - from.X) / 2
	p.piece(Point{from.X + half, from.Y}, Point{to.X - half, to.Y}, to)
}

// piece adds a curve; one that goes on level is made longer instead.
func (p *pen) piece(c, d, to Point) {
	if n := len(p.points); n >= 4 && c.Y == to.Y && p.last().Y == to.Y && p.points[n-4].Y == to.Y && p.points[n-2].Y == to.Y && p.points[n-3].Y == to.Y {
		from := p.points[n-4]
		third := (to.X - from.X) / 3
		p.points[n-3], p.points[n-2], p.points[n-1] = Point{from.X + third, to.Y}, Point{to.X - third, to.Y}, to
		return
	}
	p.points = append(p.points, c, d, to)
}
