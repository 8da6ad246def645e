package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
)

func TestConstraintsAreTyped(t *testing.T) {
	for text, want := range map[string]planner.Constraint{
		"within 2 hours":        {Kind: planner.Time, Span: 2 * time.Hour},
		"time=90m":              {Kind: planner.Time, Span: 90 * time.Minute},
		"at least two weeks":    {Kind: planner.Time, Span: 80 * time.Hour, Least: true},
		"3일 이내에":                {Kind: planner.Time, Span: 24 * time.Hour},
		"time=soon":             {Kind: planner.Other},
		"by Friday":             {Kind: planner.Deadline},
		"deadline: 2026-12-01":  {Kind: planner.Deadline, When: "2026-12-01"},
		"before 2026-12-01":     {Kind: planner.Deadline, When: "2026-12-01"},
		"in Python":             {Kind: planner.Language, Names: []string{"python"}},
		"language=ko":           {Kind: planner.Language, Names: []string{"ko"}, Only: true},
		"no docker":             {Kind: planner.Tools, Names: []string{"docker"}, Not: true},
		"only use git and make": {Kind: planner.Tools, Names: []string{"git", "make"}, Only: true},
		"tools=file.read":       {Kind: planner.Tools, Names: []string{"file.read"}, Only: true},
		"도커 없이":                 {Kind: planner.Tools, Names: []string{"도커"}, Not: true},
		"keep it friendly":      {Kind: planner.Other},
		"cost=cheap":            {Kind: planner.Other},
	} {
		got := planner.ParseConstraint(text)
		if got.Kind != want.Kind || got.Span != want.Span || got.When != want.When || got.Least != want.Least || got.Not != want.Not || got.Only != want.Only || !slices.Equal(got.Names, want.Names) || got.Text != text {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for text, want := range map[string]string{"under $1,500": "1500 USD", "cost=5 EUR": "5 EUR", "50만원 이하": "500000 KRW", "USD 20 at most": "20 USD", "€2k": "2000 EUR"} {
		if got := planner.ParseConstraint(text); got.Kind != planner.Cost || got.Money.String() != want {
			t.Errorf("%s: %s %s, want %s", text, got.Kind, got.Money, want)
		}
	}
}

func TestMenu(t *testing.T) {
	menu := planner.NewMenu([]capability.Contract{
		{ID: "alarm.set", Summary: "Set an alarm", Provider: "alarm.yaml", Version: "1.0.0",
			Inputs:  []byte(`{"properties":{"at":{"type":"string"},"label":{"type":"string"}},"required":["at"]}`),
			Outputs: []byte(`{"properties":{"id":{"type":"string"}}}`)},
		{ID: "web.fetch", Summary: "Fetch a page", Provider: "builtin", Needs: capability.Needs{Network: true}},
		{ID: "planner.validate_plan", Summary: "Set an alarm"},
	}, "Set an alarm for seven")
	if len(menu) != 2 || menu[0].ID != "alarm.set" || menu[0].Score < 0.9 || menu[1].Score != 0 {
		t.Fatalf("%+v", menu)
	}
	if e := menu[0]; !slices.Equal(e.Required, []string{"at"}) || !slices.Equal(e.Optional, []string{"label"}) || !slices.Equal(e.Outputs, []string{"id"}) {
		t.Errorf("%+v", e)
	}
	for text, want := range map[string]int{"no web.fetch": 1, "no network": 1, "offline": 1, "only use alarm": 1, "use alarm": 2, "keep it short": 2} {
		if got := menu.Without([]planner.Constraint{planner.ParseConstraint(text)}); len(got) != want {
			t.Errorf("%s leaves %d, want %d", text, len(got), want)
		}
	}
	if _, ok := menu.Find("nothing"); ok {
		t.Error("found what is not there")
	}
}

func TestCoverageAndConfidence(t *testing.T) {
	d := chain(2, time.Minute, time.Minute, time.Minute)
	d.Steps[0].Meets = []string{"r1", "r3"}
	d.Signals.Requirements = []planner.Requirement{
		{ID: "r1", Kind: planner.MustSatisfy, Priority: planner.Must, Says: "build it"},
		{ID: "r2", Kind: planner.Custom, Priority: planner.Must, Says: "quietly"},
		{ID: "r3", Kind: planner.MustCall, Priority: planner.Must, Says: "drill.run"},
		{ID: "r4", Kind: planner.MustProduce, Priority: planner.Should, Says: "a photo"},
	}
	d.Cover()
	c := d.Coverage
	if c.Status != "needs_attention" || !slices.Equal(c.Unmet, []string{"r2: quietly"}) || !slices.Equal(c.Missing, []string{"drill.run"}) || len(c.Advisories) != 1 || len(c.Pending) != 3 {
		t.Errorf("%+v", c)
	}
	d.Rate(planner.Part{Name: "method", Weight: 0.6, Value: 1})
	if d.Confidence.Value != 0.73 { // (0.4 of a third, and 0.6)
		t.Errorf("%+v", d.Confidence)
	}
	if !strings.Contains(d.Summary(), "3 steps, about 3m, confidence 0.73") {
		t.Error(d.Summary())
	}
	d.Prepare()
	if d.Steps[2].Arm != "judge" || d.Steps[0].Arm != "coder" {
		t.Errorf("%+v", d.Steps)
	}
}

func TestWordsLoseTheirEndings(t *testing.T) {
	got := planner.Words("Fixing the boxes, stopped stories: 서비스를 고객에게 API")
	if want := []string{"fix", "box", "stop", "story", "서비스", "고객", "api"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestGoalFacts(t *testing.T) {
	g, err := planner.NewGoal(" Build  a small\nwebsite ", nil, map[string]string{"b": "2", "a": "1"}, []string{"it loads"})
	if err != nil || g.Text != "Build a small website" || !slices.Equal(g.Facts(), []string{"a=1", "b=2"}) || len(g.Done) != 1 {
		t.Errorf("%+v %v", g, err)
	}
	if _, err := planner.NewGoal("Build a small website", nil, nil, []string{""}); err == nil {
		t.Error("a blank criterion passed")
	}
}

func TestWritingIsReadBack(t *testing.T) {
	d := chain(2, time.Minute, time.Minute, time.Minute, time.Minute)
	d.Title, d.Done = "A chain", []string{"it holds"}
	d.Goal = planner.Goal{Text: "Forge a chain: {strong} # enough", Context: map[string]string{"metal": "iron"}}
	d.Signals.Constraints = []planner.Constraint{planner.ParseConstraint("under $20"), planner.ParseConstraint("under $30")}
	d.Steps[1].Gives = []string{"links"}
	d.Steps[2].Kind = plan.Gate
	text, err := d.Write()
	if err != nil {
		t.Fatal(err)
	}
	p, faults := plan.Read("chain.yaml", text, plan.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if p.Goal.Objective != d.Goal.Text || p.Policy.Budget.Cost.String() != "20 USD" || len(p.Goal.Constraints) != 2 || !p.Goal.Done[0].Judge {
		t.Errorf("%s", text)
	}
	if g := p.Tasks[2]; g.Approve == nil || len(g.Checks) != 1 || len(g.Expect) != 0 {
		t.Errorf("the gate asks nobody: %s", text)
	}
}
