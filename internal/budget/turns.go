package budget

import (
	"context"
	"slices"
	"time"
)

// Claim is a limit on how often something may begin: at most Times under one key in any stretch of Per.
type Claim struct {
	Key   string
	Times int
	Per   time.Duration
}

// Turn is a start that was booked.
type Turn struct {
	At  time.Time
	Key string // the claim that it had to wait for; empty: it need not wait
}

// Waiter is somebody whose turn is yet to come.
type Waiter struct {
	Key string // of the claim
	Who string
	At  time.Time
}

// Turns is the book of what all processes of a home begin, for the limits on how often they may. Of two that book at once, both
// see what the other has. A turn whose holder died stays booked until its time is over. An implementation passes
// budgettest.RunTurns.
type Turns interface {
	// Book takes the first turn from now on that every claim leaves free, under the name of who will have it. One that would come
	// after by is told and not taken; a zero by is no limit.
	Book(ctx context.Context, who string, now, by time.Time, claims []Claim) (Turn, error)
	// Cancel gives a turn back that nobody will take any more. One that is not booked is left alone.
	Cancel(ctx context.Context, who string, at time.Time) error
	// Waiting lists whose name begins as told and whose turn comes after now, by time.
	Waiting(ctx context.Context, prefix string, now time.Time) ([]Waiter, error)
}

// Fit finds the first turn from now on that every claim leaves free. booked lists the turns under a key, in order. A gap between turns
// that others wait for is used, so that one who waits long for another key does not hold up those who do not.
func Fit(now time.Time, claims []Claim, booked func(key string) []time.Time) Turn {
	t := Turn{At: now}
	for again := true; again; {
		again = false
		for _, c := range claims {
			if at := c.next(t.At, booked(c.Key)); at.After(t.At) {
				t, again = Turn{at, c.Key}, true
			}
		}
	}
	return t
}

// next is the first moment from at on that another turn may have.
func (c Claim) next(at time.Time, booked []time.Time) time.Time {
	for {
		// Only what is less than Per away shares a stretch with it.
		lo, _ := slices.BinarySearchFunc(booked, at.Add(-c.Per), func(b, before time.Time) int {
			if b.After(before) {
				return 1
			}
			return -1
		})
		hi, _ := slices.BinarySearchFunc(booked, at.Add(c.Per), time.Time.Compare)
		near := booked[lo:hi]
		mid, _ := slices.BinarySearchFunc(near, at, time.Time.Compare)
		full := -1
		for i := max(0, mid-c.Times); i <= mid && i+c.Times <= len(near); i++ {
			// Times turns in a row, which at would be one more of.
			if first, last := near[i], near[i+c.Times-1]; later(last, at).Sub(earlier(first, at)) < c.Per {
				full = i
			}
		}
		if full < 0 {
			return at
		}
		at = near[full].Add(c.Per)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
