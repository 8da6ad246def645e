package lifecycle

import (
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan"
)

// enter opens a group: its children no longer miss it.
func (s *State) enter(g int32) {
	// Settling one child can open another group, so the list is walked by index.
	for k := 0; k < len(s.nodes[g].children); k++ {
		s.satisfy(s.nodes[g].children[k])
	}
	if s.nodes[g].active == 0 {
		s.dirty = append(s.dirty, g)
	}
}

// satisfy takes one away from what a task misses.
func (s *State) satisfy(i int32) {
	if s.nodes[i].missing == 0 {
		return // it had this once, before it was reopened
	}
	if s.nodes[i].missing--; s.nodes[i].missing == 0 {
		s.consider(i)
	}
}

// consider looks at a task that misses nothing any more.
func (s *State) consider(i int32) {
	n := &s.nodes[i]
	if n.status != Pending || n.missing > 0 || n.assessing || n.dormant && !n.activated {
		return
	}
	if why := s.unreadable(i); why != "" {
		s.settle(i, Skipped, why)
		return
	}
	s.stir(i)
	if n.item == 0 && (n.spec.When != "" || n.spec.Each != "") || n.spec.Kind == plan.Gate && hasChecks(n.spec) || s.held(n) {
		s.askFor(i)
		return
	}
	s.begun(i)
}

// askFor has the engine find out what has to be known of an active task before it goes on.
func (s *State) askFor(i int32) {
	s.nodes[i].assessing = true
	s.asking++
	s.effectAssess(i)
}

func (s *State) effectAssess(i int32) {
	s.effect(Assess, i)
	e := &s.effects[len(s.effects)-1]
	e.Hold, e.Tested = s.held(&s.nodes[i]), s.nodes[i].tested
}

func hasChecks(t *plan.Task) bool {
	if len(t.Schemas) > 0 {
		return true
	}
	for _, c := range t.Checks {
		if !c.Judge {
			return true
		}
	}
	return false
}

// unreadable says why a task cannot have its inputs: it reads what a skipped task never made, or it follows from
// a failure that was routed elsewhere.
func (s *State) unreadable(i int32) string {
	n := &s.nodes[i]
	for _, k := range n.needs {
		if s.nodes[k].status == FailedTask && !n.activated {
			return s.nodes[k].id + " failed and was routed elsewhere"
		}
	}
	for _, id := range n.spec.Reads() {
		if k, ok := s.find(i, id); ok && s.nodes[k].status == Skipped {
			return "it reads the outputs of " + s.nodes[k].id + ", which was skipped"
		}
	}
	return ""
}

// begun sets an active task going, in the way of its sort.
func (s *State) begun(i int32) {
	n := &s.nodes[i]
	switch {
	case s.isGroup(n):
		s.nodes[i].status = Running
		s.emit(Derived{Kind: TaskStarted, Task: n.id, Attempt: 1, Body: []byte(`{"group":true}`)}, nil)
		s.enter(i)
	case n.spec.Kind == plan.Gate && (n.spec.Uses == "" || n.tested):
		if needsDecision(n.spec) && s.law < 2 {
			s.wait(i, ForDecision)
			s.emit(Derived{Kind: GateOpened, Task: n.id, Body: []byte("{}")}, nil)
			return
		}
		s.calm(i)
		s.settle(i, Completed, "all checks hold")
	case n.spec.Kind == plan.Milestone && n.spec.Uses == "":
		s.calm(i)
		s.settle(i, Completed, "reached")
	case n.spec.Uses == "" || s.asks(n.spec):
		s.ask(i, ForPerson, "")
	case n.twice:
		s.ask(i, ForPerson, askTwice)
	default:
		s.makeReady(i)
	}
}

// needsDecision reports whether a gate wants a person: it asks for approval, has prose to judge, or says nothing.
func needsDecision(t *plan.Task) bool {
	if t.Approve != nil || len(t.Checks)+len(t.Schemas) == 0 {
		return true
	}
	for _, c := range t.Checks {
		if c.Judge {
			return true
		}
	}
	return false
}

func (s *State) ask(i int32, w Wait, why string) {
	s.wait(i, w)
	s.emit(Derived{Kind: TaskWaiting, Task: s.nodes[i].id, Attempt: int(s.nodes[i].attempt)}, waitingBody{string(w), why})
}

func (s *State) assessed(i int32, b *Assessed) {
	n := &s.nodes[i]
	n.assessing = false
	s.asking--
	if b.Failed {
		s.calm(i)
		s.fail(i, &Ended{Outcome: Failed, Error: b.Why, Final: true})
		return
	}
	if !b.Run {
		s.calm(i)
		s.settle(i, Skipped, b.Why)
		return
	}
	if s.law >= 2 && s.detain(i, b) {
		return
	}
	for _, c := range b.Checks {
		if !c.OK && !c.Judge && s.law < 2 {
			s.calm(i)
			s.fail(i, &Ended{Outcome: Failed, Error: "check does not hold: " + c.Says, Final: true})
			return
		}
	}
	s.goOn(i, b)
}

// goOn sets an assessed task going.
func (s *State) goOn(i int32, b *Assessed) {
	n := &s.nodes[i]
	if n.spec.Each != "" && n.item == 0 && !n.expanded {
		if b.Count == nil {
			s.ask(i, ForPerson, "it ranges over a list that nobody names")
			return
		}
		n.items = b.Items
		s.expand(i, *b.Count)
		return
	}
	s.begun(i)
}

// expand turns an each into one instance an item.
func (s *State) expand(i int32, count int) {
	name := s.nodes[i].id + "-"
	for k := 1; k <= count; k++ {
		if _, taken := s.ids[name+itoa(k)]; taken {
			s.calm(i)
			s.fail(i, &Ended{Outcome: Failed, Error: "its items would be tasks " + name + itoa(k) + ", but there is one of that id", Final: true})
			return
		}
	}
	first := int32(len(s.nodes))
	s.instances(i, count)
	s.armDeadlines(first)
	s.begun(i)
}

// instances adds the items of an each.
func (s *State) instances(i int32, count int) {
	s.nodes[i].expanded = true
	name := s.nodes[i].id + "-"
	for k := 1; k <= count; k++ {
		c, err := s.add(i, name+itoa(k), s.nodes[i].spec)
		if err == nil && s.nodes[c].spec.IsGroup() {
			err = s.grow(c, s.nodes[c].spec.Subplan.Tasks)
		}
		if err != nil {
			panic("lifecycle: a subplan that was built once cannot be built again: " + err.Error())
		}
		s.nodes[c].item, s.nodes[c].weight = int32(k), s.nodes[i].weight
	}
}

// ended takes the outcome of an active task that holds no worker any more.
func (s *State) ended(i int32, b *Ended) {
	s.calm(i)
	if b.Tree != nil {
		if s.trees[0] == "" {
			s.trees[0] = b.Tree.Before
		}
		s.trees[1] = b.Tree.After
	}
	n := &s.nodes[i]
	n.status = Pending
	if b.Outcome != Succeeded {
		s.fail(i, b)
		return
	}
	n.result = resultOf(b)
	if s.law >= 2 && n.spec.Kind == plan.Gate && n.spec.Uses != "" && wantsPeople(n.spec) {
		n.tested = true
		s.stir(i)
		s.askFor(i)
		return
	}
	if b.unjudged() && s.unjudged() != "accept" {
		s.stir(i)
		s.ask(i, ForJudge, "")
		return
	}
	s.settle(i, Completed, "")
}

func (s *State) unjudged() string {
	if s.Plan.Policy == nil {
		return ""
	}
	return s.Plan.Policy.Unjudged
}

func (s *State) judged(i int32, b *Judged) {
	s.calm(i)
	if b.Accepted {
		s.settle(i, Completed, "")
		return
	}
	s.nodes[i].result = nil
	s.fail(i, &Ended{Outcome: Failed, Error: "judged not good enough: " + b.Why})
}

func (s *State) decided(i int32, approved bool, why string) {
	s.calm(i)
	if approved {
		s.settle(i, Completed, "approved")
		return
	}
	s.nodes[i].rejected = true
	s.fail(i, &Ended{Outcome: Failed, Error: "rejected: " + why, Final: true})
}

// interrupted repeats an attempt that was cut off, without counting it, or asks what became of it.
func (s *State) interrupted(i int32, b *Interrupted) {
	if b.Then == Repeat {
		s.makeReady(i)
		return
	}
	s.ask(i, ForUnknown, b.Why)
}

// settle ends a task that is not active. An outcome that the fact itself tells needs no record of ours.
func (s *State) settle(i int32, st Status, why string) {
	n := &s.nodes[i]
	n.status = st
	s.ends++
	n.order = s.ends
	if st == Skipped {
		s.skipInside(i)
	}
	if why != "" || st != Completed {
		body := settledBody{Status: st, Why: why}
		if n.routed {
			body.Routed = n.spec.Next.Failure
		}
		s.emit(Derived{Kind: TaskSettled, Task: n.id, Attempt: int(n.attempt)}, body)
	}
	s.wakeWaiters(i)
	if st != FailedTask || n.routed {
		for k := 0; k < len(s.nodes[i].dependents); k++ {
			s.satisfy(s.nodes[i].dependents[k])
		}
	}
	s.leave(i)
}

// leave tells the tasks that this one might have routed to that it will not any more.
func (s *State) leave(i int32) {
	for _, to := range s.nodes[i].wakes {
		t := &s.nodes[to]
		// Before a run begins, what a fork takes over may still show that it was needed.
		if t.routers--; t.routers == 0 && !t.activated && t.status == Pending && s.Phase != PlanPending {
			s.settle(to, Skipped, "never needed")
		}
	}
}

// skipInside skips what a skipped group holds.
func (s *State) skipInside(g int32) {
	for _, c := range s.nodes[g].children {
		s.nodes[c].status = Skipped
		s.skipInside(c)
	}
}

// settleGroup ends a group that has nothing active left.
func (s *State) settleGroup(g int32) {
	failed, stuck := "", ""
	for _, c := range s.nodes[g].children {
		n := &s.nodes[c]
		switch {
		case n.status == FailedTask && !n.routed:
			failed = n.id
		case n.status == Pending && !(n.dormant && !n.activated):
			stuck = n.id
		}
	}
	if g == 0 {
		if failed != "" || stuck != "" {
			s.endPlan(PlanFailed, failed)
			return
		}
		if !s.judgeGoal() {
			s.endPlan(PlanCompleted, "")
		}
		return
	}
	s.calm(g)
	s.nodes[g].status = Pending
	if failed != "" || stuck != "" {
		if failed == "" {
			failed = stuck
		}
		s.fail(g, &Ended{Outcome: Failed, Error: "its task " + failed + " failed", Final: true})
		return
	}
	s.settle(g, Completed, "all its tasks are over")
}

func (s *State) endPlan(st PlanState, failed string) {
	s.Phase = st
	s.nodes[0].status = Completed
	why := ""
	switch {
	case st == PlanAbandoned:
		why = failed
	case failed != "":
		why = "task " + failed + " failed"
	}
	s.emit(Derived{Kind: PlanEnded}, endedBody{State: st, Why: why, Hash: s.Hash()})
}

// timerAt is when the next attempt is due: exponential from the least wait to the most, with jitter that is
// derived, so that replay finds the same instant.
func (s *State) timerAt(n *node, retry int) time.Time {
	b := plan.Backoff{Min: plan.Duration(time.Second), Max: plan.Duration(30 * time.Second)}
	if n.spec.Retry != nil && n.spec.Retry.Backoff.Max > 0 {
		b = n.spec.Retry.Backoff
	}
	wait := b.Min.D()
	for k := 1; k < retry && wait < b.Max.D(); k++ {
		wait *= 2
	}
	wait = min(wait, b.Max.D())
	h := digest.Parts("cairn jitter", s.Name, n.id, itoa(int(n.execution)), itoa(retry))
	share := time.Duration(uint16(h[0])<<8|uint16(h[1])) * wait / 2 / 65536
	return s.now.Add(wait/2 + share)
}
