package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

// event is what a line tells of a record: a word, whom it concerns, and the rest.
type event struct{ word, rest string }

// lines tells records on one line each, if they are a start, an end or a wait; the rest is in the journal. It remembers
// whose failure was told, which the law settles in a record of its own.
type lines struct{ failed map[string]bool }

func newLines() *lines { return &lines{failed: map[string]bool{}} }

func (l *lines) write(w io.Writer, e journal.Entry) {
	r, err := journal.Decode(e)
	if err != nil {
		return
	}
	ev, ok := eventOf(r)
	switch {
	case !ok, ev.word == failedWord && r.Kind == lifecycle.TaskSettled && l.failed[r.Task]:
		return
	case r.Task != "":
		l.failed[r.Task] = ev.word == failedWord
	}
	line := fmt.Sprintf("%s  %-11s  %s  %s", view.Time(r.Time.Local()), ev.word, cmp.Or(r.Task, r.Plan), oneLine(ev.rest))
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

func eventOf(r journal.Record) (event, bool) {
	if !lifecycle.IsFact(r.Kind) {
		return derivedEvent(r)
	}
	switch r.Kind {
	case lifecycle.PlanStarted:
		return event{"plan began", ""}, true
	case lifecycle.PlanResumed:
		return event{"plan resumed", ""}, true
	}
	f, err := lifecycle.FactOf(r)
	if err != nil {
		return event{}, false
	}
	switch b := f.Body.(type) {
	case *lifecycle.Reason:
		word := map[journal.Kind]string{lifecycle.PlanPaused: "plan paused", lifecycle.PlanCancelled: "plan cancelled",
			lifecycle.PlanRetried: "plan retried"}[r.Kind]
		return event{word, b.Why}, word != ""
	case *lifecycle.Revised:
		return event{fmt.Sprintf("revision %d", b.Base+1), by(r) + b.Why}, true
	case *lifecycle.Asked:
		return event{"rollback", by(r) + b.Why}, true
	case *lifecycle.Undone:
		if b.Error != "" {
			return event{"not undone", b.Error}, true
		}
		return event{"undone", cmp.Or(strings.Join(b.How, "; "), "there was nothing to put back")}, true
	case *lifecycle.Ended:
		return endedEvent(r, b), true
	case *lifecycle.Interrupted:
		return event{"interrupted", b.Why}, true
	case *lifecycle.Raised:
		return event{"raised", by(r) + b.Why}, true
	case *lifecycle.Denied:
		return event{"not raised", by(r) + b.Why}, true
	case *lifecycle.Proposed:
		return event{"proposal", view.ProposedLine(b)}, true
	case *lifecycle.ReplanVerdict:
		if b.Accepted {
			return event{"agreed", by(r) + b.Why}, true
		}
		return event{"refused", by(r) + b.Why}, true
	case *lifecycle.Judged:
		return event{"judged", by(r) + b.Why}, true
	case *lifecycle.Decided:
		if b.Approved {
			return event{"approved", by(r) + b.Why}, true
		}
		return event{"rejected", by(r) + b.Why}, true
	}
	return event{}, false
}

func endedEvent(r journal.Record, b *lifecycle.Ended) event {
	rest := view.Duration(b.Took)
	if r.Actor != lifecycle.Engine {
		rest = by(r)
	}
	if b.Tree != nil && b.Tree.Files > 0 {
		rest += "  changed " + count(b.Tree.Files, "file")
	}
	if b.Outcome == lifecycle.Succeeded {
		return event{"completed", rest}
	}
	return event{failedWord, rest + "  " + b.Error}
}

// failedWord tells a failure.
const failedWord = string(lifecycle.FailedTask)

func by(r journal.Record) string { return "by " + r.Actor + "  " }

// derivedEvent reads what the bodies of derived records have in common.
func derivedEvent(r journal.Record) (event, bool) {
	var b struct {
		For    string    `json:"for"`
		Why    string    `json:"why"`
		At     time.Time `json:"at"`
		By     string    `json:"by"`
		Status string    `json:"status"`
		State  string    `json:"state"`
		Routed []string  `json:"routed"`
		Undone int       `json:"undone"`
		Left   int       `json:"left"`
	}
	if len(r.Body) > 0 && json.Unmarshal(r.Body, &b) != nil {
		return event{}, false
	}
	switch r.Kind {
	case lifecycle.PlanEnded:
		return event{"plan " + b.State, b.Why}, true
	case lifecycle.TaskStarted:
		rest := ""
		if r.Attempt > 1 {
			rest = fmt.Sprintf("attempt %d", r.Attempt)
		}
		return event{"started", rest}, true
	case lifecycle.TaskWaiting:
		return event{"waits", "for a person  " + b.Why}, true
	case lifecycle.GateOpened:
		return event{"waits", "for a decision"}, true
	case lifecycle.DeadlineMissed:
		return event{"late", "its deadline has passed"}, true
	case lifecycle.BudgetRefused:
		return event{"waits", "for a budget to be raised"}, true
	case lifecycle.TaskRetried:
		return event{"retries", "at " + view.Time(b.At.Local())}, true
	case lifecycle.TaskRecovering:
		return event{"recovers", "by " + b.By}, true
	case lifecycle.TaskReopened:
		if b.Why != "" {
			return event{"again", b.Why}, true
		}
		return event{"again", "led back by " + b.By}, true
	case lifecycle.TaskUndoing:
		return event{"undoing", ""}, true
	case lifecycle.RollbackEnded:
		if b.Left > 0 {
			return event{"stopped", count(b.Undone, "task") + " undone, " + count(b.Left, "task") + " left"}, true
		}
		return event{"rolled back", count(b.Undone, "task") + " undone"}, true
	case lifecycle.TaskSettled:
		if len(b.Routed) > 0 {
			return event{"routed", "to " + strings.Join(b.Routed, ", ")}, true
		}
		return event{b.Status, b.Why}, true
	}
	return event{}, false
}

// oneLine keeps what a task said from moving the cursor.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
