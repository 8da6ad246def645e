package lifecycle

import "github.com/cairn-plan/cairn/internal/budget"

// carry gives a task what it keeps of the one that it was. Groups take their status from what they hold, later.
func (m *move) carry(i int32) {
	f, n := m.fate(i), &m.next.nodes[i]
	if f.from == 0 {
		return
	}
	o := &m.old.nodes[f.from]
	if f.renewed {
		m.renew(i, o)
		return
	}
	kept := *o
	kept.spec, kept.parent, kept.item, kept.children, kept.needs, kept.dependents = n.spec, n.parent, n.item, n.children, n.needs, n.dependents
	kept.wakes, kept.dormant, kept.rank, kept.weight, kept.expanded = n.wakes, n.dormant, n.rank, n.weight, n.expanded
	kept.missing, kept.active, kept.routers, kept.waiters = 0, 0, 0, nil
	if o.status != Running {
		kept.pure = n.pure
	}
	*n = kept
}

// renew makes a task pending that has to be done, again if it was.
func (m *move) renew(i int32, o *node) {
	f, n := m.fate(i), &m.next.nodes[i]
	n.execution, n.attempt, n.granted, n.twice = o.execution, o.attempt, o.granted, o.twice
	n.stale = o.stale || o.assessing
	// One that failed may be pending: what lies between it and its recovery comes first.
	tried := o.attempt > 0 && (o.status == Ready || o.status == Waiting || o.status == Pending && o.lastFail != nil)
	if o.status == Pending && !tried || o.status == Running && m.old.isGroup(o) && !m.old.isGroup(n) || neverNeeded(o) {
		return
	}
	if f.again = o.status.Terminal(); f.again || tried || m.old.isGroup(o) {
		n.execution++
		n.granted++
	}
	n.activated = o.activated && n.dormant
	if o.attempt > 0 && !m.old.isGroup(o) && m.once[m.next.Path(n.id)] {
		n.twice = true
	}
	m.keepResult(o)
}

// keepResult sets the result of pure work aside, for whoever computes the same.
func (m *move) keepResult(o *node) {
	if o.pure && o.status == Completed && o.result != nil && !o.result.Inputs.IsZero() && o.spec.Uses != "" {
		m.next.memos[m.old.memo(o.spec.Uses, o.result.Inputs)] = o.result
	}
}

// carryGroup opens a group again that was over, when what it holds is not.
func (m *move) carryGroup(i int32) {
	n := &m.next.nodes[i]
	if !m.next.isGroup(n) || m.fate(i).renewed {
		return
	}
	switch n.status {
	case Skipped:
		m.next.skipInside(i)
	case Completed, FailedTask:
		failed, open := false, false
		for _, c := range n.children {
			k := &m.next.nodes[c]
			failed = failed || k.status == FailedTask && !k.routed
			open = open || !k.status.Terminal() && !neverNeeded(k)
		}
		if open || n.status == FailedTask && !failed {
			m.fate(i).again, m.fate(i).why = true, "what it holds changed"
			n.status, n.result, n.routed, n.lastFail, n.order = Running, nil, false, nil, 0
			n.execution++
			n.granted++
		}
	}
}

// purses carries over what was spent and set aside. What a budget withheld is judged anew, by the budgets there are now.
func (m *move) purses() {
	for i := range m.next.nodes {
		n := &m.next.nodes[i]
		if old := m.old.nodes[m.fate(int32(i)).from].purse; old != nil && (i == 0 || m.fate(int32(i)).from > 0) {
			p := *old
			p.asked, p.by = false, 0
			n.purse = &p
		}
		if n.wait == ForBudget {
			n.status, n.wait = Ready, ForNothing
		}
	}
	for i := range m.old.nodes {
		o := &m.old.nodes[i]
		if o.purse == nil || o.purse.lien.IsZero() {
			continue
		}
		if k, there := m.next.ids[o.id]; there && m.next.nodes[k].status == Running {
			continue
		}
		// Pure work that nobody carries out at this moment is not under way any more.
		for p := int32(i); p >= 0; p = m.old.nodes[p].parent {
			if k, there := m.next.ids[m.old.nodes[p].id]; p == 0 || there {
				m.next.nodes[k].purse.Settle(o.purse.lien, budget.Amount{})
			}
		}
		if k, there := m.next.ids[o.id]; there {
			m.next.nodes[k].purse.lien = budget.Amount{}
		}
	}
}

// recoveries lets tasks that wait for a recovery go on waiting where it is still to come. Where it is not, they are tried again.
func (m *move) recoveries() {
	waits := map[int32]bool{}
	for r := range m.old.nodes {
		for _, w := range m.old.nodes[r].waiters {
			to, ok := m.next.ids[m.old.nodes[w].id]
			by, there := m.next.ids[m.old.nodes[r].id]
			if !ok || !there || m.next.nodes[to].wait != ForRecovery || m.next.nodes[by].status.Terminal() {
				continue
			}
			m.next.nodes[by].activated = true
			m.next.nodes[by].waiters = append(m.next.nodes[by].waiters, to)
			waits[to] = true
		}
	}
	for i := range m.next.nodes {
		if n := &m.next.nodes[i]; n.wait == ForRecovery && !waits[int32(i)] {
			n.status, n.wait = Pending, ForNothing
		}
	}
}

// routers counts for dormant tasks what may yet lead to them. One that was never needed may be now.
func (m *move) routers() {
	s := m.next
	for i := range s.nodes {
		if !s.nodes[i].status.Terminal() {
			for _, to := range s.nodes[i].wakes {
				s.nodes[to].routers++
			}
		}
	}
	for woken := true; woken; {
		woken = false
		for i := range s.nodes {
			n := &s.nodes[i]
			if n.status != Skipped || n.routers == 0 || !neverNeeded(n) {
				continue
			}
			n.status, n.order, woken = Pending, 0, true
			for _, to := range n.wakes {
				s.nodes[to].routers++
			}
		}
	}
}

// forgotten keeps count of the tasks that are gone, in case they come back.
func (m *move) forgotten() {
	for i := 1; i < len(m.old.nodes); i++ {
		o := &m.old.nodes[i]
		if _, there := m.next.ids[o.id]; o.gone || there {
			continue
		}
		m.next.past[o.id] = past{o.execution, o.attempt}
		m.keepResult(o)
	}
}

// count sums up what the new state counts.
func (m *move) count() {
	s := m.next
	for i := int32(1); i < int32(len(s.nodes)); i++ {
		n := &s.nodes[i]
		leaf := !s.isGroup(n)
		if n.missing = s.missing(i); n.status.Terminal() && s.nodes[n.parent].status != Running {
			n.missing--
		}
		if n.assessing {
			s.asking++
		}
		switch {
		case n.status == Running && leaf:
			s.running++
			s.takeLocks(i)
		case n.status == Waiting && n.wait.NeedsPerson():
			s.people++
		case n.wait == ForTimer:
			s.timers++
		case n.status == Ready:
			s.push(i)
		}
		if n.assessing || n.status == Ready || n.status == Running || n.status == Waiting {
			s.stir(i)
		}
	}
}

// tell records what became of tasks that are dropped, or run again.
func (m *move) tell(s *State) {
	for i := 1; i < len(m.old.nodes); i++ {
		o := &m.old.nodes[i]
		if _, there := s.ids[o.id]; !o.gone && !there && !o.status.Terminal() {
			s.emit(Derived{Kind: TaskSettled, Task: o.id, Attempt: int(o.attempt)}, settledBody{Status: Abandoned, Why: "dropped by revision " + itoa(s.Rev)})
		}
	}
	for i := range m.fates {
		if m.fates[i].again {
			n := &s.nodes[i]
			s.emit(Derived{Kind: TaskReopened, Task: n.id}, reopenedBody{By: "revision " + itoa(s.Rev), Execution: int(n.execution), Why: m.fates[i].why})
		}
	}
}

// goOn sets what the new revision lets begin, and ends what has nothing left.
func (m *move) goOn(s *State) {
	for i := int32(1); i < int32(len(s.nodes)); i++ {
		n := &s.nodes[i]
		switch {
		case n.status == Pending && n.dormant && !n.activated && n.routers == 0:
			s.settle(i, Skipped, "never needed")
		case n.status == Pending:
			s.consider(i)
		case n.status == Running && s.isGroup(n) && n.active == 0:
			s.dirty = append([]int32{i}, s.dirty...)
		}
	}
	if s.nodes[0].status == Running && s.nodes[0].active == 0 {
		s.dirty = append(s.dirty, 0)
	}
}
