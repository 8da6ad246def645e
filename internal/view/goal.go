package view

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// goalLines tell how the criteria of the goal turned out, once they were looked at.
func goalLines(st *lifecycle.State) []string {
	criteria, waits := st.Goal()
	var out []string
	for _, v := range criteria {
		mark := "✓ "
		switch {
		case v.Judge && !v.OK && (waits || st.Phase == lifecycle.PlanCompleted):
			mark = "? "
		case !v.OK:
			mark = "✗ "
		}
		out = append(out, because(mark+"goal: "+plain(v.Says), v.Why))
	}
	return out
}

// goalAsk is what is asked of people when all tasks are over.
func goalAsk(st *lifecycle.State) (q Ask, ok bool) {
	criteria, waits := st.Goal()
	if !waits {
		return q, false
	}
	var prose []string
	for _, v := range criteria {
		if v.Judge {
			prose = append(prose, plain(v.Says))
		}
	}
	q = Ask{Plan: st.Name, Task: lifecycle.GoalTask, Kind: AskJudgement, Title: "Is the goal reached?", Asks: strings.Join(prose, "; "), Answers: goalAnswers(st.Name)}
	if g := st.Plan.Goal; g.Objective != "" {
		q.Title += " " + plain(g.Objective)
	}
	return q, true
}

func goalAnswers(name string) []string {
	at := quote(name) + " " + lifecycle.GoalTask
	return []string{note("cairn complete "+at, "if the goal is reached"), note("cairn fail "+at+" --why TEXT", "if it is not")}
}

// goalPhrase tells how the goal was looked at.
func goalPhrase(b *lifecycle.GoalVerdict) string {
	var missed, open []string
	for _, v := range b.Criteria {
		switch {
		case v.Judge:
			open = append(open, plain(v.Says))
		case !v.OK:
			missed = append(missed, because(plain(v.Says), v.Why))
		}
	}
	switch {
	case len(missed) > 0:
		return "the goal is not reached: " + list(missed)
	case len(open) > 0:
		return "the goal holds as far as can be computed; somebody has to say: " + list(open)
	}
	return "the goal is reached"
}
