package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

// event is what a line tells of a record: a word, whom it concerns, and the rest.
type event struct{ word, rest string }

// writeLine tells a record on one line if it is a start, an end or a wait; the rest is in the journal.
func writeLine(w io.Writer, e journal.Entry) {
	r, err := journal.Decode(e)
	if err != nil {
		return
	}
	ev, ok := eventOf(r)
	if !ok {
		return
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
	case *lifecycle.Ended:
		return endedEvent(r, b), true
	case *lifecycle.Interrupted:
		return event{"interrupted", b.Why}, true
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
	if b.Outcome == lifecycle.Succeeded {
		return event{"completed", rest}
	}
	return event{"failed", rest + "  " + b.Error}
}

func by(r journal.Record) string { return "by " + r.Actor + "  " }

// derivedEvent reads what the bodies of derived records have in common.
func derivedEvent(r journal.Record) (event, bool) {
	var b struct {
		For    string `json:"for"`
		Why    string `json:"why"`
		At     string `json:"at"`
		By     string `json:"by"`
		Status string `json:"status"`
		State  string `json:"state"`
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
	case lifecycle.TaskRetried:
		return event{"retries", "at " + b.At}, true
	case lifecycle.TaskRecovering:
		return event{"recovers", "by " + b.By}, true
	case lifecycle.TaskReopened:
		return event{"again", "led back by " + b.By}, true
	case lifecycle.TaskSettled:
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
