package lifecycle

import (
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
)

// fail walks the order of failure for a task that is not active: retry, the failure mode's recovery, the failure
// route, and then it has failed, with its dependants blocked while other branches go on.
func (s *State) fail(i int32, b *Ended) {
	n := &s.nodes[i]
	n.lastFail = b
	if n.spec.Retry != nil && int(n.retries) < n.spec.Retry.Times && !b.Final && !s.isGroup(n) {
		n.retries++
		n.due = s.timerAt(n, int(n.retries))
		s.stir(i)
		s.wait(i, ForTimer)
		s.emit(Derived{Kind: TaskRetried, Task: n.id, Attempt: int(n.attempt)},
			retriedBody{n.due.UTC().Format(time.RFC3339Nano), int(n.retries), b.Error})
		s.effect(Arm, i)
		return
	}
	if s.recover(i, b) {
		return
	}
	s.failFor(i, b)
}

// failFor is what is left when nothing tries again.
func (s *State) failFor(i int32, b *Ended) {
	n := &s.nodes[i]
	if n.spec.Next != nil && len(n.spec.Next.Failure) > 0 && n.item == 0 && s.route(i, b) {
		return
	}
	s.settle(i, FailedTask, b.Error)
}

// recover starts the recovery of the failure mode that was recognised. It reports whether there is one.
func (s *State) recover(i int32, b *Ended) bool {
	n := &s.nodes[i]
	mode := modeOf(n.spec, b.Mode)
	if mode == nil || mode.Recover == "" {
		return false
	}
	r, ok := s.sibling(i, mode.Recover)
	if !ok {
		s.stir(i)
		s.ask(i, ForPerson, b.Error+"; to recover: "+mode.Recover)
		return true
	}
	if r == i || s.downstream(i)[r] { // what follows from a task cannot mend it
		return false
	}
	// It waits before the recovery begins, for that may be over at once. The first edition had it wait after.
	if s.law < 2 {
		if !s.activate(r, n.id) {
			return false
		}
		s.await(i, r)
	} else if s.await(i, r); !s.activate(r, n.id) {
		s.nodes[r].waiters = slices.DeleteFunc(s.nodes[r].waiters, func(k int32) bool { return k == i })
		s.stopWaiting(i)
		s.calm(i)
		return false
	}
	n = &s.nodes[i]
	s.emit(Derived{Kind: TaskRecovering, Task: n.id, Attempt: int(n.attempt)}, recoveringBody{s.nodes[r].id, mode.Name, b.Error})
	if s.nodes[r].status.Terminal() {
		s.wakeWaiters(r)
	}
	return true
}

// await has a task wait for the end of another.
func (s *State) await(i, r int32) {
	s.stir(i)
	s.wait(i, ForRecovery)
	s.nodes[r].waiters = append(s.nodes[r].waiters, i)
}

func modeOf(t *plan.Task, name string) *plan.FailureMode {
	for k := range t.Failure {
		if name != "" && t.Failure[k].Name == name {
			return &t.Failure[k]
		}
	}
	return nil
}

// activate makes a routed-to task run, again if it is over already. It refuses a fourth execution.
func (s *State) activate(r int32, by string) bool {
	n := &s.nodes[r]
	switch {
	case n.status.Terminal():
		if int(n.execution-n.granted) >= maxExecutions || n.status == Abandoned {
			return false
		}
		s.reopen(r, -1, by)
		return true
	case n.status == Pending && !n.activated:
		n.activated = true
		s.consider(r)
	}
	return true
}

// wakeWaiters lets go on the tasks whose recovery has ended: they try again, or fail for good.
func (s *State) wakeWaiters(r int32) {
	waiters := s.nodes[r].waiters
	s.nodes[r].waiters = nil
	recovered := s.nodes[r].status == Completed
	for _, i := range waiters {
		if s.nodes[i].wait != ForRecovery {
			continue
		}
		s.stopWaiting(i)
		if s.nodes[i].retries = 0; recovered && s.nodes[i].missing == 0 {
			if s.nodes[i].spec.Kind == plan.Gate && s.nodes[i].spec.Uses == "" {
				s.askFor(i) // its checks are looked at again
				continue
			}
			s.makeReady(i)
			continue
		}
		s.calm(i)
		if recovered {
			continue // the recovery was upstream: what lies between runs again first
		}
		s.failFor(i, s.nodes[i].lastFail)
	}
}

// unstick fails a task whose recovery can never come to run, when nothing else is left that could change that.
// It reports whether there was one.
func (s *State) unstick() bool {
	if s.nodes[0].active == 0 || s.Phase != PlanRunning || s.running+int32(s.people+s.timers+s.asking+len(s.ready)) > 0 {
		return false
	}
	for i := range s.nodes {
		if s.nodes[i].wait == ForRecovery {
			s.stopWaiting(int32(i))
			s.calm(int32(i))
			s.failFor(int32(i), s.nodes[i].lastFail)
			return true
		}
	}
	return false
}

// route sends a failure on to the tasks that next.failure names. A target upstream runs again with everything
// after it, this task included; any other is woken. It reports false when every target is used up.
func (s *State) route(i int32, b *Ended) bool {
	var forward []int32
	for _, id := range s.nodes[i].spec.Next.Failure {
		to, ok := s.sibling(i, id)
		if !ok || to == i {
			continue
		}
		if s.downstream(to)[i] {
			if int(s.nodes[to].execution-s.nodes[to].granted) >= maxExecutions {
				continue
			}
			s.reopen(to, i, s.nodes[i].id)
			return true
		}
		forward = append(forward, to)
	}
	if len(forward) == 0 {
		return false
	}
	s.nodes[i].routed = true
	for _, to := range forward {
		s.activate(to, s.nodes[i].id)
	}
	s.settle(i, FailedTask, b.Error)
	return true
}

// reopen gives a task that is over, and what followed from it, another execution; failing is the task that is about to
// fail and runs again too, if there is one.
func (s *State) reopen(i, failing int32, by string) {
	s.emit(Derived{Kind: TaskReopened, Task: s.nodes[i].id}, reopenedBody{By: by, Execution: int(s.nodes[i].execution) + 1})
	again := s.downstream(i)
	again[i] = true
	// In order of index, so that the order of what follows does not hang on a map. Dormant tasks stay as they are:
	// they run again when something routes to them again.
	for k := range s.nodes {
		n := &s.nodes[k]
		if again[int32(k)] && (n.status.Terminal() && (!n.dormant || int32(k) == i) || int32(k) == failing) {
			s.reset(int32(k), again)
		}
	}
	s.nodes[i].activated = true
	s.consider(i)
}

// reset makes one task pending again. Dependants that are reset too miss it anew; those that are under way
// have had it once and keep it.
func (s *State) reset(i int32, again map[int32]bool) {
	n := &s.nodes[i]
	if n.status.Terminal() {
		if n.status != FailedTask || n.routed {
			for _, d := range n.dependents {
				if again[d] {
					s.nodes[d].missing++
				}
			}
		}
		s.rejoin(i)
	}
	n.status, n.wait, n.result, n.routed, n.retries, n.lastFail, n.activated, n.tested = Pending, ForNothing, nil, false, 0, nil, false, false
	n.order = 0
	n.execution++
	if n.expanded {
		n.expanded = false
		s.forget(i)
		return
	}
	for _, c := range n.children {
		again[c] = true
	}
	for _, c := range n.children {
		s.nodes[c].missing++
		s.reset(c, again)
	}
}

// rejoin undoes leave: the tasks that this one may route to can be needed again.
func (s *State) rejoin(i int32) {
	for _, to := range s.nodes[i].wakes {
		t := &s.nodes[to]
		if t.routers++; t.status == Skipped && !t.activated {
			t.status, t.order = Pending, 0
			s.rejoin(to)
		}
	}
}

// forget takes an expansion back: the next one may have other items.
func (s *State) forget(i int32) {
	for _, c := range s.nodes[i].children {
		s.forget(c)
		n := &s.nodes[c]
		delete(s.ids, n.id)
		n.gone = true
		if s.law >= 2 { // an item that comes back is carried out anew, under an effect key of its own
			if s.past == nil {
				s.past = map[string]past{}
			}
			s.past[n.id] = past{n.execution, n.attempt}
		}
	}
	s.nodes[i].children = nil
}

// retryFailed gives what failed and was not routed another execution, and opens the groups around it again.
func (s *State) retryFailed() {
	for i := 1; i < len(s.nodes); i++ {
		n := &s.nodes[i]
		if n.status != FailedTask || n.routed || n.gone || n.rejected {
			continue
		}
		s.rejoin(int32(i))
		n.lastFail, n.retries, n.order = nil, 0, 0
		n.execution++
		if s.isGroup(n) {
			n.status = Running
			s.stir(int32(i))
			s.dirty = append(s.dirty, int32(i))
			continue
		}
		n.status = Pending
		s.consider(int32(i))
	}
	s.dirty = append(s.dirty, 0)
}
