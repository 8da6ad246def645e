package view

import (
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// maxAsked is how many tasks that wait for people are spelt out.
const maxAsked = 4

// Next lists the commands that make sense now, each as it can be copied; what follows # says when.
func Next(st *lifecycle.State) []string { return align(next(st)) }

func next(st *lifecycle.State) []string {
	name := quote(st.Name)
	var out []string
	if _, waits := st.Goal(); waits {
		out = goalAnswers(st.Name)
	}
	failed, last, people, undone := "", "", 0, false
	for t := range st.Tasks() {
		switch {
		case t.Wait == lifecycle.ForBudget: // one raise answers for many tasks
		case t.Wait.NeedsPerson():
			if people++; people <= maxAsked {
				out = append(out, answers(st.Name, t)...)
			}
		case t.Status == lifecycle.FailedTask && !t.Group && failed == "":
			failed = t.ID
		case t.Status == lifecycle.RolledBack:
			undone = true
		case t.Status == lifecycle.Completed && !t.Group:
			last = t.ID
		}
	}
	if people > maxAsked {
		out = append(out, note("cairn show "+name, number(people-maxAsked)+" more tasks wait for people"))
	}
	for _, r := range Raises(st) {
		out = append(out, note("cairn budget "+name, r.Says()))
		out = append(out, r.Commands(st.Name)...)
	}
	if p := proposal(st); p != nil {
		out = append(out, decisions(st.Name, p)...)
	}
	switch {
	case st.Phase == lifecycle.PlanCompleted:
		out = append(out, note("cairn show "+name, "what became of each task"))
		if last != "" {
			out = append(out, note("cairn why "+name+" "+quote(last), "how a result came about"))
		}
		if st.Plan.Policy != nil && st.Plan.Policy.Workspace == "branch" {
			out = append(out, note("cairn apply "+name, "bring its files home"))
		}
		return append(out, note("cairn audit verify "+name, "prove that nothing was changed"))
	case st.Phase == lifecycle.PlanFailed:
		if failed != "" {
			out = append(out, note("cairn why "+name+" "+quote(failed), "what went wrong"))
		}
		return append(out, note("cairn retry "+name, "try again what failed"))
	case st.Phase == lifecycle.PlanAbandoned:
		return append(out, note("cairn log "+name, "what happened"))
	case st.Undoing():
		return append(out, note("cairn rollback "+name, "go on undoing"))
	case st.Phase == lifecycle.PlanIsPaused && undone:
		return append(out, note("cairn resume "+name, "do again what was undone"), note("cairn rollback "+name+" --why TEXT", "undo the rest too"))
	case st.Phase == lifecycle.PlanIsPaused, st.Phase == lifecycle.PlanPending:
		return append(out, "cairn resume "+name)
	}
	if failed != "" {
		out = append(out, note("cairn why "+name+" "+quote(failed), "what went wrong"))
	}
	if st.OnlyPeople() {
		return append(out, note("cairn resume "+name, "then go on"))
	}
	return append(out, note("cairn watch "+name, "see it run"), note("cairn resume "+name, "if nothing carries it out any more"))
}

// answers are the commands that answer for a task that waits for a person.
func answers(name string, t lifecycle.Task) []string {
	at := quote(name) + " " + quote(t.ID)
	switch t.Wait {
	case lifecycle.ForJudge:
		return []string{note("cairn complete "+at, "if it is good enough"), note("cairn fail "+at+" --why TEXT", "if it is not")}
	case lifecycle.ForDecision:
		seen := ""
		if a := t.Spec.Approve; a != nil && slices.Contains(a.Evidence, "diff") {
			seen = " --seen HASH"
		}
		return []string{"cairn approve " + at + " --why TEXT" + seen, "cairn reject " + at + " --why TEXT"}
	case lifecycle.ForBudget:
		return []string{"cairn budget " + quote(name)}
	case lifecycle.ForUnknown:
		return []string{note("cairn complete "+at+outputs(t), "if it did happen"), note("cairn retry "+at, "if it did not")}
	case lifecycle.ForPerson:
		if t.Spec.Uses == lifecycle.HumanDecide {
			return []string{note("cairn answer "+at+" OPTION", "see them with: cairn inbox")}
		}
		if lifecycle.IsQuestion(t.Spec) {
			return []string{"cairn answer " + at + " TEXT"}
		}
	}
	if t.Twice {
		return []string{note("cairn retry "+at, "to have it run again"), note("cairn complete "+at+outputs(t), "to leave it as it was done")}
	}
	if t.Spec.Title != "" {
		return []string{note("cairn complete "+at+outputs(t), plain(t.Spec.Title))}
	}
	return []string{"cairn complete " + at + outputs(t)}
}

// outputs are the flags by which a person hands in what a task has to leave.
func outputs(t lifecycle.Task) string {
	s := ""
	for _, o := range t.Spec.Outputs {
		switch {
		case o.Path != "":
			s += " --output " + quote(o.Name+"=@"+o.Path)
		case o.Type == "file" || o.Type == "markdown":
			s += " --output " + quote(o.Name) + "=@FILE"
		default:
			s += " --output " + quote(o.Name) + "=VALUE"
		}
	}
	return s
}

func note(command, when string) string { return command + remark + when }

const remark = "  # "

// align puts what follows # in one column.
func align(commands []string) []string {
	most := 0
	for _, c := range commands {
		if command, _, ok := strings.Cut(c, remark); ok {
			most = max(most, width(command))
		}
	}
	for i, c := range commands {
		if command, when, ok := strings.Cut(c, remark); ok {
			commands[i] = pad(command, most) + remark + when
		}
	}
	return commands
}

// quote makes a word safe for a shell, where it is not already.
func quote(s string) string {
	s = plain(s)
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@=:,+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
