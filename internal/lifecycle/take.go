package lifecycle

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Submit takes the first fact of a run, with the plan whose spec it names.
func (s *State) Submit(f Fact, p *plan.Plan) ([]Derived, error) {
	s.begin(f)
	b, ok := f.Body.(*Submitted)
	if f.Kind != PlanSubmitted || !ok {
		return nil, fault.New(fault.Conflict, "plan %s has no %s before it was submitted", s.Name, f.Kind)
	}
	if s.Phase != NoPlan {
		return nil, s.refuse(f)
	}
	s.Plan, s.Spec, s.Author, s.classes, s.Workers, s.law = p, b.Spec, f.Actor, b.Capabilities, p.Workers(), b.Law
	s.wrote(f.Actor, b.Claimer, b.Trusted)
	s.house = b.Budget
	if err := s.build(p); err != nil {
		return nil, err
	}
	s.guard(b.Guarded)
	s.Forked = b.Fork
	s.Phase, s.Revisions = PlanPending, []Revision{{Rev: s.Rev, Spec: b.Spec, Author: f.Actor, How: ByFile}}
	return s.out, nil
}

// Take applies a fact and everything that follows from it. The result is valid until the next Take.
func (s *State) Take(f Fact) ([]Derived, error) {
	s.begin(f)
	if err := s.apply(f); err != nil {
		return nil, err
	}
	s.settleAll()
	return s.out, nil
}

func (s *State) begin(f Fact) {
	s.now, s.out, s.effects, s.dirty = f.Time, s.out[:0], s.effects[:0], s.dirty[:0]
}

// settleAll starts what can start and ends what has nothing left, until nothing moves.
func (s *State) settleAll() {
	for {
		s.pump()
		if len(s.dirty) == 0 {
			if !s.unstick() {
				return
			}
			continue
		}
		// The innermost group was pushed first.
		g := s.dirty[0]
		s.dirty = s.dirty[1:]
		if s.nodes[g].active == 0 && s.nodes[g].status == Running {
			s.settleGroup(g)
		}
	}
}

func (s *State) refuse(f Fact) error {
	what := "has no plan yet"
	if s.Phase != NoPlan {
		what = "is " + string(s.Phase)
	}
	return fault.New(fault.Conflict, "plan %s %s, so %s cannot follow", s.Name, what, f.Kind)
}

// apply decides by the plan's phase whether a fact may be taken at all.
func (s *State) apply(f Fact) error {
	if err := s.closed(f); err != nil {
		return err
	}
	switch f.Kind {
	case ArtifactPut, ArtifactExpired:
		if s.Phase == NoPlan {
			return s.refuse(f)
		}
		return s.artifact(f)
	case BudgetDrawn, BudgetRead, BudgetRaised, BudgetDenied:
		return s.spending(f)
	case RollbackAsked, TaskUndone:
		return s.rollback(f)
	case PlanRevised:
		return s.revise(f, f.Body.(*Revised))
	case PlanArchived:
		return s.archive(f)
	case ReplanProposed:
		return s.propose(f, f.Body.(*Proposed))
	case ReplanDecided:
		return s.decideReplan(f, f.Body.(*ReplanVerdict))
	case TaskCarried:
		return s.carried(f, f.Body.(*Carried))
	case PlanStarted, PlanResumed, PlanLeft, PlanPaused, PlanCancelled, PlanRetried:
		return s.steer(f)
	}
	if s.Phase != PlanRunning && s.Phase != PlanIsPaused {
		return s.refuse(f)
	}
	if f.Kind == GoalAssessed || f.Kind == GoalJudged {
		return s.reached(f)
	}
	i, ok := s.ids[f.Task]
	if f.Kind == TimerFired && f.Task == "" {
		return s.missed(0, f)
	}
	if !ok {
		return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, f.Task)
	}
	return s.task(i, f)
}

// steer takes the facts that concern the plan as a whole.
func (s *State) steer(f Fact) error {
	switch {
	case f.Kind == PlanStarted && s.Phase == PlanPending:
		s.session(f.Body.(*Session))
		s.Phase, s.nodes[0].status = PlanRunning, Running
		s.needless()
		s.enter(0)
		s.armDeadlines(0)
	case f.Kind == PlanResumed && (s.Phase == PlanRunning || s.Phase == PlanIsPaused):
		s.session(f.Body.(*Session))
		if s.undo == nil {
			s.Phase = PlanRunning
			s.redo()
		}
	case f.Kind == PlanLeft && s.Tended && !s.Phase.Over():
		s.Tended = false
	case f.Kind == PlanPaused && s.Phase == PlanRunning:
		s.Phase = PlanIsPaused
	case f.Kind == PlanCancelled && s.Phase != NoPlan && !s.Phase.Over():
		s.abandon()
	case f.Kind == PlanRetried && s.Phase == PlanFailed:
		s.Phase, s.nodes[0].status = PlanRunning, Running
		s.retryFailed()
	default:
		return s.refuse(f)
	}
	return nil
}

func (s *State) session(b *Session) {
	s.Epoch, s.Tended = b.Epoch, true
	s.guard(b.Guarded)
	if b.Workers > 0 {
		s.Workers = b.Workers
	}
}

// abandon ends everything that is not over.
func (s *State) abandon() {
	s.forfeit()
	for i := 1; i < len(s.nodes); i++ {
		n := &s.nodes[i]
		if n.status == Running && !s.isGroup(n) {
			s.effect(Stop, int32(i))
		}
		if !n.status.Terminal() {
			n.status, n.wait, n.assessing = Abandoned, ForNothing, false
		}
	}
	s.nodes[0].wait, s.nodes[0].assessing = ForNothing, false
	s.ready, s.running, s.people, s.timers, s.asking = nil, 0, 0, 0, 0
	s.endPlan(PlanAbandoned, "cancelled")
}

func (s *State) artifact(f Fact) error {
	if e, ok := f.Body.(*Expired); ok {
		if s.expired == nil {
			s.expired = map[digest.ID]bool{}
		}
		s.expired[e.Hash] = true
		return nil
	}
	if _, ok := s.ids[f.Task]; f.Task != "" && !ok {
		return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, f.Task)
	}
	return nil
}

// task takes the facts that concern one task. Whatever is not listed for where the task stands is refused.
func (s *State) task(i int32, f Fact) error {
	n := &s.nodes[i]
	here := n.status == Running && !s.isGroup(n) && int(n.attempt) == f.Attempt
	switch b := f.Body.(type) {
	case *Assessed:
		if s.assessedBefore(i) {
			return nil
		}
		if n.assessing {
			s.assessed(i, b)
			return nil
		}
		if s.law >= 2 && n.wait == ForDecision { // what is to be approved is another by now
			return s.reopenGate(i, b)
		}
	case *Spawned, *Saved:
		if here || s.undo != nil && s.undo.now == i {
			return nil
		}
	case *Ended:
		if here {
			s.attempted(i, b)
			return nil
		}
		if n.status == Waiting && (n.wait == ForPerson || n.wait == ForUnknown) {
			s.stopWaiting(i)
			s.ended(i, b)
			return nil
		}
	case *Interrupted:
		if here {
			s.cutOff(i, b)
			return nil
		}
		if (n.wait == ForUnknown || n.twice && n.wait == ForPerson) && b.Then == Repeat { // somebody found out that it did not happen, or lets it happen again
			n.twice = false
			s.stopWaiting(i)
			s.makeReady(i)
			return nil
		}
	case *Judged:
		if n.wait == ForJudge {
			s.stopWaiting(i)
			s.judged(i, b)
			return nil
		}
	case *Fired:
		if b.For == TimerDeadline {
			return s.missed(i, f)
		}
		if n.wait == ForTimer && b.For == "" {
			s.stopWaiting(i)
			s.makeReady(i)
			return nil
		}
		if n.wait == ForDecision && b.For == TimerGate {
			return s.overdue(i)
		}
	case *Decided:
		if s.law < 2 && n.wait == ForDecision {
			s.stopWaiting(i)
			s.decided(i, b.Approved, b.Why)
			return nil
		}
		if s.law >= 2 && (n.wait == ForDecision || b.Late) {
			return s.vote(i, f, b)
		}
	case *Delegated:
		if n.wait == ForDecision && s.law >= 2 {
			return s.lend(i, f, b)
		}
	}
	return fault.New(fault.Conflict, "task %s is %s, so %s cannot follow", n.id, s.where(n), f.Kind)
}

func (s *State) where(n *node) string {
	switch {
	case n.status == Waiting:
		return "waiting for " + map[Wait]string{ForPerson: "a person", ForJudge: "judgement", ForDecision: "a decision",
			ForUnknown: "word of what happened", ForTimer: "its next attempt", ForRecovery: "its recovery", ForBudget: "more budget"}[n.wait]
	case n.status == Running && s.isGroup(n):
		return "running its subtasks"
	case n.status == Running:
		return "running attempt " + itoa(int(n.attempt))
	}
	return string(n.status)
}

func (s *State) stopWaiting(i int32) {
	n := &s.nodes[i]
	if n.wait.NeedsPerson() {
		s.people--
	}
	if n.wait == ForTimer {
		s.timers--
	}
	n.status, n.wait = Pending, ForNothing
}

// wait makes a task wait. It stays active: the plan cannot end meanwhile.
func (s *State) wait(i int32, w Wait) {
	n := &s.nodes[i]
	if w.NeedsPerson() {
		s.people++
	}
	if w == ForTimer {
		s.timers++
	}
	n.status, n.wait = Waiting, w
}

// makeReady puts an active task in the queue for a worker.
func (s *State) makeReady(i int32) {
	s.nodes[i].status = Ready
	s.push(i)
}

// resultOf keeps what a task leaves behind, with a hash that says whether it is the same again.
func resultOf(e *Ended) *Result {
	if len(e.Outputs) == 0 && len(e.Artifacts) == 0 && e.Exit == nil {
		return nil
	}
	r := &Result{Outputs: e.Outputs, Artifacts: e.Artifacts, Exit: e.Exit, Inputs: e.Inputs}
	if len(e.Outputs) == 0 && len(e.Artifacts) == 0 {
		return r
	}
	parts := make([]string, 0, 2*(len(e.Outputs)+len(e.Artifacts)))
	names := make([]string, 0, len(e.Outputs))
	for name := range e.Outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v, err := digest.Canonicalize(e.Outputs[name])
		if err != nil {
			v = e.Outputs[name]
		}
		parts = append(parts, name, string(v))
	}
	for _, a := range e.Artifacts {
		parts = append(parts, a.Name, a.Hash.String())
	}
	r.Hash = digest.Parts(parts...)
	return r
}
