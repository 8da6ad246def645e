package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
	"github.com/cairn-plan/cairn/internal/planner/offline"
)

type planOptions struct {
	file        string
	constraints []string
	facts       []string
	done        []string
	planner     string
}

func (a *app) planCommand() *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   `plan "GOAL" [-o FILE] [--constraint TEXT].. [--context NAME=VALUE].. [--done TEXT]..`,
		Short: "make a plan for a goal",
		Example: "  cairn plan \"Debug the intermittent 500s in the checkout service and add a regression test\"\n" +
			"  cairn plan \"Add rate limiting to the API\" --context project=go --constraint 'within 2 days' -o limit.yaml",
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.runPlan(c.Context(), args[0], o) },
	}
	c.Flags().StringVarP(&o.file, "output", "o", "", "write the plan to this file")
	o.addFlags(c)
	return c
}

func (o *planOptions) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.constraints, "constraint", nil, "what limits the plan: a sentence, or time=, cost=, language=, tools=")
	c.Flags().StringArrayVar(&o.facts, "context", nil, "a fact as NAME=VALUE, such as project=go or test='make test'")
	c.Flags().StringArrayVar(&o.done, "done", nil, "what must hold at the end")
	c.Flags().StringVar(&o.planner, "planner", "auto", "who plans: auto or offline")
}

// planned is a plan under --json.
type planned struct {
	Plan         string                `json:"plan"`
	File         string                `json:"file,omitempty"`
	Planner      string                `json:"planner"`
	Methods      []string              `json:"methods"`
	Steps        []plannedStep         `json:"steps"`
	Rationale    string                `json:"rationale"`
	Confidence   planner.Confidence    `json:"confidence"`
	Coverage     planner.Coverage      `json:"coverage"`
	Requirements []planner.Requirement `json:"requirements"`
	Risks        []planner.Risk        `json:"risks"`
	Seconds      int64                 `json:"total_estimated_duration"`
	Critical     int64                 `json:"critical_path_duration"`
	Complexity   float64               `json:"complexity_score"`
	Text         string                `json:"text"` // the plan file
}

type plannedStep struct {
	Step      int      `json:"step"`
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Action    string   `json:"action"`
	Arm       string   `json:"required_arm"`
	Uses      string   `json:"uses,omitempty"`
	Accept    []string `json:"acceptance_criteria"`
	Needs     []int    `json:"depends_on"`
	Tier      int      `json:"estimated_cost_tier"`
	Seconds   int64    `json:"estimated_duration_seconds"`
	Rationale string   `json:"rationale"`
}

func (a *app) runPlan(ctx context.Context, goal string, o planOptions) error {
	d, text, err := a.plan(ctx, goal, o)
	if err != nil {
		return err
	}
	if o.file != "" {
		if err := writeNew(o.file, text); err != nil {
			return err
		}
	}
	if a.json {
		return a.out().print(plannedOf(d, o.file, text))
	}
	writePlanned(a.io.Err, d)
	if o.file == "" {
		_, err = a.io.Out.Write(text)
		return err
	}
	_, err = fmt.Fprintf(a.io.Out, "wrote %s\nsee it with: cairn check %[1]s; carry it out with: cairn run %[1]s\n", o.file)
	return err
}

// writeNew writes a plan file, and never over one that is there.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case os.IsExist(err):
		return fault.New(fault.Conflict, "there is a file %s already", name).Remedy("name another with -o, or move it away")
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "write %s", name).Remedy("name a file that you can write")
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "write %s", name).Remedy("name a file that you can write")
	}
	return nil
}

// plan makes a plan for a goal with what is installed here. It needs no home.
func (a *app) plan(ctx context.Context, text string, o planOptions) (*planner.Draft, []byte, error) {
	if o.planner != "" && o.planner != "auto" && o.planner != "offline" {
		return nil, nil, fault.New(fault.Invalid, "there is no planner %q", o.planner).Remedy("name auto or offline")
	}
	facts := map[string]string{}
	for _, f := range o.facts {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, nil, fault.New(fault.Invalid, "--context %q is no NAME=VALUE", f).Remedy("write it as project=go")
		}
		facts[name] = value
	}
	goal, err := planner.NewGoal(text, o.constraints, facts, o.done)
	if err != nil {
		return nil, nil, err
	}
	caps, err := a.catalogue()
	if err != nil {
		return nil, nil, err
	}
	p, err := offline.New()
	if err != nil {
		return nil, nil, err
	}
	d, err := p.Draft(ctx, goal, planner.NewMenu(contracts(caps), goal.Text))
	if err != nil {
		return nil, nil, err
	}
	out, err := d.Write()
	return d, out, err
}

// contracts lists what is installed.
func contracts(caps Capabilities) []capability.Contract {
	var out []capability.Contract
	for _, id := range caps.IDs() {
		if c, _, ok := caps.Lookup(id); ok {
			out = append(out, c)
		}
	}
	return out
}

// writePlanned tells people what the plan comes to, and why.
func writePlanned(w io.Writer, d *planner.Draft) {
	fmt.Fprintf(w, "plan %s: %s\n", d.Name, d.Summary())
	for i, s := range d.Steps {
		who := "a person or an agent"
		switch {
		case s.Kind == plan.Gate:
			who = "a gate"
		case s.Uses != "":
			who = s.Uses
		}
		fmt.Fprintf(w, "  %d. %s  (%s, %s)\n", i+1, s.Title, plan.Duration(s.Lasts), who)
	}
	fmt.Fprintf(w, "why: %s\n", d.Rationale)
	for _, p := range d.Confidence.Parts {
		fmt.Fprintf(w, "confidence from %s %.2f: %s\n", p.Name, p.Value, p.Says)
	}
	for _, u := range d.Coverage.Unmet {
		fmt.Fprintf(w, "not covered: %s\n", u)
	}
}

func plannedOf(d *planner.Draft, file string, text []byte) planned {
	out := planned{Plan: d.Name, File: file, Planner: "offline", Methods: d.Methods, Rationale: d.Rationale, Confidence: d.Confidence,
		Coverage: d.Coverage, Requirements: d.Signals.Requirements, Risks: append([]planner.Risk{}, d.Signals.Risks...),
		Seconds: int64(d.Total().Seconds()), Critical: int64(d.Critical().Seconds()), Complexity: d.Complexity(), Text: string(text)}
	at := map[string]int{}
	for i, s := range d.Steps {
		at[s.ID] = i + 1
		step := plannedStep{Step: i + 1, ID: s.ID, Title: s.Title, Action: s.Action, Arm: s.Arm, Uses: s.Uses, Accept: []string{}, Needs: []int{},
			Tier: s.Tier, Seconds: int64(s.Lasts.Seconds()), Rationale: s.Rationale}
		for _, c := range s.Accept {
			step.Accept = append(step.Accept, c.Says)
		}
		for _, n := range s.Needs {
			step.Needs = append(step.Needs, at[n])
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}
