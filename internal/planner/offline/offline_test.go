package offline_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
	"github.com/cairn-plan/cairn/internal/planner/offline"
)

// installed is a small registry like that of a fresh home.
var installed = []capability.Contract{
	{ID: "shell", Provider: "builtin", Summary: "Run a command line with sh"},
	{ID: "web.fetch", Provider: "builtin", Summary: "Fetch a page of the web", Needs: capability.Needs{Network: true}, Inputs: []byte(`{"properties":{"url":{"type":"string"}},"required":["url"]}`)},
	{ID: "file.read", Provider: "builtin", Summary: "Read a file", Inputs: []byte(`{"properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{ID: "planner.validate_plan", Provider: "builtin", Summary: "Validate a plan"},
}

func draft(t testing.TB, goal string, constraints []string, facts map[string]string) (*planner.Draft, []byte) {
	t.Helper()
	d, err := try(goal, constraints, facts)
	if err != nil {
		t.Fatalf("%s: %v", goal, err)
	}
	text, err := d.Write()
	if err != nil {
		t.Fatalf("%s: %v", goal, err)
	}
	return d, text
}

func try(text string, constraints []string, facts map[string]string) (*planner.Draft, error) {
	goal, err := planner.NewGoal(text, constraints, facts, nil)
	if err != nil {
		return nil, err
	}
	p, err := offline.New()
	if err != nil {
		return nil, err
	}
	return p.Draft(context.Background(), goal, planner.NewMenu(installed, goal.Text))
}

func TestGoalsByRubric(t *testing.T) {
	if len(goals) < 60 {
		t.Fatalf("%d goals, want 60", len(goals))
	}
	right, steps := 0, 0
	for _, g := range goals {
		d, text := draft(t, g.goal, nil, nil)
		if wrong := d.Validate(); len(wrong) > 0 {
			t.Errorf("%s: %v", g.goal, wrong)
		}
		if _, faults := plan.Read("p.yaml", text, plan.Options{}); len(faults) > 0 {
			t.Errorf("%s: %v", g.goal, faults)
		}
		steps += len(d.Steps)
		var lacks []string
		if got := strings.Join(d.Methods, "+"); g.methods != "" && got != g.methods && d.Methods[0] != g.methods {
			lacks = append(lacks, fmt.Sprintf("methods %s, want %s", got, g.methods))
		}
		gate := slices.ContainsFunc(d.Steps, func(s planner.Step) bool { return s.Kind == plan.Gate })
		if gate != g.gate {
			lacks = append(lacks, fmt.Sprintf("gate %v", gate))
		}
		if !slices.ContainsFunc(d.Steps, func(s planner.Step) bool { return strings.Contains(strings.ToLower(s.Title), g.says) }) {
			lacks = append(lacks, "no title says "+g.says)
		}
		if len(d.Signals.Constraints) != g.limits {
			lacks = append(lacks, fmt.Sprintf("constraints %v, want %d", d.Signals.Constraints, g.limits))
		}
		for _, c := range d.Signals.Constraints {
			if !slices.ContainsFunc(d.Steps, func(s planner.Step) bool {
				return s.Verifies && slices.ContainsFunc(s.Accept, func(a planner.Check) bool { return strings.Contains(a.Says, c.Text) })
			}) {
				lacks = append(lacks, "nobody checks "+c.Text)
			}
		}
		if d.Coverage.Status != "satisfied" || d.Confidence.Value <= 0.6 && g.methods != "general" && g.methods != "" {
			lacks = append(lacks, fmt.Sprintf("coverage %+v, confidence %v", d.Coverage, d.Confidence.Value))
		}
		if len(lacks) == 0 {
			right++
			continue
		}
		t.Logf("%s: %s", g.goal, strings.Join(lacks, "; "))
	}
	t.Logf("%d of %d right, %.2f steps on average", right, len(goals), float64(steps)/float64(len(goals)))
	if right*10 < len(goals)*9 {
		t.Errorf("%d of %d goals are planned right, want 9 in 10", right, len(goals))
	}
	if mean := float64(steps) / float64(len(goals)); mean < 4 || mean > 6 {
		t.Errorf("%.2f steps on average, want 4 to 6", mean)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	for _, g := range goals {
		_, a := draft(t, g.goal, []string{"within 3 weeks"}, map[string]string{"project": "go", "team": "a"})
		_, b := draft(t, g.goal, []string{"within 3 weeks"}, map[string]string{"team": "a", "project": "go"})
		if !bytes.Equal(a, b) {
			t.Fatalf("%s: two plans differ:\n%s\n%s", g.goal, a, b)
		}
	}
}

func TestClausesAreNeverDropped(t *testing.T) {
	d, _ := draft(t, "Research cheap flights, book a hotel, write a packing list, translate the visa letter, paint the fence, sort my photos, bake a cake and learn the basics of Greek", nil, nil)
	if len(d.Steps) > planner.MaxSteps || d.Coverage.Status != "satisfied" {
		t.Errorf("%d steps, coverage %+v", len(d.Steps), d.Coverage)
	}
	if len(d.Signals.Clauses) != 8 {
		t.Errorf("clauses: %+v", d.Signals.Clauses)
	}
	for _, s := range d.Steps {
		if s.Effect != "" && s.Criticality != "critical" {
			t.Errorf("%s spends money, and nothing holds it", s.ID)
		}
	}
}

func TestCommandsAreRunOnlyWhereTheyAreKnown(t *testing.T) {
	for _, c := range []struct {
		facts map[string]string
		tools []string
		want  string
	}{
		{nil, nil, ""},
		{map[string]string{"project": "go"}, nil, "go test ./..."},
		{map[string]string{"language": "TypeScript"}, nil, "npm test"},
		{map[string]string{"project": "go", "test": "make check"}, nil, "make check"},
		{map[string]string{"project": "cobol"}, nil, ""},
		{map[string]string{"project": "go"}, []string{"no shell"}, ""},
	} {
		d, _ := draft(t, "Fix the crash in the importer", c.tools, c.facts)
		last := d.Steps[len(d.Steps)-1]
		if last.Run != c.want || (last.Uses == "shell") != (c.want != "") {
			t.Errorf("%v %v: runs %q by %q, want %q", c.facts, c.tools, last.Run, last.Uses, c.want)
		}
	}
}

func TestWhatTheGoalNamesIsRead(t *testing.T) {
	for goal, want := range map[string]string{
		"Summarise https://example.com/a.html for the board": `web.fetch {"url":"https://example.com/a.html"}`,
		"Summarise notes/minutes.md for the board":           `file.read {"path":"notes/minutes.md"}`,
		"Summarise the minutes for the board":                ``,
	} {
		d, _ := draft(t, goal, nil, nil)
		got := ""
		for _, s := range d.Steps {
			if s.Uses != "" {
				got += s.Uses + " " + string(s.With)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", goal, got, want)
		}
	}
	d, _ := draft(t, "Summarise https://example.com/a.html for the board", []string{"no network"}, nil)
	for _, s := range d.Steps {
		if s.Uses != "" {
			t.Errorf("%s uses %s without a network", s.ID, s.Uses)
		}
	}
}

func TestToolsOfTheHomeAreUsed(t *testing.T) {
	goal, err := planner.NewGoal("Look up the weather forecast of a city", nil, map[string]string{"city": "Oslo"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := offline.New()
	if err != nil {
		t.Fatal(err)
	}
	weather := capability.Contract{ID: "weather.forecast", Provider: "weather.yaml", Summary: "Look up the weather forecast of a city",
		Inputs: []byte(`{"properties":{"city":{"type":"string"}},"required":["city"]}`)}
	uses := func(goal planner.Goal) (out []string) {
		d, err := p.Draft(t.Context(), goal, planner.NewMenu(append(slices.Clone(installed), weather), goal.Text))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Steps {
			if s.Uses != "" {
				out = append(out, s.Uses+string(s.With))
			}
		}
		return out
	}
	if got := uses(goal); !slices.Equal(got, []string{`weather.forecast{"city":"Oslo"}`}) {
		t.Errorf("got %v", got)
	}
	goal.Context = nil
	if got := uses(goal); got != nil {
		t.Errorf("a city was invented: %v", got)
	}
}

func TestBadGoals(t *testing.T) {
	for _, c := range []struct {
		goal  string
		limit []string
		code  fault.Code
		says  string
	}{
		{"  ship it ", nil, fault.Invalid, "7 characters"},
		{strings.Repeat("x ", 6000), nil, fault.Invalid, "may have 10000"},
		{"Build a small website", make([]string, 21), fault.Invalid, "21 constraints"},
		{"Build a small website", []string{" "}, fault.Invalid, "blank"},
		{"Build a small website", []string{"within 2 hours", "at least 3 days"}, fault.Invalid, "contradict"},
		{"Build a small website", []string{"use Docker", "no docker"}, fault.Invalid, "contradict"},
		{"Build a small website", []string{"language=ko", "language: en"}, fault.Invalid, "contradict"},
		{"Build a small website", []string{"at least $500", "under $100"}, fault.Invalid, "contradict"},
		{"Build a small website within 2 hours", []string{"at least 3 days"}, fault.Invalid, "contradict"},
		{"Build a small website", []string{"within 10 minutes"}, fault.Denied, "leaves 10m"},
		{"Build a \xff\xfe small website", nil, fault.Invalid, "UTF-8"},
	} {
		_, err := try(c.goal, c.limit, nil)
		if !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || fault.HintOf(err) == "" {
			t.Errorf("%.40q %v: %v (%s), want %s", c.goal, c.limit, err, fault.HintOf(err), c.says)
		}
	}
}

// BenchmarkDraft plans with a thousand capabilities; the slowest twentieth is reported.
func BenchmarkDraft(b *testing.B) {
	all := slices.Clone(installed)
	for i := range 1000 {
		all = append(all, capability.Contract{ID: fmt.Sprintf("tool%d.call", i), Provider: "m.yaml", Summary: fmt.Sprintf("Find, sort and send item %d of a collection to people", i),
			Inputs: []byte(`{"properties":{"item":{"type":"string"}},"required":["item"]}`)})
	}
	p, err := offline.New()
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		goal, err := planner.NewGoal(goals[i%len(goals)].goal, nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		d, err := p.Draft(b.Context(), goal, planner.NewMenu(all, goal.Text))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Write(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
