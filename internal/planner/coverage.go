package planner

import (
	"fmt"
	"math"
)

// Coverage says which requirements of the goal the steps meet.
type Coverage struct {
	Status     string   `json:"status"` // satisfied, needs_attention
	Unmet      []string `json:"unmet_requirements,omitempty"`
	Missing    []string `json:"missing_capabilities,omitempty"`
	Pending    []string `json:"pending_capabilities,omitempty"` // left to a person or an agent
	Advisories []string `json:"advisories,omitempty"`

	must, met int
}

// Cover raises the requirements that steps meet and tells what is left.
func (d *Draft) Cover() {
	by := map[string]*Step{}
	for i := range d.Steps {
		for _, id := range d.Steps[i].Meets {
			if by[id] == nil {
				by[id] = &d.Steps[i]
			}
		}
	}
	c := Coverage{Status: "satisfied"}
	for i := range d.Signals.Requirements {
		r := &d.Signals.Requirements[i]
		switch s := by[r.ID]; {
		case s == nil:
		case s.Uses != "" || r.Kind != MustCall:
			r.Raise(Available, s.ID)
		default:
			r.Raise(PendingExternal, s.ID)
		}
		if r.Priority == Must {
			c.must++
		}
		switch {
		case r.Readiness == Available && r.Priority == Must:
			c.met++
		case r.Readiness == PendingExternal:
			c.Missing = append(c.Missing, r.Says)
		case r.Readiness < PendingExternal && r.Priority == Must:
			c.Unmet = append(c.Unmet, r.ID+": "+r.Says)
		case r.Readiness < PendingExternal:
			c.Advisories = append(c.Advisories, "nothing provides for: "+r.Says)
		}
	}
	for _, s := range d.Steps {
		if s.Uses == "" && s.Kind != "gate" {
			c.Pending = append(c.Pending, s.ID)
		}
	}
	if len(c.Unmet)+len(c.Missing) > 0 {
		c.Status = "needs_attention"
	}
	d.Coverage = c
}

// Share is the part of what must be met that is.
func (c Coverage) Share() float64 {
	if c.must == 0 {
		return 1
	}
	return float64(c.met) / float64(c.must)
}

// Confidence is computed, never claimed, and says from what.
type Confidence struct {
	Value float64 `json:"value"`
	Parts []Part  `json:"parts"`
}

// Part is one thing that confidence comes from.
type Part struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Value  float64 `json:"value"`
	Says   string  `json:"says"`
}

// Rate computes the confidence from its parts.
func (d *Draft) Rate(parts ...Part) {
	c := Coverage.Share(d.Coverage)
	parts = append([]Part{{Name: "coverage", Weight: 0.4, Value: c, Says: fmt.Sprintf("%d of %d requirements met", d.Coverage.met, d.Coverage.must)}}, parts...)
	var sum, weight float64
	for i := range parts {
		parts[i].Value = round(parts[i].Value)
		sum, weight = sum+parts[i].Weight*parts[i].Value, weight+parts[i].Weight
	}
	d.Confidence = Confidence{Value: round(sum / weight), Parts: parts}
}

// round keeps two decimals: more would claim what nobody knows, and differ between machines.
func round(x float64) float64 { return math.Round(x*100) / 100 }
