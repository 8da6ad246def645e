package lifecycle

import (
	"iter"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Task is what a reader sees of a task.
type Task struct {
	ID        string
	Spec      *plan.Task
	Parent    string
	Depth     int
	Status    Status
	Wait      Wait
	Blocked   string // the failed task that it waits for in vain
	Twice     bool   // it was carried out already, must not be twice, and waits for a word on whether it shall be
	Tested    bool   // a gate whose own work is done
	Dormant   bool   // runs only if something routes to it
	Group     bool
	Item      int // number among the instances of an each
	Items     digest.ID
	Execution int
	Attempt   int
	Retries   int
	Due       time.Time
	Error     string // of the last attempt that failed
	Result    *Result
}

// Len is how many tasks there are now, instances included.
func (s *State) Len() int { return len(s.ids) }

// Task looks a task up by its id.
func (s *State) Task(id string) (Task, bool) {
	i, ok := s.ids[id]
	if !ok {
		return Task{}, false
	}
	return s.view(i), true
}

// Resolve finds the task that an id means when it is written in the scope of another task.
func (s *State) Resolve(scope, id string) (Task, bool) {
	from, ok := s.ids[scope]
	if !ok {
		return s.Task(id)
	}
	i, ok := s.find(from, id)
	if !ok {
		return Task{}, false
	}
	return s.view(i), true
}

func (s *State) view(i int32) Task {
	n := &s.nodes[i]
	t := Task{ID: n.id, Spec: n.spec, Status: n.status, Wait: n.wait, Tested: n.tested, Dormant: n.dormant && !n.activated, Group: s.isGroup(n),
		Item: int(n.item), Items: n.items, Execution: int(n.execution), Attempt: int(n.attempt), Retries: int(n.retries),
		Due: n.due, Result: n.result, Twice: n.twice && n.wait == ForPerson}
	if n.lastFail != nil {
		t.Error = n.lastFail.Error
	}
	for p := n.parent; p > 0; p = s.nodes[p].parent {
		if t.Depth == 0 {
			t.Parent = s.nodes[p].id
		}
		t.Depth++
	}
	return t
}

// Tasks yields every task in the order in which it was written, a group before what it holds.
func (s *State) Tasks() iter.Seq[Task] {
	return func(yield func(Task) bool) {
		if len(s.nodes) > 0 {
			s.walk(0, s.blocked(), yield)
		}
	}
}

func (s *State) walk(g int32, blocked map[int32]string, yield func(Task) bool) bool {
	for _, c := range s.nodes[g].children {
		t := s.view(c)
		t.Blocked = blocked[c]
		if !yield(t) || !s.walk(c, blocked, yield) {
			return false
		}
	}
	return true
}

// Children yields the tasks that a group holds, instances in the order of their items.
func (s *State) Children(id string) iter.Seq[Task] {
	return func(yield func(Task) bool) {
		i, ok := s.ids[id]
		if !ok {
			return
		}
		for _, c := range s.nodes[i].children {
			if !yield(s.view(c)) {
				return
			}
		}
	}
}

// blocked finds the pending tasks that wait for a failed one, and for which.
func (s *State) blocked() map[int32]string {
	var work []int32
	by := map[int32]string{}
	spread := func(i int32, cause string) {
		for _, d := range s.nodes[i].dependents {
			if _, seen := by[d]; !seen && s.nodes[d].status == Pending {
				by[d] = cause
				work = append(work, d)
			}
		}
	}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.status == FailedTask && !n.routed && !n.gone {
			spread(int32(i), n.id)
		}
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		spread(i, by[i])
		for _, c := range s.nodes[i].children {
			if s.nodes[c].status == Pending {
				by[c] = by[i]
			}
		}
	}
	return by
}

// State is the plan's state as a reader is shown it.
func (s *State) State() PlanState {
	if s.Archived {
		return PlanIsArchived
	}
	if s.Phase == PlanRunning && s.OnlyPeople() {
		for _, c := range s.nodes[0].children {
			if n := &s.nodes[c]; n.status == FailedTask && !n.routed {
				return PlanBlocked
			}
		}
	}
	return s.Phase
}

// OnlyPeople reports whether all that is left needs a person.
func (s *State) OnlyPeople() bool {
	return s.people > 0 && s.running == 0 && s.timers == 0 && s.asking == 0 && len(s.ready) == 0
}

// Idle reports whether nothing can happen before somebody acts: all is over, paused, or waits for people.
func (s *State) Idle() bool {
	return s.Phase.Over() || s.Phase == PlanPending || s.OnlyPeople() || s.Phase == PlanIsPaused && s.running == 0 && s.asking == 0 && s.undo == nil
}

// Undoing reports whether a rollback is under way.
func (s *State) Undoing() bool { return s.undo != nil }

// Expired reports whether a blob is missing by right.
func (s *State) Expired(id digest.ID) bool { return s.expired[id] }
