package rehearsal

import (
	"maps"
	"slices"
	"time"
)

// Anyone is the role of whoever is not named otherwise.
const Anyone = "anyone"

// Team is who answers in a rehearsal: gates, judgements and the tasks that people do. It has a role Anyone.
type Team map[string]Role

// Role is how its people answer: each after a while of working hours, and with a yes more or less often.
type Role struct {
	People   []string      // empty: one, called as the role is
	Response time.Duration // median, in working hours
	From, To time.Duration // working hours, since midnight
	Days     [7]bool       // working days, from Sunday
	Approve  float64       // likelihood of a yes to a gate or to a judgement
}

// DefaultTeam is one person for each role that a plan names: they answer after two working hours, in the middle, work from
// nine to five on weekdays, and say yes.
func DefaultTeam() Team {
	return Team{Anyone: {Response: 2 * time.Hour, From: 9 * time.Hour, To: 17 * time.Hour,
		Days: [7]bool{time.Monday: true, time.Tuesday: true, time.Wednesday: true, time.Thursday: true, time.Friday: true}, Approve: 1}}
}

func (t Team) has(role string) bool {
	_, ok := t[role]
	return ok
}

// find tells who stands for a name that a plan uses: a role, one of its people, or anyone under that name. known is false
// when the team has never heard of it.
func (t Team) find(name string) (r Role, known bool) {
	if name == "" {
		name = Anyone
	}
	if r, known = t[name]; known {
		if len(r.People) == 0 {
			r.People = []string{name}
		}
		return r, true
	}
	for _, role := range slices.Sorted(maps.Keys(t)) {
		if r = t[role]; slices.Contains(r.People, name) {
			r.People = []string{name}
			return r, true
		}
	}
	r = t[Anyone]
	r.People = []string{name}
	return r, false
}

// span is a point on, or a piece of, the virtual clock: nanoseconds since the midnight before the start.
type span = int64

const (
	day  = span(24 * time.Hour)
	week = 7 * day
)

// horizon is how far the virtual clock goes: a plan that takes longer than a hundred years is not finished.
const horizon = 5200 * week

// after is when somebody of a role has worked so long, from a time on; first is the weekday of the clock's first day.
func (r *Role) after(from, work span, first time.Weekday) span {
	weekly := span(0)
	for _, open := range r.Days {
		if open {
			weekly += span(r.To - r.From)
		}
	}
	weeks := max(work-1, 0) / weekly // the last one may end with its last day
	if weeks >= horizon/week {
		return from + horizon
	}
	from, work = from+weeks*week, work-weeks*weekly
	for {
		at := from % day
		if !r.Days[(int64(first)+from/day)%7] || at >= span(r.To) {
			from += day - at
			continue
		}
		if at < span(r.From) {
			from += span(r.From) - at
			at = span(r.From)
		}
		if left := span(r.To) - at; work > left {
			work -= left
			from += day - at
			continue
		}
		return from + work
	}
}
