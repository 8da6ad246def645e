package layout

import "slices"

// hanging finds the vertices of items that have one link only, to an item that has more, and of those links.
func (l *level) hanging() []bool {
	hangs := make([]bool, len(l.vertices))
	links := make([]int, len(l.items))
	for _, k := range l.links {
		links[k.from]++
		links[k.to]++
	}
	for _, p := range l.loose {
		links[p.item] += 2
	}
	for i, it := range l.items {
		hangs[it.vertex] = links[i] == 1 && it.long == 1
	}
	for _, k := range l.links {
		if links[k.from] == 1 && links[k.to] == 1 {
			hangs[l.items[k.from].vertex] = false
		}
	}
	for _, it := range l.items {
		if !hangs[it.vertex] {
			continue
		}
		for _, side := range [2]adjacency{l.left, l.right} { // along the edge, up to where it hangs
			for near := side.of(it.vertex); len(near) == 1 && l.vertices[near[0]].pass; near = side.of(near[0]) {
				hangs[near[0]] = true
			}
		}
	}
	return hangs
}

// insert puts hanging vertices into their ranks: where what they hang on asks for, then where they cross
// least. Ranks are filled in the direction in which edges lead away from the rest.
func (l *level) insert(hangs []bool) {
	into := make([][]int32, len(l.layers))
	count := 0
	for v, h := range hangs {
		if h {
			into[l.vertices[v].rank] = append(into[l.vertices[v].rank], int32(v))
			count++
		}
	}
	if count == 0 {
		return
	}
	placed := make([]bool, len(l.vertices))
	for v := range placed {
		placed[v] = !hangs[v]
	}
	for r := range l.layers {
		l.insertAt(r, into[r], l.left, placed)
	}
	for r := len(l.layers) - 1; r >= 0; r-- {
		l.insertAt(r, into[r], l.right, placed)
	}
	c := newCrosser(l)
	c.settleAll(hangs)
}

// insertAt puts those of a rank in whose neighbour on a side has its place.
func (l *level) insertAt(r int, vs []int32, side adjacency, placed []bool) {
	var ready []weighed
	for _, v := range vs {
		if near := side.of(v); !placed[v] && len(near) > 0 && placed[near[0]] {
			ready = append(ready, weighed{v, float64(l.vertices[near[0]].pos)})
			placed[v] = true
		}
	}
	if len(ready) == 0 {
		return
	}
	slices.SortStableFunc(ready, byWant)
	out := make([]int32, 0, len(l.layers[r])+len(ready))
	for _, v := range l.layers[r] {
		near := side.of(v)
		want, known := l.middle(near, false)
		for known && len(ready) > 0 && ready[0].want < want {
			out = append(out, ready[0].v)
			ready = ready[1:]
		}
		out = append(out, v)
	}
	for _, w := range ready {
		out = append(out, w.v)
	}
	l.layers[r] = out
	l.number(r)
}
