package view

import (
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// missedPhrase tells that something is late.
func missedPhrase(r journal.Record) string {
	var b struct {
		Due time.Time `json:"due"`
		To  string    `json:"to"`
	}
	if json.Unmarshal(r.Body, &b) != nil {
		return "cannot be read"
	}
	s := "missed its deadline of " + Date(b.Due.In(r.Time.Location()))
	if r.Task == "" {
		s = "the plan " + s
	}
	if b.To != "" {
		s += "; told to " + plain(b.To)
	}
	return s
}

// lateLines tell what missed its deadline and is not over.
func lateLines(st *lifecycle.State, in *time.Location) (lines []string) {
	for l := range st.Late() {
		what := "the plan"
		if l.Task != "" {
			what = plain(l.Task)
		}
		line := "late: " + what + " was due " + Date(l.Due.In(in))
		if l.To != "" {
			line += "; for " + plain(l.To)
		}
		lines = append(lines, line)
	}
	return lines
}
