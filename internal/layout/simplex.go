package layout

// arc asks that its end comes at least min after its start, and pulls them together by weight.
type arc struct {
	from, to    int32
	min, weight int
	cut         int // what it would cost to make it longer, for an arc of the tree
	tree        bool
}

// simplex finds numbers for nodes that fulfil all arcs and make the sum of their lengths, by weight, least.
// It is the network simplex of Gansner and others: a tree of arcs without slack holds the nodes together;
// an arc of the tree whose lengthening would gain leaves it, and the arc that then gets tight first enters.
type simplex struct {
	arcs  []arc
	at    []int
	in    [][]int32 // arcs by their end
	out   [][]int32 // arcs by their start
	ties  [][]int32 // arcs of the tree, by node
	up    []int32   // the arc of the tree towards the root; -1 at the root
	low   []int32   // the least number in the part of the tree below a node
	lim   []int32   // its own number: children before parents
	next  int       // where the search for an arc to leave goes on
	stack []int32
}

// newSimplex starts from numbers that fulfil all arcs. The arcs must join all nodes.
func newSimplex(arcs []arc, at []int) *simplex {
	n := len(at)
	s := &simplex{arcs: arcs, at: at, in: make([][]int32, n), out: make([][]int32, n), ties: make([][]int32, n),
		up: make([]int32, n), low: make([]int32, n), lim: make([]int32, n)}
	for i, a := range arcs {
		s.out[a.from] = append(s.out[a.from], int32(i))
		s.in[a.to] = append(s.in[a.to], int32(i))
	}
	return s
}

func (s *simplex) slack(a *arc) int { return s.at[a.to] - s.at[a.from] - a.min }

// solve improves the numbers until they are the best, or until the work is used up.
func (s *simplex) solve(work int) {
	if len(s.at) < 2 || !s.span() {
		return
	}
	work -= s.renumber(0, -1, 0)
	s.cuts()
	for work > 0 {
		e := s.leave()
		if e < 0 {
			return
		}
		f, looked := s.enter(e)
		if f < 0 {
			return
		}
		work -= looked + s.exchange(e, f)
	}
}

// span makes a tree of tight arcs that holds all nodes. Nodes that tight arcs join are parts of it from the
// start; then the smallest part moves, the way that more pull it, until an arc to another gets tight. It
// reports whether the arcs join all nodes.
func (s *simplex) span() bool {
	p := newParts(len(s.at))
	for i := range s.arcs {
		if a := &s.arcs[i]; s.slack(a) == 0 && p.of[a.from] != p.of[a.to] {
			s.tie(int32(i))
			p.join(a.from, a.to)
		}
	}
	p.sort()
	for part := p.smallest(); part >= 0; part = p.smallest() {
		i, move := s.nearest(p, part)
		if i < 0 {
			return false
		}
		for _, v := range p.nodes[part] {
			s.at[v] += move
		}
		s.tie(i)
		p.push(p.join(s.arcs[i].from, s.arcs[i].to))
	}
	return true
}

// nearest finds the arc that gets tight first when a part moves, and by how much it has to.
func (s *simplex) nearest(p *parts, part int32) (best int32, move int) {
	forth, back := int32(-1), int32(-1)
	pull, ahead, behind := 0, 0, 0
	for _, v := range p.nodes[part] {
		for _, i := range s.out[v] {
			a := &s.arcs[i]
			if p.of[a.to] == part {
				continue
			}
			pull += a.weight
			if d := s.slack(a); forth < 0 || d < ahead {
				forth, ahead = i, d
			}
		}
		for _, i := range s.in[v] {
			a := &s.arcs[i]
			if p.of[a.from] == part {
				continue
			}
			pull -= a.weight
			if d := s.slack(a); back < 0 || d < behind {
				back, behind = i, d
			}
		}
	}
	if forth >= 0 && (pull >= 0 || back < 0) {
		return forth, ahead
	}
	return back, -behind
}

func (s *simplex) tie(i int32) {
	a := &s.arcs[i]
	a.tree = true
	s.ties[a.from] = append(s.ties[a.from], i)
	s.ties[a.to] = append(s.ties[a.to], i)
}

func (s *simplex) untie(i int32) {
	a := &s.arcs[i]
	a.tree = false
	for _, v := range [2]int32{a.from, a.to} {
		ties := s.ties[v]
		for k, t := range ties {
			if t == i {
				ties[k] = ties[len(ties)-1]
				s.ties[v] = ties[:len(ties)-1]
				break
			}
		}
	}
}

// renumber numbers the part of the tree below v, whose arc up is known, from first on. It returns how many
// nodes that are.
func (s *simplex) renumber(v, up, first int32) int {
	type frame struct {
		v, first int32
		k        int
	}
	s.up[v] = up
	frames := []frame{{v, first, 0}}
	next := first
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.k < len(s.ties[f.v]) {
			i := s.ties[f.v][f.k]
			f.k++
			if i == s.up[f.v] {
				continue
			}
			a := &s.arcs[i]
			w := a.from + a.to - f.v
			s.up[w] = i
			frames = append(frames, frame{w, next, 0})
			continue
		}
		s.low[f.v], s.lim[f.v] = f.first, next
		next++
		frames = frames[:len(frames)-1]
	}
	return int(next - first)
}

// below reports whether v is in the part of the tree below root.
func (s *simplex) below(v, root int32) bool {
	return s.low[root] <= s.lim[v] && s.lim[v] <= s.lim[root]
}

// cuts works out what lengthening each arc of the tree would cost. What leads out of the part below a node,
// less what leads into it, is the sum of that over its nodes, since arcs within the part cancel out.
func (s *simplex) cuts() {
	byLim := make([]int32, len(s.at))
	for v, n := range s.lim {
		byLim[n] = int32(v)
	}
	balance := make([]int, len(s.at))
	for i := range s.arcs {
		a := &s.arcs[i]
		balance[a.from] += a.weight
		balance[a.to] -= a.weight
	}
	for _, v := range byLim {
		if s.up[v] < 0 {
			continue
		}
		e := &s.arcs[s.up[v]]
		e.cut = balance[v]
		if e.to == v {
			e.cut = -e.cut
		}
		balance[e.from+e.to-v] += balance[v]
	}
}

// leave picks an arc of the tree that would better be longer: of the first few from where the last search
// ended, the one that gains most.
func (s *simplex) leave() int32 {
	const few = 30
	best, seen := int32(-1), 0
	n := len(s.at)
	for range n {
		v := s.next
		if s.next++; s.next == n {
			s.next = 0
		}
		i := s.up[v]
		if i < 0 || s.arcs[i].cut >= 0 {
			continue
		}
		if best < 0 || s.arcs[i].cut < s.arcs[best].cut {
			best = i
		}
		if seen++; seen == few {
			break
		}
	}
	return best
}

// lower is the end of an arc of the tree that is farther from the root.
func (s *simplex) lower(e int32) int32 {
	a := &s.arcs[e]
	if s.lim[a.from] < s.lim[a.to] {
		return a.from
	}
	return a.to
}

// enter finds the arc that gets tight first when e gets longer: it leads the other way between the two
// parts that e holds together.
func (s *simplex) enter(e int32) (best int32, looked int) {
	child := s.lower(e)
	rising := s.arcs[e].from == child // the part below e's start moves back, so arcs into it get shorter
	best = -1
	least := 0
	s.stack = append(s.stack[:0], child)
	for len(s.stack) > 0 {
		v := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		side := s.out[v]
		if rising {
			side = s.in[v]
		}
		looked += len(side) + 1
		for _, i := range side {
			a := &s.arcs[i]
			w := a.from + a.to - v
			if a.tree || s.below(w, child) {
				continue
			}
			if d := s.slack(a); best < 0 || d < least {
				best, least = i, d
			}
		}
		for _, i := range s.ties[v] {
			if i != s.up[v] {
				s.stack = append(s.stack, s.arcs[i].from+s.arcs[i].to-v)
			}
		}
	}
	return best, looked
}

// exchange puts f into the tree for e.
func (s *simplex) exchange(e, f int32) (looked int) {
	child := s.lower(e)
	delta := s.slack(&s.arcs[f])
	if s.arcs[e].from == child {
		delta = -delta
	}
	if delta != 0 {
		s.stack = append(s.stack[:0], child)
		for len(s.stack) > 0 {
			v := s.stack[len(s.stack)-1]
			s.stack = s.stack[:len(s.stack)-1]
			s.at[v] += delta
			looked++
			for _, i := range s.ties[v] {
				if i != s.up[v] {
					s.stack = append(s.stack, s.arcs[i].from+s.arcs[i].to-v)
				}
			}
		}
	}
	cut := s.arcs[e].cut
	top := s.carry(s.arcs[f].from, s.arcs[f].to, cut, true)
	s.carry(s.arcs[f].to, s.arcs[f].from, cut, false)
	s.arcs[f].cut, s.arcs[e].cut = -cut, 0
	s.untie(e)
	s.tie(f)
	return looked + s.renumber(top, s.up[top], s.low[top])
}

// carry takes what e gained over to the arcs on the way from v up to where the way to w comes down.
func (s *simplex) carry(v, w int32, cut int, forward bool) int32 {
	for !s.below(w, v) {
		a := &s.arcs[s.up[v]]
		if (a.from == v) == forward {
			a.cut += cut
		} else {
			a.cut -= cut
		}
		if s.lim[a.from] > s.lim[a.to] {
			v = a.from
		} else {
			v = a.to
		}
	}
	return v
}
