package lifecycle

import (
	"iter"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// What follows when a deadline is missed.
const (
	lateFail     = "fail"
	lateWarn     = "warn"
	lateEscalate = "escalate"
)

// deadlineOf is when a task must be done; of node 0, when the plan must. An item has no deadline of its own: its fan-out does.
func (s *State) deadlineOf(i int32) (time.Time, bool) {
	text := s.dueText(i)
	if s.law < 2 || text == "" || s.nodes[i].item > 0 {
		return time.Time{}, false
	}
	return plan.Moment(text)
}

func (s *State) dueText(i int32) string {
	if i > 0 {
		return s.nodes[i].spec.Deadline
	}
	if s.Plan.Goal == nil {
		return ""
	}
	return s.Plan.Goal.Deadline
}

// isLate reports whether the deadline of a task was missed. A revision that moves it gives it another chance.
func (s *State) isLate(i int32) bool { return s.nodes[i].late != "" && s.nodes[i].late == s.dueText(i) }

// armDeadlines has every deadline of the nodes from first on watched that is not missed yet. It keeps nobody from leaving.
func (s *State) armDeadlines(first int32) {
	if s.law < 2 || s.Phase != PlanRunning && s.Phase != PlanIsPaused {
		return
	}
	for i := first; i < int32(len(s.nodes)); i++ {
		n := &s.nodes[i]
		if s.isLate(i) || n.gone || n.status.Terminal() {
			continue
		}
		if at, ok := s.deadlineOf(i); ok {
			s.effects = append(s.effects, Effect{Kind: Arm, Task: n.id, Spec: n.spec, Due: at, For: TimerDeadline})
		}
	}
}

// missed takes a deadline that has come, of a task or of the plan. One that is not due, is met or was missed before is refused, so a
// timer that fires early or twice changes nothing.
func (s *State) missed(i int32, f Fact) error {
	n := &s.nodes[i]
	at, ok := s.deadlineOf(i)
	if !ok || s.isLate(i) || n.gone || n.status.Terminal() || n.dormant && !n.activated || s.now.Before(at) {
		return fault.New(fault.Conflict, "no deadline of %s has come, so %s cannot follow", s.lateName(i), f.Kind)
	}
	n.late = s.dueText(i)
	then, to := s.late(i)
	s.emit(Derived{Kind: DeadlineMissed, Task: n.id}, missedBody{stamp(at), then, to})
	if then == lateFail {
		s.lapse(i, "missed its deadline of "+at.Format("2006-01-02 15:04:05 MST"))
	}
	return nil
}

func (s *State) lateName(i int32) string {
	if i == 0 {
		return "plan " + s.Name
	}
	return "task " + s.nodes[i].id
}

// late is what the policy has follow: a task fails, and a plan is only told of, unless the policy says something else.
func (s *State) late(i int32) (then, to string) {
	then = lateFail
	if i == 0 {
		then = lateWarn
	}
	if s.Plan.Policy == nil || s.Plan.Policy.Watch == nil {
		return then, ""
	}
	w := s.Plan.Policy.Watch
	if w.Deadline != "" {
		then = w.Deadline
	}
	return then, w.Escalate
}

// lapse fails a task that is not over, or all that is not over inside a group that has begun.
func (s *State) lapse(i int32, why string) {
	n := &s.nodes[i]
	if n.status.Terminal() || n.dormant && !n.activated {
		return
	}
	if s.isGroup(n) && n.status == Running {
		for k := 0; k < len(s.nodes[i].children); k++ {
			s.lapse(s.nodes[i].children[k], why)
		}
		return
	}
	switch {
	case n.assessing:
		n.assessing = false
		s.asking--
		s.calm(i)
	case n.status == Running:
		s.effect(Stop, i)
		s.release(i)
		s.pay(i, s.lien(i))
		s.calm(i)
	case n.status == Waiting:
		s.stopWaiting(i)
		s.calm(i)
	case n.status == Ready:
		s.calm(i)
	}
	s.nodes[i].status = Pending
	s.fail(i, &Ended{Outcome: Failed, Error: why, Final: true})
}

// Late is a task that missed its deadline and is not over; or the plan, when the task is empty.
type Late struct {
	Task string
	Due  time.Time
	To   string // the role that is told
}

// Late yields what missed its deadline and is not over.
func (s *State) Late() iter.Seq[Late] {
	return func(yield func(Late) bool) {
		for i := range s.nodes {
			n := &s.nodes[i]
			if !s.isLate(int32(i)) || n.gone || n.status.Terminal() || s.Phase.Over() {
				continue
			}
			at, _ := s.deadlineOf(int32(i))
			_, to := s.late(int32(i))
			if !yield(Late{n.id, at, to}) {
				return
			}
		}
	}
}
