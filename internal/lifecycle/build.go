package lifecycle

import (
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// build lays out the DAG of a plan. The plan was checked; what is wrong here was never checked.
func (s *State) build(p *plan.Plan) error {
	s.nodes = make([]node, 1, len(p.Tasks)+1)
	s.ids = make(map[string]int32, len(p.Tasks))
	s.nodes[0] = node{parent: -1, status: Pending, spec: &plan.Task{}, execution: 1}
	return s.grow(0, p.Tasks)
}

// grow adds tasks as children of a group.
func (s *State) grow(parent int32, tasks []plan.Task) error {
	first := int32(len(s.nodes))
	for k := range tasks {
		if _, err := s.add(parent, s.childID(parent, tasks[k].ID), &tasks[k]); err != nil {
			return err
		}
	}
	// All siblings have ids before any of them is linked; what is inside them follows after, in order.
	end := int32(len(s.nodes))
	for i := first; i < end; i++ {
		if err := s.link(i); err != nil {
			return err
		}
	}
	s.weigh(first, end)
	s.wake(first, end)
	for i := first; i < end; i++ {
		if n := &s.nodes[i]; n.spec.Each == "" && n.spec.IsGroup() {
			if err := s.grow(i, n.spec.Subplan.Tasks); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *State) childID(parent int32, id string) string {
	if parent == 0 {
		return id
	}
	return s.nodes[parent].id + "/" + id
}

func (s *State) add(parent int32, id string, spec *plan.Task) (int32, error) {
	if _, taken := s.ids[id]; taken {
		return 0, fault.New(fault.Invalid, "two tasks have the id %s", id)
	}
	i := int32(len(s.nodes))
	n := node{id: id, spec: spec, parent: parent, status: Pending, missing: 1, execution: 1, weight: s.nodes[parent].weight,
		rank: int32(spec.Rank())}
	class := capability.Class(spec.Repeat)
	if class == "" {
		class = s.classes[spec.Uses].Repeat
	}
	n.pure = class == capability.Pure && !s.metered(parent, spec)
	if p, was := s.past[id]; was {
		n.execution, n.attempt, n.granted = p.execution+1, p.attempt, p.execution
	}
	s.nodes = append(s.nodes, n)
	s.ids[id] = i
	s.nodes[parent].children = append(s.nodes[parent].children, i)
	return i, nil
}

// find looks an id up in the scope of a node: among its siblings, then around its parent.
func (s *State) find(from int32, id string) (int32, bool) {
	for p := s.nodes[from].parent; ; p = s.nodes[p].parent {
		if i, ok := s.ids[s.childID(p, id)]; ok {
			return i, true
		}
		if p == 0 {
			return 0, false
		}
	}
}

// sibling looks an id up beside a node, where routes lead; an instance stands where its each does.
func (s *State) sibling(i int32, id string) (int32, bool) {
	p := s.nodes[i].parent
	if s.nodes[i].item > 0 {
		p = s.nodes[p].parent
	}
	to, ok := s.ids[s.childID(p, id)]
	return to, ok
}

// link adds the edges that a task declares.
func (s *State) link(i int32) error {
	spec := s.nodes[i].spec
	for _, id := range spec.Needs {
		from, ok := s.find(i, id)
		if !ok {
			return unknown(s.nodes[i].id, id)
		}
		s.depend(from, i)
	}
	if spec.Next != nil {
		for _, id := range spec.Next.Success {
			to, ok := s.sibling(i, id)
			if !ok {
				return unknown(s.nodes[i].id, id)
			}
			s.depend(i, to)
		}
	}
	return nil
}

func (s *State) depend(from, to int32) {
	s.nodes[from].dependents = append(s.nodes[from].dependents, to)
	s.nodes[to].needs = append(s.nodes[to].needs, from)
	s.nodes[to].missing++
}

func unknown(task, id string) error {
	return fault.New(fault.Invalid, "task %s names %s, which is not in the plan", task, id)
}

// routes visits the tasks to which a task may route when it fails.
func (s *State) routes(i int32, visit func(target int32)) {
	spec := s.nodes[i].spec
	for _, m := range spec.Failure {
		if to, ok := s.sibling(i, m.Recover); ok {
			visit(to)
		}
	}
	if spec.Next != nil {
		for _, id := range spec.Next.Failure {
			if to, ok := s.sibling(i, id); ok {
				visit(to)
			}
		}
	}
}

// wake finds which of the new tasks are dormant: the targets of routes, unless the route leads back upstream.
func (s *State) wake(first, end int32) {
	upstream := map[int32]map[int32]bool{}
	for i := first; i < end; i++ {
		spec := s.nodes[i].spec
		if len(spec.Failure) == 0 && spec.Next == nil {
			continue
		}
		s.routes(i, func(to int32) {
			if to == i {
				return
			}
			if upstream[to] == nil {
				upstream[to] = s.downstream(to)
			}
			if !upstream[to][i] {
				s.nodes[to].dormant = true
				s.nodes[to].routers++
				s.nodes[i].wakes = append(s.nodes[i].wakes, to)
			}
		})
	}
}

// downstream is every task that depends on i, by whatever path.
func (s *State) downstream(i int32) map[int32]bool {
	seen := map[int32]bool{}
	for work := []int32{i}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, d := range s.nodes[n].dependents {
			if !seen[d] {
				seen[d] = true
				work = append(work, d)
			}
		}
	}
	return seen
}

// defaultEstimate is what a task without an estimate is thought to take: only proportions matter.
const defaultEstimate = int64(time.Minute)

// weigh computes the critical path of sibling tasks: the longest way from each to the end of the group, and on
// from there as long as the group's own.
func (s *State) weigh(first, end int32) {
	inside := func(i int32) bool { return i >= first && i < end }
	before := make([]int32, end-first)
	for i := first; i < end; i++ {
		for _, d := range s.nodes[i].dependents {
			if inside(d) {
				before[d-first]++
			}
		}
	}
	order := make([]int32, 0, end-first)
	for i := first; i < end; i++ {
		if before[i-first] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, d := range s.nodes[order[k]].dependents {
			if !inside(d) {
				continue
			}
			if before[d-first]--; before[d-first] == 0 {
				order = append(order, d)
			}
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		n := &s.nodes[order[k]]
		for _, d := range n.dependents {
			if inside(d) {
				n.weight = max(n.weight, s.nodes[d].weight)
			}
		}
		n.weight += estimate(n.spec)
	}
}

func estimate(t *plan.Task) int64 {
	if t.Estimate > 0 {
		return int64(t.Estimate)
	}
	return defaultEstimate
}
