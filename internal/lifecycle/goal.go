package lifecycle

import "github.com/cairn-plan/cairn/internal/fault"

// GoalTask is how people name the plan's goal where a task is asked for, in a plan that has no task of that id.
const GoalTask = "goal"

// judgeGoal asks, when all tasks are over, whether the plan has come to what it was for. It reports whether the plan has
// to wait for that.
func (s *State) judgeGoal() bool {
	n := &s.nodes[0]
	if s.law < 2 || s.Plan.Goal == nil || len(s.Plan.Goal.Done) == 0 {
		return false
	}
	if !n.assessing && n.wait != ForJudge {
		s.goalAsks++ // an answer to an earlier question is no answer to this one
		n.attempt = s.goalAsks
		s.askFor(0)
	}
	return true
}

// reached takes the facts about the goal.
func (s *State) reached(f Fact) error {
	n := &s.nodes[0]
	switch b := f.Body.(type) {
	case *GoalVerdict:
		if n.assessing && int(n.attempt) == f.Attempt {
			n.assessing = false
			s.asking--
			s.goal = b.Criteria
			s.goalAssessed()
			return nil
		}
	case *Judged:
		if n.wait == ForJudge {
			s.people--
			n.wait = ForNothing
			for i := range s.goal {
				if s.goal[i].Judge {
					s.goal[i].OK, s.goal[i].Why = b.Accepted, b.Why
				}
			}
			if b.Accepted {
				s.endPlan(PlanCompleted, "")
				return nil
			}
			s.missGoal(because(b.Why))
			return nil
		}
	}
	return fault.New(fault.Conflict, "plan %s does not wait for word of its goal, so %s cannot follow", s.Name, f.Kind)
}

func (s *State) goalAssessed() {
	prose := false
	for _, v := range s.goal {
		switch {
		case v.Judge:
			prose = true
		case !v.OK:
			s.missGoal(because(v.Says))
			return
		}
	}
	if !prose || s.unjudged() == "accept" {
		s.endPlan(PlanCompleted, "")
		return
	}
	s.nodes[0].wait = ForJudge
	s.people++
	s.emit(Derived{Kind: TaskWaiting}, waitingBody{For: string(ForJudge), Why: "whether the goal is reached"})
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// missGoal ends a plan whose tasks are all done and whose goal is not.
func (s *State) missGoal(why string) {
	s.Phase, s.nodes[0].status = PlanFailed, Completed
	s.emit(Derived{Kind: PlanEnded}, endedBody{State: PlanFailed, Why: "the goal is not reached" + why, Hash: s.Hash()})
}

// Goal is how the criteria of the goal turned out, once they were looked at, and whether somebody has to say.
func (s *State) Goal() (criteria []Verdict, waits bool) {
	return s.goal, len(s.nodes) > 0 && s.nodes[0].wait == ForJudge
}
