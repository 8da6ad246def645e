// Package view is how a run is told to people: the texts, trees, tables, drawings and JSON that every door shares.
//
// It only reads. A state is handed in by whoever folds it and must not change meanwhile; records are handed in as
// they were journaled, oldest first. Nothing here reads a clock, a terminal or the environment: the caller says
// how wide, how high, in which colours and at what time, so that equal arguments give equal texts. Times are shown in the
// zone that they carry.
//
// Whatever came from outside (titles, errors, outputs) is made harmless before it is shown: no control character of
// a task reaches a terminal. A record that cannot be read is shown by its kind alone, never an error.
package view

import (
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Blocked is the status that a reader is shown for a task which waits in vain for one that failed.
const Blocked lifecycle.Status = "blocked"

// shown is the status of a task as a reader is told it.
func shown(t lifecycle.Task) lifecycle.Status {
	if t.Blocked != "" && t.Status == lifecycle.Pending {
		return Blocked
	}
	return t.Status
}

// said is a status in words.
func said(s lifecycle.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// done reports whether nothing is left to do for a status.
func done(s lifecycle.Status) bool { return s == lifecycle.Completed || s == lifecycle.Skipped }

// who is the name in an actor: person:ann is ann.
func who(actor string) string {
	kind, name, ok := strings.Cut(actor, ":")
	switch {
	case !ok || name == "":
		return plain(actor)
	case kind == "person":
		return plain(name)
	}
	return kind + " " + plain(name)
}

// asked says whom a waiting task waits for, and for what; empty when it does not wait for people.
func asked(t lifecycle.Task) string {
	person := "a person"
	if t.Spec.Owner != "" {
		person = plain(t.Spec.Owner)
	}
	switch t.Wait {
	case lifecycle.ForPerson:
		return person + " to do it"
	case lifecycle.ForJudge:
		return person + " to judge it"
	case lifecycle.ForUnknown:
		return person + " to say whether it happened"
	case lifecycle.ForBudget:
		return "somebody to raise a budget"
	case lifecycle.ForDecision:
		return approver(t.Spec.Approve, person) + " to decide"
	}
	return ""
}

func approver(a *plan.Approval, otherwise string) string {
	switch {
	case a == nil:
		return otherwise
	case a.Quorum > 1 && a.Role != "":
		return strconv.Itoa(a.Quorum) + " of " + plain(a.Role)
	case a.Quorum > 1:
		return strconv.Itoa(a.Quorum) + " people"
	case a.Role != "":
		return plain(a.Role)
	}
	return otherwise
}

// list joins words as one says them: a, b and c.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// few joins words as list does, and counts what is more than most.
func few(words []string, most int) string {
	if len(words) <= most {
		return list(words)
	}
	return strings.Join(words[:most], ", ") + " and " + number(len(words)-most) + " more"
}

// plural counts things: 1 task, 2 tasks.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}
