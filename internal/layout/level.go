package layout

// vertex is what stands in one rank of a level: a node, one rank of a group, or an edge that passes.
type vertex struct {
	rank   int
	pos    int32 // in its rank
	height float64
	y      float64 // its middle, from the top of the level
	pass   bool    // an edge passes
	rigid  bool    // one rank of a group that has several
}

// segment joins vertices of neighbouring ranks.
type segment struct {
	u, v  int32
	rigid bool // within a group: it must be straight, and nothing should cross it
}

// maxPasses bounds how many vertices edges are given in a whole drawing. Beyond it long edges are drawn
// straight from end to end, over what is between; a drawing of that size is not read edge by edge.
const maxPasses = 300_000

// ranked gives all items of a level and of those inside their ranks, from the inside: a group is as many
// ranks long as what is in it.
func (h *house) ranked(l *level) {
	for i := range l.items {
		if it := &l.items[i]; it.group >= 0 {
			h.ranked(h.levels[it.group])
			it.long = max(h.levels[it.group].ranks, 1)
		}
	}
	h.orient(l)
	l.rank()
	for _, k := range l.links {
		e := &h.ends[k.edge]
		for w := e.from.where; w.in != l; w = w.in.up {
			w.in.loose = append(w.in.loose, passage{k.edge, w.i, true})
		}
		for w := e.to.where; w.in != l; w = w.in.up {
			w.in.loose = append(w.in.loose, passage{k.edge, w.i, false})
		}
	}
}

// arrange gives everything in a level its place across the ranks, from the inside: a group is as high as
// what is in it.
func (h *house) arrange(l *level) {
	for i := range l.items {
		if it := &l.items[i]; it.group >= 0 {
			inner := h.levels[it.group]
			h.arrange(inner)
			it.height = h.Groups[it.group].Head + inner.height + h.style.Pad
		}
	}
	h.vertices(l)
	l.layers = make([][]int32, l.ranks)
	l.order()
	l.coordinates(h.style)
}

// vertices makes the vertices of a level: those of items first, then those of edges.
func (h *house) vertices(l *level) {
	for i := range l.items {
		it := &l.items[i]
		it.vertex = int32(len(l.vertices))
		for r := range it.long {
			if r > 0 {
				n := int32(len(l.vertices))
				l.segments = append(l.segments, segment{n - 1, n, true})
			}
			l.vertices = append(l.vertices, vertex{rank: it.start + r, height: it.height, rigid: it.long > 1})
		}
	}
	for _, k := range l.links {
		from, to := &l.items[k.from], &l.items[k.to]
		last := from.vertex + int32(from.long) - 1
		if h.spent+l.span(last, to.vertex) > maxPasses {
			continue
		}
		l.join(h.pass(l, k.edge, last, to.start), to.vertex)
	}
	for _, p := range l.loose {
		it := &l.items[p.item]
		if h.spent+l.ranks > maxPasses {
			continue
		}
		if p.out {
			h.pass(l, p.edge, it.vertex+int32(it.long)-1, l.ranks)
		} else {
			l.join(h.pass(l, p.edge, -1, it.start), it.vertex)
		}
	}
}

func (l *level) span(u, v int32) int { return l.vertices[v].rank - l.vertices[u].rank - 1 }

// pass gives an edge a vertex in each rank after that of u, or from the first when u is none, up to before
// end. It returns the last.
func (h *house) pass(l *level, edge int, u int32, end int) int32 {
	start := 0
	if u >= 0 {
		start = l.vertices[u].rank + 1
	}
	for r := start; r < end; r++ {
		n := int32(len(l.vertices))
		l.vertices = append(l.vertices, vertex{rank: r, pass: true})
		l.join(u, n)
		h.ends[edge].via = append(h.ends[edge].via, step{l, n})
		h.spent++
		u = n
	}
	return u
}

func (l *level) join(u, v int32) {
	if u >= 0 {
		l.segments = append(l.segments, segment{u: u, v: v})
	}
}

// adjacency lists, for each vertex, the vertices that it is joined to on one side.
type adjacency struct {
	from []int32
	to   []int32
}

func (a adjacency) of(v int32) []int32 { return a.to[a.from[v]:a.from[v+1]] }

// index lists the neighbours of vertices, but for those to be left out.
func (l *level) index(without []bool) {
	segments := l.segments
	if without != nil {
		segments = nil
		for _, s := range l.segments {
			if !without[s.u] && !without[s.v] {
				segments = append(segments, s)
			}
		}
	}
	l.right = adjacent(len(l.vertices), segments, func(s segment) (int32, int32) { return s.u, s.v })
	l.left = adjacent(len(l.vertices), segments, func(s segment) (int32, int32) { return s.v, s.u })
}

func adjacent(n int, segments []segment, ends func(segment) (from, to int32)) adjacency {
	a := adjacency{make([]int32, n+1), make([]int32, len(segments))}
	for _, s := range segments {
		from, _ := ends(s)
		a.from[from+1]++
	}
	for i := range n {
		a.from[i+1] += a.from[i]
	}
	at := append([]int32(nil), a.from...)
	for _, s := range segments {
		from, to := ends(s)
		a.to[at[from]] = to
		at[from]++
	}
	return a
}
