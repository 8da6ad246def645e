package layout

import "slices"

// How long the search for few crossings goes on: sweeps of one attempt, those without gain before it ends,
// rounds of settling after each, and attempts in vain. orderWork bounds it for large levels, in comparisons of two vertices.
const (
	maxSweeps = 24
	maxIdle   = 8
	maxRounds = 4
	maxVain   = 3
	orderWork = 6_000_000
	worth     = 20 // one crossing in so many less is worth another order
)

// attempts are the ways to look for an order, each from its own beginning. A later one must be better than
// those before it.
var attempts = []struct {
	wide, back, mean bool
}{{}, {mean: true}, {wide: true}, {wide: true, mean: true}, {back: true}, {wide: true, back: true}, {back: true, mean: true}, {wide: true, back: true, mean: true}}

// order finds an order for every rank with few crossings. What hangs on a single link does not take part in
// the search, and finds its place after it: so a task that is added at the end of a plan moves no other.
func (l *level) order() {
	l.index(nil)
	hangs := l.hanging()
	l.index(hangs)
	l.search(hangs)
	l.index(nil)
	l.insert(hangs)
	if l.straighten() {
		c := newCrosser(l)
		c.fixed = true
		c.settleAll(nil)
	}
}

// search orders what is left when hanging vertices are left out.
func (l *level) search(hangs []bool) {
	l.begin(hangs, false, false)
	c := newCrosser(l)
	best, fewest := l.save(), c.count()
	for i, vain := 0, 0; i < len(attempts) && vain < maxVain && fewest > 0 && c.work <= orderWork; i++ {
		if i > 0 {
			l.begin(hangs, attempts[i].wide, attempts[i].back)
		}
		n := c.attempt(best, fewest, attempts[i].mean)
		if vain++; n < fewest {
			fewest, vain = n, 0
		}
	}
	l.restore(best)
	l.upright()
}

// upright turns the whole order upside down if it is then more like the order in which the items are given:
// both cross the same.
func (l *level) upright() {
	agree := 0
	for _, layer := range l.layers {
		last := int32(-1)
		for _, v := range layer {
			if l.vertices[v].pass {
				continue
			}
			if last >= 0 && v > last {
				agree++
			} else if last >= 0 {
				agree--
			}
			last = v
		}
	}
	if agree >= 0 {
		return
	}
	for r := range l.layers {
		slices.Reverse(l.layers[r])
		l.number(r)
	}
}

// attempt sweeps there and back, and keeps what is better than the best so far by more than a little: for one
// crossing in twenty a drawing should not look like another.
func (c *crosser) attempt(best [][]int32, fewest int, mean bool) int {
	own := -1
	for sweep, idle := 0, 0; sweep < maxSweeps && idle < maxIdle && fewest > 0 && c.work <= orderWork; sweep++ {
		c.restless = sweep%4 >= 2
		c.l.sweep(sweep%2 == 0, c.restless, mean)
		c.settleAll(nil)
		n := c.count()
		if n < fewest-fewest/worth {
			fewest = n
			c.l.keep(best)
		}
		if idle++; own < 0 || n < own {
			idle, own = 0, n
		}
	}
	return fewest
}

// begin orders ranks by a search in depth from the items, in their order, so that what hangs together
// stands together and a tree crosses nothing; or by one in breadth.
func (l *level) begin(without []bool, wide, back bool) {
	side, other := l.right, l.left
	if back {
		side, other = other, side
	}
	seen := slices.Clone(without)
	for r := range l.layers {
		l.layers[r] = l.layers[r][:0]
	}
	var stack []int32
	visit := func(v int32) {
		seen[v] = true
		r := l.vertices[v].rank
		l.vertices[v].pos = int32(len(l.layers[r]))
		l.layers[r] = append(l.layers[r], v)
	}
	search := func(root int32) {
		if wide {
			spread(side, root, seen, visit)
			return
		}
		stack = append(stack[:0], root)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			visit(v)
			next := side.of(v)
			for i := len(next) - 1; i >= 0; i-- {
				if !seen[next[i]] {
					stack = append(stack, next[i])
				}
			}
		}
	}
	for _, it := range l.items {
		v := it.vertex
		if back {
			v += int32(it.long) - 1
		}
		if !seen[v] && len(other.of(v)) == 0 {
			search(v)
		}
	}
	for v := range l.vertices {
		if !seen[v] {
			search(int32(v))
		}
	}
}

// spread visits what can be reached from root, near before far.
func spread(side adjacency, root int32, seen []bool, visit func(int32)) {
	queue := []int32{root}
	for i := 0; i < len(queue); i++ {
		if seen[queue[i]] {
			continue
		}
		visit(queue[i])
		for _, w := range side.of(queue[i]) {
			if !seen[w] {
				queue = append(queue, w)
			}
		}
	}
}

func (l *level) save() [][]int32 {
	out := make([][]int32, len(l.layers))
	for i := range out {
		out[i] = slices.Clone(l.layers[i])
	}
	return out
}

func (l *level) keep(best [][]int32) {
	for i := range best {
		copy(best[i], l.layers[i])
	}
}

func (l *level) restore(best [][]int32) {
	for i := range best {
		copy(l.layers[i], best[i])
		l.number(i)
	}
}

func (l *level) number(rank int) {
	for i, v := range l.layers[rank] {
		l.vertices[v].pos = int32(i)
	}
}

// sweep goes through the ranks and sorts each by where its neighbours in the rank before stand. flip
// lets equals change places, to get out of a dead end.
func (l *level) sweep(forward, flip, mean bool) {
	if forward {
		for r := 1; r < len(l.layers); r++ {
			l.sort(r, l.left, flip, mean)
		}
		return
	}
	for r := len(l.layers) - 2; r >= 0; r-- {
		l.sort(r, l.right, flip, mean)
	}
}

// weighed is a vertex with the place that its neighbours ask for.
type weighed struct {
	v    int32
	want float64
}

func byWant(a, b weighed) int {
	switch {
	case a.want < b.want:
		return -1
	case a.want > b.want:
		return 1
	}
	return 0
}

// sort orders one rank. What has no neighbours there keeps its place.
func (l *level) sort(rank int, side adjacency, flip, mean bool) {
	layer := l.layers[rank]
	moving := make([]weighed, 0, len(layer))
	free := make([]int, 0, len(layer))
	for i, v := range layer {
		if want, ok := l.middle(side.of(v), mean); ok {
			moving = append(moving, weighed{v, want})
			free = append(free, i)
		}
	}
	if flip {
		slices.Reverse(moving)
	}
	slices.SortStableFunc(moving, byWant)
	for i, m := range moving {
		layer[free[i]] = m.v
	}
	l.number(rank)
}

// middle is the mean of the places of some vertices, or their median, leaning to where more of them are
// close together.
func (l *level) middle(vs []int32, mean bool) (float64, bool) {
	n := len(vs)
	if mean && n > 1 {
		sum := 0
		for _, v := range vs {
			sum += int(l.vertices[v].pos)
		}
		return float64(sum) / float64(n), true
	}
	switch n {
	case 0:
		return 0, false
	case 1:
		return float64(l.vertices[vs[0]].pos), true
	}
	places := make([]float64, n)
	for i, v := range vs {
		places[i] = float64(l.vertices[v].pos)
	}
	slices.Sort(places)
	m := n / 2
	if n%2 == 1 {
		return places[m], true
	}
	if n == 2 {
		return (places[0] + places[1]) / 2, true
	}
	before, after := places[m-1]-places[0], places[n-1]-places[m]
	if before+after == 0 {
		return (places[m-1] + places[m]) / 2, true
	}
	return (float64(places[m-1]*after) + float64(places[m]*before)) / (before + after), true
}

// straighten puts groups of several ranks into the same order in all of them, so that none crosses
// another. It reports whether anything moved.
func (l *level) straighten() (moved bool) {
	mean := map[int32]float64{} // by the first vertex of a group
	owner := make([]int32, len(l.vertices))
	for _, it := range l.items {
		if it.long < 2 {
			continue
		}
		sum := 0.0
		for r := range it.long {
			v := it.vertex + int32(r)
			owner[v] = it.vertex
			sum += float64(l.vertices[v].pos) / float64(len(l.layers[it.start+r]))
		}
		mean[it.vertex] = sum / float64(it.long)
	}
	if len(mean) < 2 {
		return false
	}
	for r, layer := range l.layers {
		var at []int
		var groups []int32
		for i, v := range layer {
			if l.vertices[v].rigid {
				at = append(at, i)
				groups = append(groups, v)
			}
		}
		was := slices.Clone(groups)
		slices.SortStableFunc(groups, func(a, b int32) int {
			x, y := owner[a], owner[b]
			switch {
			case mean[x] < mean[y]:
				return -1
			case mean[x] > mean[y]:
				return 1
			}
			return int(x - y)
		})
		for i, v := range groups {
			layer[at[i]] = v
			moved = moved || v != was[i]
		}
		l.number(r)
	}
	return moved
}
