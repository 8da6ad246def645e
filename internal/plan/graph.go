package plan

import (
	"fmt"
	"slices"
	"strings"
)

// edge leads from a task to one that waits for it.
type edge struct{ from, to int32 }

// graph holds the edges of a scope by the task that waits, in one block of memory. All walks over
// it are loops, so that a chain of 100,000 tasks costs no stack.
type graph struct {
	first []int32 // of task i: from[first[i]:first[i+1]]
	from  []int32
	order []int32 // topological; what lies on or behind a cycle is not in it
}

func newGraph(n int, edges []edge) graph {
	g := graph{first: make([]int32, n+1), from: make([]int32, len(edges))}
	for _, e := range edges {
		g.first[e.to+1]++
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	at := append([]int32(nil), g.first[:n]...)
	for _, e := range edges {
		g.from[at[e.to]] = e.from
		at[e.to]++
	}
	g.sort(n, edges, at)
	return g
}

func (g *graph) needs(i int32) []int32 { return g.from[g.first[i]:g.first[i+1]] }

// sort takes tasks as their needs are met. missing is scratch of length n.
func (g *graph) sort(n int, edges []edge, missing []int32) {
	out := make([]int32, n+1)
	for _, e := range edges {
		out[e.from+1]++
	}
	for i := range n {
		out[i+1] += out[i]
	}
	to := make([]int32, len(edges))
	at := append([]int32(nil), out[:n]...)
	for _, e := range edges {
		to[at[e.from]] = e.to
		at[e.from]++
	}
	g.order = make([]int32, 0, n)
	for i := range n {
		if missing[i] = g.first[i+1] - g.first[i]; missing[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for k := 0; k < len(g.order); k++ {
		i := g.order[k]
		for _, t := range to[out[i]:out[i+1]] {
			if missing[t]--; missing[t] == 0 {
				g.order = append(g.order, t)
			}
		}
	}
}

// cycles reports each circle of tasks that wait for one another, with its path.
func (c *checker) cycles(s *scope) {
	n := len(s.tasks)
	if len(s.graph.order) == n {
		return
	}
	const fresh = -1
	done := -2
	mark := make([]int, n) // the walk that met the task; done: it was sorted
	for i := range mark {
		mark[i] = fresh
	}
	for _, i := range s.graph.order {
		mark[i] = done
	}
	for start := range n {
		var walk []int32
		at := int32(start)
		for mark[at] == fresh {
			mark[at] = start
			walk = append(walk, at)
			for _, need := range s.graph.needs(at) {
				if mark[need] != done {
					at = need // there is one, or the task would have been sorted
					break
				}
			}
		}
		if mark[at] == start && len(walk) > 0 {
			c.cycle(s, walk, at)
		}
	}
}

func (c *checker) cycle(s *scope, walk []int32, from int32) {
	walk = walk[slices.Index(walk, from):]
	from = slices.Min(walk) // tell it from the task that comes first in the file
	k := slices.Index(walk, from)
	walk = slices.Concat(walk[k:], walk[:k])
	var b strings.Builder
	for k, i := range walk {
		if k == 20 && len(walk) > 30 {
			fmt.Fprintf(&b, "(%d more) -> ", len(walk)-20)
			break
		}
		b.WriteString(s.tasks[i].ID + " -> ")
	}
	first := s.tasks[from].ID
	what := fmt.Sprintf("%d tasks wait for each other", len(walk))
	if len(walk) == 1 {
		what = "a task waits for itself"
	}
	remedy := fmt.Sprintf("take %s out of what %s waits for, or another link of the chain", first, s.tasks[walk[len(walk)-1]].ID)
	if len(walk) == 1 {
		remedy = "take it out of what it waits for"
	}
	n := s.node(int(from), "needs")
	if len(s.tasks[from].Needs) == 0 {
		n = s.node(int(from), "next")
	}
	c.fault(n, CodeCycle, remedy, "%s: %s%s", what, b.String(), first)
}
