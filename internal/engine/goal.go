package engine

import (
	"context"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// assessGoal evaluates what the plan's goal says must hold at the end, and reports it as a fact. Prose is left to a person.
func (r *Run) assessGoal(ctx context.Context, w Work) lifecycle.Fact {
	b := &lifecycle.GoalVerdict{}
	for _, c := range w.scope.goal {
		v := lifecycle.Verdict{Says: c.Says, Judge: c.Judge}
		if !c.Judge {
			ok, err := r.holds(ctx, w, c.Says, nil)
			if v.OK = ok; err != nil {
				v.Why = clip(err.Error())
			}
		}
		b.Criteria = append(b.Criteria, v)
	}
	return lifecycle.Fact{Kind: lifecycle.GoalAssessed, Attempt: w.Attempt, Body: b}
}

// judgeGoal says for a person whether the goal is reached. It reports whether the command is about that.
func (r *Run) judgeGoal(f lifecycle.Fact, c Command) (lifecycle.Fact, bool) {
	_, waits := r.State.Goal()
	if _, taken := r.State.Task(c.Task); c.Task != lifecycle.GoalTask || taken || !waits {
		return f, false
	}
	f.Task, f.Kind, f.Body = "", lifecycle.GoalJudged, &lifecycle.Judged{Accepted: c.Name == Complete, Why: clip(c.Why)}
	return f, true
}
