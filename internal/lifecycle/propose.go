package lifecycle

import (
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// ReplanTask is how people name an open proposal where a task is asked for, in a plan that has no task of that id.
const ReplanTask = "replan"

// Bounds that let every run end: how often somebody is asked about one task, and how much is done in a run without asking
// anybody. They are counted apart, so that what did not pass by itself is put to a person in the end.
const (
	maxProposals = 3
	maxAutomatic = 3
)

// Proposal is what was proposed and is not decided yet.
type Proposal struct {
	Task string
	Rev  int // the revision that it is about
	Proposed

	execution int32
}

// proposals is what was proposed in a run.
type proposals struct {
	open      *Proposal
	count     map[string]int     // by task: those that somebody was asked about
	refused   map[string]int32   // by task: the execution for which somebody refused
	tried     map[[2]string]bool // task and failure mode: by a proposal
	automatic int
}

// Proposal is the one that waits for somebody, or nil. It lapses when what it is about changes: the task was tried again,
// undone or given up, or the plan was revised.
func (s *State) Proposal() *Proposal {
	p := s.proposals.open
	if p == nil || p.Rev != s.Rev || !s.diverging() {
		return nil
	}
	i, ok := s.ids[p.Task]
	if !ok || !s.forGood(i) || s.nodes[i].execution != p.execution {
		return nil
	}
	return p
}

// Diverged lists the tasks that failed for good and for which something may be proposed now, in the order of the plan.
func (s *State) Diverged() (tasks []string) {
	if s.law < 2 || !s.diverging() || s.Proposal() != nil {
		return nil
	}
	for i := 1; i < len(s.nodes); i++ {
		if s.proposable(int32(i)) {
			tasks = append(tasks, s.nodes[i].id)
		}
	}
	return tasks
}

// MayAct reports whether the engine may carry out a proposal without asking anybody.
func (s *State) MayAct() bool {
	p := s.Plan.Policy
	return s.law >= 2 && p != nil && p.Replan == plan.ReplanAuto && s.proposals.automatic < maxAutomatic
}

// Recoveries lists the failure modes whose recovery a task can be tried again by: one that is a task, does not follow from
// this one, and was not proposed and tried before. A task that has to be looked at before it begins has none.
func (s *State) Recoveries(task string) (modes []string) {
	i, ok := s.ids[task]
	if !ok || s.looked(&s.nodes[i]) {
		return nil
	}
	for _, m := range s.nodes[i].spec.Failure {
		if r, found := s.sibling(i, m.Recover); m.Recover != "" && found && r != i && !s.downstream(i)[r] && !s.proposals.tried[[2]string{task, m.Name}] {
			modes = append(modes, m.Name)
		}
	}
	return modes
}

// Criteria is how those of a task turned out when it failed the last time.
func (s *State) Criteria(task string) []Verdict {
	if i, ok := s.ids[task]; ok && s.nodes[i].lastFail != nil {
		return s.nodes[i].lastFail.Criteria
	}
	return nil
}

// looked reports whether a task is assessed before it begins. What waits for a recovery begins without, so that must not be
// a way around consent.
func (s *State) looked(n *node) bool {
	return n.item == 0 && (n.spec.When != "" || n.spec.Each != "") || n.spec.Kind == plan.Gate || s.held(n)
}

// diverging reports whether nothing goes on by itself: the plan failed, or people alone can bring it on.
func (s *State) diverging() bool {
	return !s.Archived && s.undo == nil && (s.Phase == PlanFailed || s.Phase == PlanRunning && s.OnlyPeople())
}

// forGood reports whether a task itself failed, nothing took over, and nobody wanted it to.
func (s *State) forGood(i int32) bool {
	n := &s.nodes[i]
	if n.status != FailedTask || n.routed || n.gone || n.rejected || s.isGroup(n) {
		return false
	}
	for p := n.parent; p > 0; p = s.nodes[p].parent {
		if g := &s.nodes[p]; g.status.Terminal() && (g.status != FailedTask || g.routed) {
			return false
		}
	}
	return true
}

func (s *State) proposable(i int32) bool {
	n := &s.nodes[i]
	return s.forGood(i) && s.proposals.count[n.id] < maxProposals && s.proposals.refused[n.id] != n.execution
}

// propose takes a proposal, and carries it out at once where the policy lets it.
func (s *State) propose(f Fact, b *Proposed) error {
	if s.law < 2 || !s.diverging() || s.Proposal() != nil {
		return s.refuse(f)
	}
	i, ok := s.ids[f.Task]
	if !ok {
		return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, f.Task)
	}
	simple := b.Kind == ProposeRetry || b.Kind == ProposeRecover
	if !s.proposable(i) || b.Auto && !(simple && s.MayAct()) {
		return fault.New(fault.Conflict, "task %s is %s, so %s cannot follow", f.Task, s.where(&s.nodes[i]), f.Kind)
	}
	p := &s.proposals
	if p.count == nil {
		p.count, p.refused, p.tried = map[string]int{}, map[string]int32{}, map[[2]string]bool{}
	}
	if b.Auto {
		p.open = nil
		p.automatic++
		s.again(i, b.Mode)
		return nil
	}
	p.count[f.Task]++
	p.open = &Proposal{Task: f.Task, Rev: s.Rev, Proposed: *b, execution: s.nodes[i].execution}
	return nil
}

// decideReplan takes somebody's word on the open proposal. To agree to a question is to try again.
func (s *State) decideReplan(f Fact, b *ReplanVerdict) error {
	p := s.Proposal()
	if p == nil || p.Task != f.Task || b.Accepted && p.Kind == ProposeRevision {
		return s.refuse(f)
	}
	i := s.ids[p.Task]
	s.proposals.open = nil
	if !b.Accepted {
		s.proposals.refused[p.Task] = s.nodes[i].execution
		return nil
	}
	if s.Phase.Over() {
		s.Tended = false // nobody carries out a plan that was over
	}
	s.again(i, p.Mode)
	return nil
}

// again gives one task that failed another execution, after a recovery where a mode names one, and opens the plan and the
// groups around it again.
func (s *State) again(i int32, mode string) {
	if s.Phase == PlanFailed {
		s.Phase, s.nodes[0].status = PlanRunning, Running
	}
	for p := s.nodes[i].parent; p > 0; p = s.nodes[p].parent {
		if g := &s.nodes[p]; g.status == FailedTask {
			s.rejoin(p)
			g.lastFail, g.retries, g.order, g.status = nil, 0, 0, Running
			g.execution++
			s.stir(p)
			s.dirty = append(s.dirty, p)
		}
	}
	s.dirty = append(s.dirty, 0)
	s.rejoin(i)
	n := &s.nodes[i]
	failed := Ended{Outcome: Failed, Mode: mode}
	if n.lastFail != nil {
		failed.Error = n.lastFail.Error
	}
	n.lastFail, n.retries, n.order, n.status = nil, 0, 0, Pending
	n.execution++
	if mode != "" && !s.looked(n) {
		s.proposals.tried[[2]string{n.id, mode}] = true
		if n.lastFail = &failed; s.recover(i, &failed) {
			return
		}
		s.nodes[i].lastFail = nil
	}
	s.consider(i)
}
