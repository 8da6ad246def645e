package plan

import (
	"time"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Review says when people look at what waits for their consent: decisions that come up in between gather for the next
// window, where one command answers them all.
type Review struct {
	Every Duration `json:"every,omitzero"`
	At    []string `json:"at,omitempty"` // times of day, 15:04
}

const (
	timeOfDay = "15:04"
	day       = 24 * time.Hour
	// leastReview keeps windows apart: more often is all the time.
	leastReview = time.Minute
)

// Next is the first window after a moment, by the clock of the moment's zone. Windows of every begin anew at midnight, so
// that they are the same each day.
func (r *Review) Next(after time.Time) time.Time {
	if r == nil {
		return time.Time{}
	}
	y, m, d := after.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, after.Location())
	var first time.Time
	if every := r.Every.D(); every >= leastReview {
		first = midnight.Add((after.Sub(midnight)/every + 1) * every)
		if tomorrow := midnight.AddDate(0, 0, 1); every < day && first.After(tomorrow) {
			first = tomorrow
		}
	}
	for _, text := range r.At {
		at, err := time.Parse(timeOfDay, text)
		if err != nil {
			continue
		}
		t := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, after.Location())
		if !t.After(after) {
			t = time.Date(y, m, d+1, at.Hour(), at.Minute(), 0, 0, after.Location())
		}
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// review checks when people look.
func (c *checker) review(r *Review, policy source.Node) {
	if r == nil {
		return
	}
	n, _ := policy.Get("review")
	switch {
	case r.Every == 0 && len(r.At) == 0:
		c.fault(n, CodeEmpty, `write review: {every: 4h}, or review: {at: ["12:00", "17:00"]}`, "review does not say when")
	case r.Every != 0 && r.Every.D() < leastReview:
		c.fault(locate(n, "every"), CodeType, "write every: 1m or longer", "review every %s is all the time", r.Every)
	}
	for _, text := range r.At {
		if _, err := time.Parse(timeOfDay, text); err != nil {
			c.fault(locate(n, text), CodeType, `write times of day such as "12:00"`, "review at %q is no time of day", text)
		}
	}
}
