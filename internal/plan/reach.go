package plan

import (
	"cmp"
	"slices"
)

// unordered returns the queries whose target need not end before the task starts. Most targets are
// direct needs; the rest are answered 64 targets at a time, by one pass over the part of the
// topological order that lies between.
func (c *checker) unordered(s *scope, queries []query) []query {
	g := &s.graph
	rest := queries[:0]
	direct := needsOf{graph: g, task: -1}
	for _, q := range queries {
		if !direct.has(q.task, q.target) {
			rest = append(rest, q)
		}
	}
	if len(rest) == 0 || len(g.order) < len(s.tasks) {
		return nil // with a cycle there is no order to speak of
	}
	rank := make([]int32, len(s.tasks))
	for k, i := range g.order {
		rank[i] = int32(k)
	}
	slices.SortStableFunc(rest, func(a, b query) int { return cmp.Compare(rank[a.target], rank[b.target]) })
	bits := make([]uint64, len(s.tasks))
	var out []query
	for len(rest) > 0 {
		n, targets := batch(rest)
		g.spread(rest[:n], targets, rank, bits)
		for _, q := range rest[:n] {
			if rank[q.task] < rank[q.target] || bits[q.task]&targets[q.target] == 0 {
				out = append(out, q)
			}
		}
		rest = rest[n:]
	}
	return c.unrouted(s, out)
}

// needsOf answers whether a task needs another. Questions about one task come in a row, so that the
// many needs of a join are put in a set but once.
type needsOf struct {
	graph *graph
	task  int32
	set   map[int32]bool
}

func (n *needsOf) has(task, target int32) bool {
	needs := n.graph.needs(task)
	if len(needs) < 32 {
		return slices.Contains(needs, target)
	}
	if n.task != task {
		n.task, n.set = task, make(map[int32]bool, len(needs))
		for _, need := range needs {
			n.set[need] = true
		}
	}
	return n.set[target]
}

// batch takes queries until they have 64 targets, and gives each target its bit.
func batch(qs []query) (n int, targets map[int32]uint64) {
	targets = make(map[int32]uint64, 64)
	for ; n < len(qs); n++ {
		if targets[qs[n].target] == 0 {
			if len(targets) == 64 {
				break
			}
			targets[qs[n].target] = 1 << len(targets)
		}
	}
	return n, targets
}

// spread gives every task from the first target to the last asker the bits of the targets behind it.
func (g *graph) spread(qs []query, targets map[int32]uint64, rank []int32, bits []uint64) {
	low, high := rank[qs[0].target], int32(0)
	for _, q := range qs {
		high = max(high, rank[q.task], rank[q.target])
	}
	for k := low; k <= high; k++ {
		i := g.order[k]
		b := targets[i]
		for _, need := range g.needs(i) {
			if rank[need] >= low {
				b |= bits[need]
			}
		}
		bits[i] = b
	}
}

// maxSteps bounds the search along routes, which may run in circles.
const maxSteps = 20_000_000

// unrouted drops the queries whose task is reached from its target along routes of failure: what a
// failed task leads to may read what it left.
func (c *checker) unrouted(s *scope, queries []query) []query {
	if len(queries) == 0 || !s.hasRoutes() {
		return queries
	}
	back := s.routers()
	steps := 0
	return slices.DeleteFunc(queries, func(q query) bool {
		seen := map[int32]bool{q.task: true}
		for work := []int32{q.task}; len(work) > 0 && steps < maxSteps; steps++ {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			for _, before := range [][]int32{s.graph.needs(i), back[i]} {
				for _, b := range before {
					if b == q.target {
						return true
					}
					if !seen[b] {
						seen[b] = true
						work = append(work, b)
					}
				}
			}
		}
		return steps >= maxSteps
	})
}

func (s *scope) hasRoutes() bool {
	for i := range s.tasks {
		if t := &s.tasks[i]; len(t.Failure) > 0 || t.Next != nil && len(t.Next.Failure) > 0 {
			return true
		}
	}
	return false
}

// routers lists, for each task, those that lead to it when they fail.
func (s *scope) routers() map[int32][]int32 {
	back := map[int32][]int32{}
	for i := range s.tasks {
		t := &s.tasks[i]
		var to []string
		for _, m := range t.Failure {
			to = append(to, m.Recover)
		}
		if t.Next != nil {
			to = append(to, t.Next.Failure...)
		}
		for _, id := range to {
			if at, ok := s.index[id]; ok {
				back[at] = append(back[at], int32(i))
			}
		}
	}
	return back
}
