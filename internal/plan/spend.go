package plan

import (
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// lates is what may follow when a deadline is missed.
var lates = []string{"fail", "warn", "escalate"}

// Budgets is the word by which policy.approve names who may raise a budget.
const Budgets = "budget"

// moments are the ways to write a deadline.
var moments = []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04"}

// Moment reads a deadline. One without a zone is in UTC; a date alone means its end.
func Moment(s string) (time.Time, bool) {
	for _, layout := range moments {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if layout == time.DateOnly {
			t = t.AddDate(0, 0, 1)
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}

// watching checks what a policy says of being late.
func (c *checker) watching(w *Watch, n source.Node) {
	if w == nil {
		return
	}
	if w.Deadline != "" && !slices.Contains(lates, w.Deadline) {
		c.notOneOf(n, "deadline", w.Deadline, lates)
	}
	if w.Deadline == "escalate" && w.Escalate == "" {
		c.fault(n, CodeEmpty, "add escalate: ROLE", "watch escalates what is late, and says to nobody")
	}
}
