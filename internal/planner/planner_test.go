package planner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
)

// chain is a draft of steps that follow each other.
func chain(tier int, lasts ...time.Duration) *planner.Draft {
	d := &planner.Draft{Name: "chain", Rationale: "one after the other"}
	for i, l := range lasts {
		s := planner.Step{ID: fmt.Sprintf("s%d", i+1), Kind: plan.Implement, Title: "step", Action: "do what has to be done", Accept: planner.Judged("done"), Tier: tier, Lasts: l}
		if i > 0 {
			s.Needs = []string{fmt.Sprintf("s%d", i)}
		}
		d.Steps = append(d.Steps, s)
	}
	last := &d.Steps[len(lasts)-1]
	last.Kind, last.Verifies = plan.Validate, true
	return d
}

func TestWorkedFigures(t *testing.T) {
	d := chain(2, 20*time.Second, 45*time.Second, 30*time.Second, 25*time.Second)
	if d.Total() != 2*time.Minute || d.Critical() != 2*time.Minute {
		t.Errorf("total %s, critical %s, want 2m", d.Total(), d.Critical())
	}
	if c := d.Complexity(); math.Abs(c-0.325) > 1e-9 {
		t.Errorf("complexity %v, want 0.325", c)
	}
	if wrong := d.Validate(); len(wrong) > 0 {
		t.Error(wrong)
	}
	d.Steps[2].Needs = []string{"s1"}
	d.Steps[3].Needs = []string{"s2", "s3"}
	if d.Critical() != 90*time.Second {
		t.Errorf("critical %s, want 1m30s", d.Critical())
	}
}

func TestRulesOfDrafts(t *testing.T) {
	for want, spoil := range map[string]func(d *planner.Draft){
		"has 2 steps":               func(d *planner.Draft) { d.Steps = d.Steps[2:] },
		"no step verifies":          func(d *planner.Draft) { d.Steps[3].Verifies = false },
		"needs itself":              func(d *planner.Draft) { d.Steps[1].Needs = []string{"s2"} },
		"comes after it":            func(d *planner.Draft) { d.Steps[1].Needs = []string{"s3"} },
		"which is no step":          func(d *planner.Draft) { d.Steps[1].Needs = []string{"s9"} },
		"have the id":               func(d *planner.Draft) { d.Steps[1].ID = "s1" },
		"has 0 acceptance":          func(d *planner.Draft) { d.Steps[1].Accept = nil },
		"has 6 acceptance":          func(d *planner.Draft) { d.Steps[1].Accept = planner.Judged("a", "b", "c", "d", "e", "f") },
		"criterion of step 2 has 0": func(d *planner.Draft) { d.Steps[1].Accept = planner.Judged("  ") },
		"tier of step 2 is 6":       func(d *planner.Draft) { d.Steps[1].Tier = 6 },
		"is to last 0s":             func(d *planner.Draft) { d.Steps[1].Lasts = 0 },
		"action of step 2 has 3":    func(d *planner.Draft) { d.Steps[1].Action = "act" },
		"of kind \"dance\"":         func(d *planner.Draft) { d.Steps[1].Kind = "dance" },
		"the rationale has 3":       func(d *planner.Draft) { d.Rationale = "why" },
	} {
		d := chain(2, time.Minute, time.Minute, time.Minute, time.Minute)
		spoil(d)
		found := false
		for _, err := range d.Validate() {
			found = found || strings.Contains(err.Error(), want) && fault.HintOf(err) != ""
		}
		if !found {
			t.Errorf("want %q, got %v", want, d.Validate())
		}
	}
}

func TestFitting(t *testing.T) {
	d := chain(2, time.Hour, time.Hour, time.Hour)
	d.Signals.Constraints = []planner.Constraint{planner.ParseConstraint("within 2 hours")}
	if err := d.Fit(); err != nil || d.Total() != 2*time.Hour {
		t.Errorf("%v, total %s, want 2h", err, d.Total())
	}
	d.Signals.Constraints = []planner.Constraint{planner.ParseConstraint("time=10m")}
	err := d.Fit()
	if !fault.Is(err, fault.Denied) || !strings.Contains(fault.HintOf(err), "48m") {
		t.Errorf("%v: %s", err, fault.HintOf(err))
	}
}

func TestReadinessOnlyRises(t *testing.T) {
	r := planner.Requirement{Readiness: planner.Available, Source: "a"}
	r.Raise(planner.Incomplete, "b")
	if r.Readiness != planner.Available || r.Source != "a" {
		t.Error(r)
	}
	r = planner.Requirement{}
	r.Raise(planner.PendingExternal, "b")
	if r.Readiness.String() != "pending_external" || r.Source != "b" {
		t.Error(r)
	}
}
