package lifecycle

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Origin is the record of another run that something was taken from.
type Origin struct {
	Plan string      `json:"plan"`
	Seq  journal.Seq `json:"seq"`
	Hash digest.ID   `json:"hash"` // of that record
}

// Carried is the body of task.carried: a run that was forked begins with what another had done. The journal of a fork
// holds all that it goes by, so it can be read and proved without the one it came from.
type Carried struct {
	Status    Status                     `json:"status,omitempty"` // absent: only the list of its items is carried
	Why       string                     `json:"why,omitempty"`
	Outputs   map[string]json.RawMessage `json:"outputs,omitempty"`
	Artifacts []capability.Ref           `json:"artifacts,omitempty"`
	Exit      *int                       `json:"exit,omitempty"`
	Inputs    digest.ID                  `json:"inputs,omitzero"`
	Count     *int                       `json:"count,omitempty"` // items of an each
	Items     digest.ID                  `json:"items,omitzero"`
	From      Origin                     `json:"from"`
}

// Carry is what a fork takes over of one task.
type Carry struct {
	Task string
	Carried
}

// Fork lists what a plan that begins with this run's results takes over: every task that is done and would be kept if b were
// its next revision. What is under way is not. The state is used up by it.
func (s *State) Fork(b *Revised) ([]Carry, error) {
	s.halt()
	s.undo = nil
	for i := range s.nodes {
		if s.nodes[i].wait == ForUnknown {
			s.nodes[i].wait = ForNothing
		}
	}
	m, err := s.move(b)
	if err != nil {
		return nil, err
	}
	var out []Carry
	m.collect(0, &out)
	return out, nil
}

// collect lists what is kept inside a group, a fan-out before its items.
func (m *move) collect(g int32, out *[]Carry) {
	for _, i := range m.next.nodes[g].children {
		n, f := &m.next.nodes[i], m.fate(i)
		if f.from == 0 || f.renewed || neverNeeded(n) {
			continue
		}
		c := Carry{Task: n.id}
		if n.expanded {
			count := len(n.children)
			c.Count, c.Items = &count, n.items
		}
		switch {
		case n.status == Completed && !m.asks(n), n.status == Skipped:
			c.Status = n.status
			if r := n.result; r != nil {
				c.Outputs, c.Artifacts, c.Exit, c.Inputs = r.Outputs, r.Artifacts, r.Exit, r.Inputs
			}
		case !n.expanded:
			m.collect(i, out)
			continue
		}
		*out = append(*out, c)
		if n.status != Skipped {
			m.collect(i, out)
		}
	}
}

// needless skips the tasks of a fork that nothing can route to any more.
func (s *State) needless() {
	for i := 1; i < len(s.nodes) && s.Forked != nil; i++ {
		if n := &s.nodes[i]; n.dormant && n.routers == 0 && !n.activated && n.status == Pending {
			s.settle(int32(i), Skipped, "never needed")
		}
	}
}

// asks reports whether a gate that was decided has to be decided again: it holds back something that is still to be done.
func (m *move) asks(n *node) bool {
	if n.spec.Kind != plan.Gate || !needsDecision(n.spec) {
		return false
	}
	for _, d := range n.dependents {
		if !m.next.nodes[d].status.Terminal() {
			return true
		}
	}
	return false
}

// carried takes over a result before the run begins.
func (s *State) carried(f Fact, b *Carried) error {
	i, ok := s.ids[f.Task]
	switch {
	case s.Phase != PlanPending || s.Forked == nil:
		return s.refuse(f)
	case !ok:
		return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, f.Task)
	case s.nodes[i].status != Pending || b.Status != "" && b.Status != Completed && b.Status != Skipped:
		return fault.New(fault.Conflict, "task %s is %s, so %s cannot follow", f.Task, s.where(&s.nodes[i]), f.Kind)
	}
	if n := &s.nodes[i]; b.Count != nil && n.spec.Each != "" && n.item == 0 && !n.expanded {
		for k := 1; k <= *b.Count; k++ {
			if _, taken := s.ids[n.id+"-"+itoa(k)]; taken {
				return fault.New(fault.Conflict, "task %s has the id of an item of %s", n.id+"-"+itoa(k), n.id)
			}
		}
		n.items = b.Items
		s.instances(i, *b.Count)
	}
	if b.Status == "" {
		return nil
	}
	s.nodes[i].result = resultOf(&Ended{Outputs: b.Outputs, Artifacts: b.Artifacts, Exit: b.Exit, Inputs: b.Inputs})
	s.settle(i, b.Status, b.Why)
	return nil
}
