package view

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// rest tells what is no decision about a gate or a budget.
func (a Asking) rest(q *Ask, t lifecycle.Task) {
	fail := "cairn fail " + on(q) + " --why TEXT"
	switch {
	case t.Wait == lifecycle.ForUnknown:
		q.Kind, q.Asks = AskUnknown, "it was cut off and must not run twice: did it happen?"
		q.Answers = []string{"cairn complete " + on(q) + outputs(t), "cairn retry " + on(q) + " --why 'it did not happen'", fail}
	case t.Twice:
		q.Kind, q.Asks = AskUnknown, "it must not run twice, and has run before this revision: shall it run again?"
		q.Answers = []string{"cairn retry " + on(q) + " --why TEXT", "cairn complete " + on(q) + outputs(t), fail}
	case t.Wait == lifecycle.ForJudge:
		q.Kind, q.Asks = AskJudgement, "does this hold: "+judged(t.Spec.Expect)
		q.Answers = []string{"cairn complete " + on(q), fail}
	case lifecycle.IsQuestion(t.Spec):
		a.question(q, t)
		q.Answers = append(q.Answers, fail)
	default:
		q.Kind = AskManual
		q.Answers = []string{"cairn complete " + on(q) + outputs(t), fail}
	}
}

// question tells what is asked, and who is. What cannot be read says why, and can only be given up.
func (a Asking) question(q *Ask, t lifecycle.Task) {
	q.Kind = AskQuestion
	if t.Spec.Uses == lifecycle.HumanDecide {
		q.Kind = AskDecision
	}
	asked, err := a.Question(t.ID)
	if err != nil {
		q.Asks = "it cannot be asked: " + err.Error()
		return
	}
	q.Asks, q.Options, q.Default = asked.Asks, asked.Options, asked.Default
	q.hold = asked.Hold(q.hold.Authors)
	what := "TEXT"
	if asked.Decides {
		ids := make([]string, len(asked.Options))
		for i, o := range asked.Options {
			ids[i] = quote(o.ID)
		}
		what = strings.Join(ids, "|")
	}
	q.Answers = []string{"cairn answer " + on(q) + " " + what}
}

// withheld finds the first task that waits for each budget.
func (a Asking) withheld() map[string]lifecycle.Withheld {
	out, seen := map[string]lifecycle.Withheld{}, map[lifecycle.Withheld]bool{}
	for w := range a.State.Withheld() {
		whose := lifecycle.Withheld{Of: w.Of, Day: w.Day}
		if !seen[whose] {
			seen[whose] = true
			out[w.Task] = w
		}
	}
	return out
}

// budget tells whose budget is short, and of what.
func (a Asking) budget(q *Ask, w lifecycle.Withheld) bool {
	acc, ok := a.State.Account(w.Of)
	if !ok {
		return false
	}
	raise := "cairn budget " + quote(q.Plan)
	q.Kind = AskBudget
	switch {
	case w.Day:
		q.Asks = "the day has no " + string(w.Short) + " left: may more be spent?"
		raise += " --day"
	case w.Of == "":
		q.Asks = "the plan has no " + string(w.Short) + " left of " + acc.Limit.Text(w.Short) + ": may more be spent?"
	default:
		q.Asks = w.Of + " has no " + string(w.Short) + " left of " + acc.Limit.Text(w.Short) + ": may more be spent?"
		raise += " " + quote(w.Of)
	}
	if p := a.State.Plan.Policy; p != nil && len(p.Approve["budget"]) > 0 {
		q.hold.Demands = []gate.Demand{{Roles: p.Approve["budget"]}}
	}
	q.Answers = []string{raise + " --raise " + string(w.Short) + "=+N --why TEXT", raise + " --refuse --why TEXT"}
	return true
}
