package layout

// orient turns links round until none goes in a circle. A link between parts that no circle joins stays
// as it is. Within a circle the strong links decide the order, and what goes against it is turned.
func (h *house) orient(l *level) {
	next := make([][]int, len(l.items))
	strong := make([][]int, len(l.items))
	for _, k := range l.links {
		next[k.from] = append(next[k.from], k.to)
		if !k.weak {
			strong[k.from] = append(strong[k.from], k.to)
		}
	}
	before := finish(strong)
	part := circles(next)
	for i := range l.links {
		k := &l.links[i]
		if part[k.from] == part[k.to] && before[k.from] > before[k.to] {
			k.from, k.to = k.to, k.from
			e := &h.ends[k.edge]
			e.from, e.to, e.turned = e.to, e.from, true
		}
	}
}

// finish numbers items so that links lead to higher numbers, but for those that close a circle: the
// reverse of the order in which a search in depth leaves them.
func finish(next [][]int) []int {
	place := make([]int, len(next))
	seen := make([]bool, len(next))
	number := len(next)
	type frame struct{ v, k int }
	var stack []frame
	for root := len(next) - 1; root >= 0; root-- {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack = append(stack, frame{root, len(next[root]) - 1})
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.k < 0 {
				number--
				place[f.v] = number
				stack = stack[:len(stack)-1]
				continue
			}
			w := next[f.v][f.k]
			f.k--
			if !seen[w] {
				seen[w] = true
				stack = append(stack, frame{w, len(next[w]) - 1})
			}
		}
	}
	return place
}

// circles gives items that are joined by circles the same number: the strongly connected parts.
func circles(next [][]int) []int {
	n := len(next)
	part, index, low := make([]int, n), make([]int, n), make([]int, n)
	for i := range part {
		part[i] = -1
	}
	type frame struct{ v, k int }
	var stack []frame
	var open []int
	count, parts := 0, 0
	enter := func(v int) {
		count++
		index[v], low[v] = count, count
		open = append(open, v)
		stack = append(stack, frame{v, 0})
	}
	for root := range next {
		if index[root] != 0 {
			continue
		}
		enter(root)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			v := f.v
			if f.k < len(next[v]) {
				w := next[v][f.k]
				f.k++
				if index[w] == 0 {
					enter(w)
				} else if part[w] < 0 {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				u := stack[len(stack)-1].v
				low[u] = min(low[u], low[v])
			}
			if low[v] == index[v] {
				for w := -1; w != v; {
					w = open[len(open)-1]
					open = open[:len(open)-1]
					part[w] = parts
				}
				parts++
			}
		}
	}
	return part
}

// rank gives every item its first rank: as early as its links let it, and then so that the edges are short.
func (l *level) rank() {
	next := make([][]int, len(l.items))
	for _, k := range l.links {
		next[k.from] = append(next[k.from], k.to)
	}
	place := finish(next)
	order := make([]int, len(place))
	for v, p := range place {
		order[p] = v
	}
	for i := range l.items {
		l.items[i].start = l.items[i].least
	}
	for _, v := range order {
		for _, w := range next[v] {
			l.items[w].start = max(l.items[w].start, l.items[v].start+l.items[v].long)
		}
	}
	l.shorten()
	l.ranks = 0
	lowest := 0
	if len(l.items) > 0 {
		lowest = l.items[0].start
	}
	for _, it := range l.items {
		lowest = min(lowest, it.start)
	}
	for i := range l.items {
		l.items[i].start -= lowest
		l.ranks = max(l.ranks, l.items[i].start+l.items[i].long)
	}
}

// rankWork bounds the search for the shortest edges; what it finds within it is good as well.
const rankWork = 30_000_000

// shorten moves items so that the edges are as short as can be. A node before all others holds together
// what no link joins, and keeps items from coming before their least rank.
func (l *level) shorten() {
	n := len(l.items)
	if len(l.links) == 0 {
		return
	}
	at := make([]int, n+1)
	held := make([]bool, n)
	arcs := make([]arc, 0, len(l.links)+n)
	for _, k := range l.links {
		arcs = append(arcs, arc{from: int32(k.from), to: int32(k.to), min: l.items[k.from].long, weight: 1})
		held[k.to] = true
	}
	hint := 0 // where ranks are asked for, the first items hold to the first rank
	for _, it := range l.items {
		hint = max(hint, min(it.least, 1))
	}
	for i, it := range l.items {
		at[i] = it.start
		if !held[i] || it.least > 0 {
			arcs = append(arcs, arc{from: int32(n), to: int32(i), min: it.least, weight: hint})
		}
	}
	s := newSimplex(arcs, at)
	s.solve(rankWork)
	for i := range l.items {
		l.items[i].start = at[i] - at[n]
	}
}
