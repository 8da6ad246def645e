package lifecycle

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/fault"
)

// undo is a rollback under way: the tasks that are left, last ended last, and the one being undone now.
type undo struct {
	left  []int32
	now   int32
	done  int
	whole bool // the plan is given up, not taken back to a checkpoint
}

// rollback takes the facts of undoing. While it lasts the plan is paused: nothing starts.
func (s *State) rollback(f Fact) error {
	switch b := f.Body.(type) {
	case *Asked:
		return s.beginUndo(f, b)
	case *Undone:
		if s.undo != nil && s.undo.now > 0 && s.nodes[s.undo.now].id == f.Task {
			s.undone(b)
			return nil
		}
	}
	return s.refuse(f)
}

// beginUndo stops what is under way and lists what ended after the checkpoint, in reverse order of ending.
func (s *State) beginUndo(f Fact, b *Asked) error {
	if s.Phase == NoPlan || s.Phase == PlanPending || s.Phase == PlanAbandoned || s.undo != nil {
		return s.refuse(f)
	}
	after := int32(0)
	if b.To != "" {
		i, ok := s.ids[b.To]
		if !ok {
			return fault.New(fault.NotFound, "plan %s has no task %s", s.Name, b.To)
		}
		if after = s.nodes[i].order; after == 0 {
			return fault.New(fault.Conflict, "task %s has not ended, so it is no checkpoint", b.To)
		}
	}
	s.halt()
	s.undo = &undo{whole: b.To == ""}
	for i := 1; i < len(s.nodes); i++ {
		if n := &s.nodes[i]; !n.gone && n.order > after && n.status != RolledBack {
			s.undo.left = append(s.undo.left, int32(i))
		}
	}
	slices.SortFunc(s.undo.left, func(a, c int32) int { return int(s.nodes[a].order) - int(s.nodes[c].order) })
	s.Phase, s.nodes[0].status = PlanIsPaused, Running
	s.undoNext()
	return nil
}

// halt makes everything that is under way pending again, as if it had not begun.
func (s *State) halt() {
	s.forfeit()
	for i := 1; i < len(s.nodes); i++ {
		n := &s.nodes[i]
		group := s.isGroup(n)
		if n.status == Running && !group {
			s.effect(Stop, int32(i))
		}
		if n.status == Running && !group || n.status == Ready || n.status == Waiting || n.assessing {
			n.status, n.wait, n.assessing = Pending, ForNothing, false
			s.calm(int32(i))
		}
	}
	s.nodes[0].wait, s.nodes[0].assessing, s.goal = ForNothing, false, nil
	s.ready, s.running, s.people, s.timers, s.asking, s.dirty = nil, 0, 0, 0, 0, nil
	for _, l := range s.locks {
		l.held, l.waiters = false, nil
	}
}

// undoNext asks for the next task to be undone. What did nothing to the world is rolled back without asking.
func (s *State) undoNext() {
	u := s.undo
	for u.now = 0; len(u.left) > 0 && u.now == 0; {
		i := u.left[len(u.left)-1]
		u.left = u.left[:len(u.left)-1]
		if n := &s.nodes[i]; s.acted(n) {
			u.now = i
			s.emit(Derived{Kind: TaskUndoing, Task: n.id, Attempt: int(n.attempt), Body: []byte(`{"execution":` + itoa(int(n.execution)) + `}`)}, nil)
			s.effect(Undo, i)
			return
		}
		s.nodes[i].status = RolledBack
	}
	s.emit(Derived{Kind: RollbackEnded}, rollbackBody{Undone: u.done})
	s.undo = nil
	if u.whole {
		s.giveUp()
	}
}

// giveUp ends a plan whose every task was undone.
func (s *State) giveUp() {
	for i := 1; i < len(s.nodes); i++ {
		if n := &s.nodes[i]; !n.status.Terminal() {
			n.status = Abandoned
		}
	}
	s.endPlan(PlanAbandoned, "rolled back")
}

// acted reports whether a task may have done something to the world.
func (s *State) acted(n *node) bool {
	if s.isGroup(n) || n.attempt == 0 && n.spec.Rollback == nil || n.status == Skipped {
		return false
	}
	return !n.pure || n.spec.Rollback != nil
}

func (s *State) undone(b *Undone) {
	u := s.undo
	n := &s.nodes[u.now]
	if b.Error != "" {
		s.emit(Derived{Kind: RollbackEnded}, rollbackBody{Failed: n.id, Left: len(u.left) + 1, Undone: u.done, Why: b.Error})
		s.undo = nil
		return
	}
	n.status = RolledBack
	u.done++
	s.undoNext()
}

// redo gives what was rolled back, and what was under way then, another execution when the plan is resumed.
func (s *State) redo() {
	var again []int32
	for i := 1; i < len(s.nodes); i++ {
		n := &s.nodes[i]
		if n.gone || n.status != RolledBack {
			continue
		}
		if n.expanded {
			n.expanded = false
			s.forget(int32(i))
		}
		n.status, n.wait, n.result, n.routed, n.retries, n.lastFail, n.activated, n.order = Pending, ForNothing, nil, false, 0, nil, false, 0
		n.execution++
		s.rejoin(int32(i))
		again = append(again, int32(i))
	}
	for i := 1; i < len(s.nodes); i++ {
		if n := &s.nodes[i]; !n.gone && n.status == Pending {
			n.missing = s.missing(int32(i))
			again = append(again, int32(i))
		}
	}
	for _, i := range again {
		s.consider(i)
	}
	if s.nodes[0].active == 0 {
		s.dirty = append(s.dirty, 0)
	}
}

// missing counts what a task still waits for.
func (s *State) missing(i int32) (n int32) {
	for _, k := range s.nodes[i].needs {
		if st := s.nodes[k].status; !st.Terminal() || st == FailedTask && !s.nodes[k].routed || st == RolledBack {
			n++
		}
	}
	if s.nodes[s.nodes[i].parent].status != Running {
		n++
	}
	return n
}
