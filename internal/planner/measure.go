package planner

import (
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Total is the sum of what the steps are to last.
func (d *Draft) Total() time.Duration {
	var sum time.Duration
	for _, s := range d.Steps {
		sum += s.Lasts
	}
	return sum
}

// Critical is how long the plan takes if all that can go on at once does.
func (d *Draft) Critical() time.Duration {
	over := map[string]time.Duration{}
	var longest time.Duration
	for _, s := range d.Steps {
		var start time.Duration
		for _, need := range s.Needs {
			start = max(start, over[need])
		}
		over[s.ID] = start + s.Lasts
		longest = max(longest, over[s.ID])
	}
	return longest
}

// Complexity is 0.4 for ten steps, 0.3 for ten dependencies and 0.3 for the dearest tier, in proportion.
func (d *Draft) Complexity() float64 {
	if len(d.Steps) == 0 {
		return 0
	}
	deps, tiers := 0, 0
	for _, s := range d.Steps {
		deps += len(s.Needs)
		tiers += s.Tier
	}
	n := float64(len(d.Steps))
	return 0.4*min(n/10, 1) + 0.3*min(float64(deps)/10, 1) + 0.3*(float64(tiers)/n-1)/4
}

// tightest is the least part of its usual time in which a step can be done.
const tightest = 0.4

// Fit makes the steps fit into the time that the caller has, where they can be done faster, and refuses where they cannot.
func (d *Draft) Fit() error {
	total := d.Total()
	for _, c := range d.Signals.Constraints {
		if c.Kind != Time || c.Least || c.Span >= total {
			continue
		}
		least := time.Duration(float64(total) * tightest).Round(time.Minute)
		if c.Span < least {
			return fault.New(fault.Denied, "the plan takes %s, and the constraint %q leaves %s", plan.Duration(total), c.Text, plan.Duration(c.Span)).
				Remedy("the least that would do is %s; or ask for less", plan.Duration(least))
		}
		share := float64(c.Span) / float64(total)
		for i := range d.Steps {
			s := &d.Steps[i]
			s.Lasts = max(time.Duration(float64(s.Lasts)*share).Truncate(time.Minute), time.Minute)
		}
		total = d.Total()
	}
	return nil
}
