package view

import (
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// factPhrase tells what a fact says.
func factPhrase(r journal.Record, body any) string {
	switch b := body.(type) {
	case *lifecycle.Submitted:
		s := "handed in a plan of " + plural(b.Tasks, "task")
		if b.Fork != nil {
			s += ", forked from " + plain(b.Fork.Plan) + " at record " + strconv.FormatUint(uint64(b.Fork.Seq), 10)
		}
		if b.Source != "" {
			s += ", from " + plain(b.Source)
		}
		return s
	case *lifecycle.Archived:
		return because("put the plan away", b.Why)
	case *lifecycle.Carried:
		s := string(b.Status)
		if s == "" {
			s = "its list of items"
		}
		return "taken over from " + plain(b.From.Plan) + ", record " + strconv.FormatUint(uint64(b.From.Seq), 10) + ": " + s
	case *lifecycle.Revised:
		return because("revised the plan: revision "+strconv.Itoa(b.Base+1)+", "+plural(b.Tasks, "task")+revisedHow(b), b.Why)
	case *lifecycle.Session:
		return sessionPhrase(r, b)
	case *lifecycle.Reason:
		return because(map[journal.Kind]string{lifecycle.PlanPaused: "paused the plan", lifecycle.PlanCancelled: "gave the plan up",
			lifecycle.PlanRetried: "asked to try again what had failed", lifecycle.PlanLeft: "left the plan for now"}[r.Kind], b.Why)
	case *lifecycle.Asked:
		return askedPhrase(b)
	case *lifecycle.Undone:
		return undonePhrase(b)
	case *lifecycle.Saved:
		return attempt(r) + " kept what it is about to change"
	case *lifecycle.Assessed:
		return assessedPhrase(b)
	case *lifecycle.Spawned:
		return attempt(r) + " runs as process " + strconv.Itoa(b.PID)
	case *lifecycle.Ended:
		return endedPhrase(r, b)
	case *lifecycle.Interrupted:
		return interruptedPhrase(r, b)
	case *lifecycle.GoalVerdict:
		return goalPhrase(b)
	case *lifecycle.Judged:
		if b.Accepted {
			return because("judged good enough", b.Why)
		}
		return because("judged not good enough", b.Why)
	case *lifecycle.Fired:
		return firedPhrase(b)
	case *lifecycle.Decided:
		return decidedPhrase(b)
	case *lifecycle.Proposed, *lifecycle.ReplanVerdict:
		return replanPhrase(b)
	case *lifecycle.Delegated:
		return because("handed the decision on to "+who(b.To), b.Why)
	case *lifecycle.Drawn, *lifecycle.Read, *lifecycle.Raised, *lifecycle.Denied:
		return spendingFact(b)
	case *lifecycle.Stored:
		s := "stored " + plain(b.Name) + " (" + Size(b.Size) + ")"
		if b.Partial {
			s += ", a part so far"
		}
		return s
	case *lifecycle.Expired:
		return because("dropped the content "+b.Hash.Short(), b.Why)
	}
	return ""
}

// revisedHow tells where a revision came from.
func revisedHow(b *lifecycle.Revised) string {
	switch {
	case b.How == lifecycle.ByHand:
		return ", written by hand"
	case b.How == lifecycle.ByRule:
		return ", proposed by the engine"
	case b.How == lifecycle.ByMerge && b.Source != "":
		return ", merged from " + plain(b.Source)
	case b.How == lifecycle.ByMerge:
		return ", merged"
	case b.Source != "":
		return ", from " + plain(b.Source)
	}
	return ""
}

func sessionPhrase(r journal.Record, b *lifecycle.Session) string {
	s := "began to carry out the plan"
	if r.Kind == lifecycle.PlanResumed {
		s = "took the plan up again"
	}
	if b.Host != "" {
		s += " on " + plain(b.Host)
	}
	if b.PID > 0 {
		s += " as process " + strconv.Itoa(b.PID)
	}
	return s
}

// nothingElse is told of a task that had but a condition.
const nothingElse = "its condition holds"

func assessedPhrase(b *lifecycle.Assessed) string {
	switch {
	case b.Failed:
		return because("what it depends on could not be worked out", b.Why)
	case !b.Run:
		return because("it is not to run", b.Why)
	}
	var parts []string
	for _, c := range b.Checks {
		switch {
		case c.Judge:
			parts = append(parts, "a person has to judge: "+plain(c.Says))
		case c.OK:
			parts = append(parts, "this check holds: "+plain(c.Says))
		default:
			parts = append(parts, because("this check does not hold: "+plain(c.Says), c.Why))
		}
	}
	if b.Count != nil {
		parts = append(parts, "its list has "+plural(*b.Count, "item"))
	}
	if len(parts) == 0 {
		return nothingElse
	}
	return strings.Join(parts, "; ")
}

func endedPhrase(r journal.Record, b *lifecycle.Ended) string {
	failed, s := attempt(r)+" failed", attempt(r)+" completed"
	switch {
	case r.Actor != lifecycle.Engine:
		failed, s = "said that it failed", "completed it"
	case b.Memo:
		s = "nothing was computed: the same was, before a revision; " + s
	case b.Probed:
		s = "it was found that " + s + " before it was cut off"
	}
	if b.Outcome != lifecycle.Succeeded {
		s = because(failed+after(b, " after "), b.Error)
		if b.Mode != "" {
			s += "; recognised as " + plain(b.Mode)
		}
		return s
	}
	s += after(b, " in ")
	if l := left(b.Outputs, b.Artifacts); len(l) > 0 {
		s += ", leaving " + few(l, 4)
	}
	return s
}

func after(b *lifecycle.Ended, word string) string {
	if b.Took <= 0 {
		return ""
	}
	return word + Duration(b.Took)
}

func interruptedPhrase(r journal.Record, b *lifecycle.Interrupted) string {
	switch {
	case b.Then != lifecycle.Repeat:
		return because(attempt(r)+" was cut off, and a person has to say what became of it", b.Why)
	case r.Actor != lifecycle.Engine:
		return because("said that it did not happen, so it is repeated", b.Why)
	}
	return because(attempt(r)+" was cut off and is repeated", b.Why)
}
