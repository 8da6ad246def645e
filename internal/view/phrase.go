package view

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// derived is what the bodies of derived records say, of all kinds together.
type derived struct {
	Group     bool                `json:"group"`
	For       lifecycle.Wait      `json:"for"`
	Why       string              `json:"why"`
	At        time.Time           `json:"at"`
	Retry     int                 `json:"retry"`
	By        string              `json:"by"`
	Mode      string              `json:"mode"`
	Execution int                 `json:"execution"`
	Status    lifecycle.Status    `json:"status"`
	Routed    []string            `json:"routed"`
	State     lifecycle.PlanState `json:"state"`
	Failed    string              `json:"failed"`
	Left      int                 `json:"left"`
	Undone    int                 `json:"undone"`
	gateBody
}

func derivedOf(r journal.Record) (d derived, ok bool) {
	return d, len(r.Body) == 0 || json.Unmarshal(r.Body, &d) == nil
}

// because adds a reason to what was said.
func because(said, why string) string {
	if why = plain(why); why == "" {
		return said
	}
	return said + ": " + why
}

// phrase tells what a record says, without its task and, for facts about the plan, without its actor.
func phrase(r journal.Record) string {
	if lifecycle.IsFact(r.Kind) {
		f, err := lifecycle.FactOf(r)
		if err != nil {
			return "cannot be read"
		}
		return factPhrase(r, f.Body)
	}
	d, ok := derivedOf(r)
	if !ok {
		return "cannot be read"
	}
	switch r.Kind {
	case lifecycle.PlanEnded:
		return because("the plan is "+string(d.State), d.Why)
	case lifecycle.TaskStarted:
		if d.Group {
			return "its tasks could begin"
		}
		return attempt(r) + " began"
	case lifecycle.TaskWaiting:
		return because(waitPhrase(d.For), d.Why)
	case lifecycle.TaskRetried:
		return because("retry "+strconv.Itoa(d.Retry)+" is due at "+Time(d.At.In(r.Time.Location())), d.Why)
	case lifecycle.TaskRecovering:
		return because(plain(d.By)+" runs first, the remedy for "+plain(d.Mode), d.Why)
	case lifecycle.TaskReopened:
		return reopenedPhrase(d) + ": execution " + strconv.Itoa(d.Execution)
	case lifecycle.TaskSettled:
		return settledPhrase(d)
	case lifecycle.TaskUndoing:
		return "it is being undone"
	case lifecycle.RollbackEnded:
		return rollbackPhrase(d)
	case lifecycle.DeadlineMissed:
		return missedPhrase(r)
	case lifecycle.BudgetReserved, lifecycle.BudgetSettled, lifecycle.BudgetRefused:
		return spendingPhrase(r)
	case lifecycle.GateOpened:
		return openedPhrase(d)
	case lifecycle.GateEscalated:
		return escalatedPhrase(d)
	}
	return ""
}

func attempt(r journal.Record) string { return "attempt " + strconv.Itoa(r.Attempt) }

func waitPhrase(w lifecycle.Wait) string {
	switch w {
	case lifecycle.ForPerson:
		return "waits for a person to do it"
	case lifecycle.ForJudge:
		return "waits for a person to judge it"
	case lifecycle.ForUnknown:
		return "waits for a person to say whether it happened"
	}
	return "waits"
}

func settledPhrase(d derived) string {
	s := because(string(d.Status), d.Why)
	if len(d.Routed) > 0 {
		s += "; this leads to " + list(plains(d.Routed))
	}
	return s
}

func plains(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = plain(w)
	}
	return out
}

// reopenedPhrase tells what has a task run again: a route, or a revision, which says why.
func reopenedPhrase(d derived) string {
	if d.Why == "" {
		return plain(d.By) + " led back here"
	}
	return plain(d.By) + " has it run again, since " + plain(d.Why)
}
