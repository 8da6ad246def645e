package planner

import (
	"encoding/json"
	"fmt"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Write writes the draft in the plan language. What it writes depends on the draft alone.
func (d *Draft) Write() ([]byte, error) {
	p := &plan.Plan{Name: d.Name, Title: d.Title, Description: d.Rationale, Goal: d.goal(), Policy: d.policy()}
	for i := range d.Steps {
		p.Tasks = append(p.Tasks, d.Steps[i].task())
	}
	note, err := json.Marshal(map[string]any{"methods": d.Methods, "confidence": d.Confidence.Value, "complexity": round(d.Complexity()),
		"coverage": d.Coverage.Status, "time": plan.Duration(d.Total()).String()})
	if err != nil {
		return nil, err
	}
	p.Extra = map[string]json.RawMessage{"x-planner": note}
	spec, err := p.Encode()
	if err != nil {
		return nil, err
	}
	text, err := plan.Format(d.Name+".json", spec, "yaml")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the plan that was made for the goal is not sound")
	}
	return text, nil
}

func (d *Draft) goal() *plan.Goal {
	g := &plan.Goal{Objective: d.Goal.Text, Deadline: d.Signals.Deadline}
	for _, says := range d.Done {
		g.Done = append(g.Done, plan.Criterion{Says: says, Judge: true})
	}
	for _, c := range d.Signals.Constraints {
		g.Constraints = append(g.Constraints, c.Text)
	}
	if len(d.Goal.Context) > 0 {
		g.Context, _ = json.Marshal(d.Goal.Context) // a map of text can be written
	}
	return g
}

// policy bounds what carrying the plan out may cost, where the caller did.
func (d *Draft) policy() *plan.Policy {
	var b plan.Budget
	for _, c := range d.Signals.Constraints {
		if c.Kind == Cost && !c.Least && (b.Cost.Micro == 0 || c.Money.Micro < b.Cost.Micro) {
			b.Cost = c.Money
		}
	}
	if b == (plan.Budget{}) {
		return nil
	}
	return &plan.Policy{Budget: &b}
}

func (s *Step) task() plan.Task {
	t := plan.Task{ID: s.ID, Title: s.Title, Description: s.Action, Kind: s.Kind, Needs: s.Needs, Uses: s.Uses, Run: s.Run, With: s.With,
		Estimate: plan.Duration(s.Lasts), Criticality: s.Criticality, Rationale: s.Rationale, Risks: s.Risks}
	for _, c := range s.Accept {
		t.Expect = append(t.Expect, plan.Criterion{Says: c.Says, Judge: !c.CEL})
	}
	for _, name := range s.Gives {
		t.Artifacts = append(t.Artifacts, plan.PlanArtifact{Name: name})
	}
	if s.Kind == plan.Gate {
		t.Checks, t.Expect, t.Approve = t.Expect, nil, &plan.Approval{}
	}
	return t
}

// Summary says in a line what the plan comes to.
func (d *Draft) Summary() string {
	return fmt.Sprintf("%d steps, about %s, confidence %.2f", len(d.Steps), plan.Duration(d.Total()), d.Confidence.Value)
}
