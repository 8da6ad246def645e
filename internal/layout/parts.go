package layout

import "container/heap"

// parts are sets of nodes that grow together, from one node each.
type parts struct {
	of    []int32   // the part of a node
	nodes [][]int32 // the nodes of a part; none once it has gone up in another
	heap  partHeap
}

func newParts(n int) *parts {
	p := &parts{of: make([]int32, n), nodes: make([][]int32, n)}
	for v := range n {
		p.of[v] = int32(v)
		p.nodes[v] = []int32{int32(v)}
	}
	return p
}

// join makes one part of two, and returns it. The smaller goes up in the larger.
func (p *parts) join(u, v int32) int32 {
	a, b := p.of[u], p.of[v]
	if len(p.nodes[a]) < len(p.nodes[b]) {
		a, b = b, a
	}
	for _, w := range p.nodes[b] {
		p.of[w] = a
	}
	p.nodes[a] = append(p.nodes[a], p.nodes[b]...)
	p.nodes[b] = nil
	return a
}

// sort puts all parts into the order of their sizes.
func (p *parts) sort() {
	for i, nodes := range p.nodes {
		if len(nodes) > 0 {
			p.heap = append(p.heap, sized{int32(i), len(nodes)})
		}
	}
	heap.Init(&p.heap)
}

func (p *parts) push(part int32) { heap.Push(&p.heap, sized{part, len(p.nodes[part])}) }

// smallest takes the smallest part out, or returns -1 when there is but one.
func (p *parts) smallest() int32 {
	for len(p.heap) > 0 {
		s := heap.Pop(&p.heap).(sized)
		if n := len(p.nodes[s.part]); n != s.size || n == len(p.of) {
			continue // it has grown since, or gone up in another
		}
		return s.part
	}
	return -1
}

// sized is a part as large as it was when it was put into the heap.
type sized struct {
	part int32
	size int
}

type partHeap []sized

func (h partHeap) Len() int { return len(h) }
func (h partHeap) Less(i, j int) bool {
	if h[i].size != h[j].size {
		return h[i].size < h[j].size
	}
	return h[i].part < h[j].part
}
func (h partHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *partHeap) Push(x any) { *h = append(*h, x.(sized)) }

// Pop implements heap.Interface.
func (h *partHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
