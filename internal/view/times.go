package view

import (
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Times is when tasks began and ended, gathered from records: the law keeps no times. The zero Times is ready;
// a nil one knows nothing.
type Times struct {
	Began time.Time // of the plan
	Last  time.Time // of the last record
	of    map[string]span
}

type span struct {
	since time.Time     // of the attempt, or of the wait, that is under way
	took  time.Duration // of the last attempt that ended
}

// TimesOf gathers the times of records.
func TimesOf(records []journal.Record) *Times {
	t := &Times{}
	for i := range records {
		t.Note(records[i])
	}
	return t
}

// Note takes the next record.
func (t *Times) Note(r journal.Record) {
	if t.of == nil {
		t.of = map[string]span{}
	}
	if t.Last = r.Time; r.Kind == lifecycle.PlanStarted {
		t.Began = r.Time
	}
	if r.Task == "" {
		return
	}
	s := t.of[r.Task]
	switch r.Kind {
	case lifecycle.TaskStarted, lifecycle.TaskWaiting, lifecycle.GateOpened, lifecycle.TaskRecovering, lifecycle.BudgetRefused:
		s.since = r.Time
	case lifecycle.TaskInterrupted, lifecycle.TaskReopened, lifecycle.TaskRetried, lifecycle.BudgetRead:
		s.since = time.Time{}
	case lifecycle.TaskSettled:
		if s.took == 0 && !s.since.IsZero() { // a group
			s.took = r.Time.Sub(s.since)
		}
		s.since = time.Time{}
	case lifecycle.TaskEnded:
		s.since, s.took = time.Time{}, took(r.Body)
	default:
		return
	}
	t.of[r.Task] = s
}

func took(body []byte) time.Duration {
	var b struct {
		Took time.Duration `json:"took"`
	}
	if json.Unmarshal(body, &b) != nil {
		return 0
	}
	return b.Took
}

func (t *Times) task(id string) span {
	if t == nil {
		return span{}
	}
	return t.of[id]
}
