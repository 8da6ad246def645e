package layout

import "slices"

// rigidWeight is how many crossings of edges one through a group is worth.
const rigidWeight = 20

// reach bounds how far a vertex is moved at once.
const reach = 80

// crosser counts crossings and takes them away. It keeps its scratch space, for it is asked often.
type crosser struct {
	l        *level
	tree     []int
	places   []int32
	order    []int32
	near     [2][]int32 // where the neighbours of vertices stand, left and right
	heavy    [2][]int   // what a crossing of their segments there is worth
	fixed    bool       // groups keep their order
	work     int        // comparisons so far
	restless bool       // what is as good elsewhere moves there
}

func newCrosser(l *level) *crosser {
	widest := 0
	for _, layer := range l.layers {
		widest = max(widest, len(layer))
	}
	c := &crosser{l: l, tree: make([]int, widest+2)}
	for k, side := range [2]*adjacency{&l.left, &l.right} {
		c.near[k] = make([]int32, len(side.to))
		c.heavy[k] = make([]int, len(l.vertices))
		for v := range l.vertices {
			c.heavy[k][v] = 1
			if us := side.of(int32(v)); len(us) == 1 {
				c.heavy[k][v] = l.weight(min(us[0], int32(v)), max(us[0], int32(v)))
			}
		}
	}
	return c
}

// weight of the segments between two vertices.
func (l *level) weight(u, v int32) int {
	if l.vertices[u].rigid && l.vertices[v].rigid && v == u+1 {
		return rigidWeight
	}
	return 1
}

// count is the number of crossings in the whole level, by weight.
func (c *crosser) count() (total int) {
	for r := 0; r+1 < len(c.l.layers); r++ {
		total += c.between(r)
	}
	return total
}

// between counts the crossings between a rank and the next: for every segment, in the order of its start,
// those before it that end after it. The tree sums by prefix.
func (c *crosser) between(r int) (total int) {
	n := len(c.l.layers[r+1])
	tree := c.tree[:n+1]
	clear(tree)
	sum := 0
	for _, u := range c.l.layers[r] {
		c.places = c.places[:0]
		for _, v := range c.l.right.of(u) {
			c.places = append(c.places, c.l.vertices[v].pos)
		}
		slices.Sort(c.places)
		for _, p := range c.places {
			w := c.l.weight(u, c.l.layers[r+1][p])
			below := 0
			for i := int(p) + 1; i > 0; i -= i & -i {
				below += tree[i]
			}
			total += w * (sum - below)
		}
		for _, p := range c.places {
			w := c.l.weight(u, c.l.layers[r+1][p])
			sum += w
			for i := int(p) + 1; i <= n; i += i & -i {
				tree[i] += w
			}
		}
	}
	return total
}

// settle moves every vertex of a rank to the place, at most reach from its own, where it crosses least. It
// reports whether that took crossings away.
func (c *crosser) settle(r int, only []bool) (better bool) {
	c.look(r)
	layer := c.l.layers[r]
	c.order = append(c.order[:0], layer...)
	for _, v := range c.order {
		if len(only) > 0 && !only[v] {
			continue
		}
		at := int(c.l.vertices[v].pos)
		best, most := at, 0
		sum := 0
		for i := at + 1; i < len(layer) && i <= at+reach; i++ {
			if c.bound(v, layer[i]) {
				break
			}
			if sum += c.gain(v, layer[i]); sum > most || c.restless && sum == most {
				best, most = i, sum
			}
		}
		sum = 0
		for i := at - 1; i >= 0 && i >= at-reach; i-- {
			if c.bound(v, layer[i]) {
				break
			}
			if sum += c.gain(layer[i], v); sum > most {
				best, most = i, sum
			}
		}
		if best == at {
			continue
		}
		better = better || most > 0
		c.move(layer, at, best)
	}
	return better
}

// settleAll goes through the ranks there and back for as long as that helps. Only those named move, or all.
func (c *crosser) settleAll(only []bool) {
	for range maxRounds {
		better := false
		for r := 0; r < len(c.l.layers) && c.work <= orderWork; r++ {
			better = c.settle(r, only) || better
		}
		for r := len(c.l.layers) - 2; r >= 0 && c.work <= orderWork; r-- {
			better = c.settle(r, only) || better
		}
		if !better {
			return
		}
	}
}

// bound reports whether two vertices must keep their order: ranks of groups, once these are in order.
func (c *crosser) bound(u, v int32) bool {
	return c.fixed && c.l.vertices[u].rigid && c.l.vertices[v].rigid
}

func (c *crosser) move(layer []int32, from, to int) {
	v := layer[from]
	if from < to {
		copy(layer[from:to], layer[from+1:to+1])
	} else {
		copy(layer[to+1:from+1], layer[to:from])
	}
	layer[to] = v
	for i := min(from, to); i <= max(from, to); i++ {
		c.l.vertices[layer[i]].pos = int32(i)
	}
}

// look notes, for every vertex of a rank, where its neighbours on both sides stand, in order.
func (c *crosser) look(r int) {
	for _, v := range c.l.layers[r] {
		for k, side := range [2]*adjacency{&c.l.left, &c.l.right} {
			near := c.near[k][side.from[v]:side.from[v+1]]
			for i, u := range side.of(v) {
				near[i] = c.l.vertices[u].pos
			}
			slices.Sort(near)
		}
	}
}

// gain is how many crossings fewer there are with v before u, which stands before it.
func (c *crosser) gain(u, v int32) (gain int) {
	c.work++
	for k, side := range [2]*adjacency{&c.l.left, &c.l.right} {
		us, vs := c.near[k][side.from[u]:side.from[u+1]], c.near[k][side.from[v]:side.from[v+1]]
		if len(us) == 0 || len(vs) == 0 {
			continue
		}
		w := c.heavy[k][u] * c.heavy[k][v]
		if len(us) == 1 && len(vs) == 1 {
			switch {
			case us[0] > vs[0]:
				gain += w
			case us[0] < vs[0]:
				gain -= w
			}
			continue
		}
		gain += w * (inversions(us, vs) - inversions(vs, us))
	}
	return gain
}

// inversions counts the pairs of one of a and one of b of which that of a is the greater.
func inversions(a, b []int32) (n int) {
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		n += j
	}
	return n
}
