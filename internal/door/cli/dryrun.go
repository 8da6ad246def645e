package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

// Step is what one attempt of a plan would do.
type Step struct {
	Task  string `json:"task"`
	Uses  string `json:"uses"`
	Ran   bool   `json:"ran,omitempty"`   // it was carried out, in a copy of the project
	Error string `json:"error,omitempty"` // how it failed there
	capability.Preview
}

// trial is a dry run under --json.
type trial struct {
	Plan    string      `json:"plan"`
	Steps   []Step      `json:"steps"`
	Files   int         `json:"files"`             // that would change
	Unknown []string    `json:"unknown,omitempty"` // tasks that could not be foreseen
	Beyond  []string    `json:"beyond,omitempty"`  // tasks that it did not come to
	Risks   []view.Risk `json:"risks,omitempty"`
}

// dryRun shows what a plan would do. What it says of the future is no failure of ours: it ends well whatever it finds.
func (a *app) dryRun(ctx context.Context, h *House, p *plan.Plan) error {
	risks := view.Risks(p)
	steps, err := h.DryRun(ctx, p)
	if err != nil {
		return err
	}
	t := trial{Plan: p.Name, Steps: append([]Step{}, steps...), Beyond: beyond(p, h.Engine.Capabilities.Lookup, steps), Risks: risks}
	paths := map[string]bool{}
	for _, s := range steps {
		for _, f := range view.Changes([]byte(s.Diff)) {
			paths[f.Path] = true
		}
		if len(s.Unforeseen) > 0 {
			t.Unknown = append(t.Unknown, s.Task)
		}
	}
	t.Files = len(paths)
	if a.json {
		return a.out().print(t)
	}
	return writeTrial(t, a.out())
}

func writeTrial(t trial, out Out) error {
	for _, s := range t.Steps {
		if err := writeStep(s, out); err != nil {
			return err
		}
	}
	if err := view.RiskLines(out, "", t.Risks, out.Color); err != nil {
		return err
	}
	fmt.Fprintf(out, "dry run of plan %s: %s, %s would change; the project is as it was\n", t.Plan, count(len(t.Steps), "step"), count(t.Files, "file"))
	if len(t.Unknown) > 0 {
		fmt.Fprintf(out, "could not be foreseen: %s\n", some(t.Unknown))
	}
	if len(t.Beyond) > 0 {
		fmt.Fprintf(out, "not come to (a person, a condition or a failure is before): %s\n", some(t.Beyond))
	}
	return nil
}

func writeStep(s Step, out Out) error {
	verb := "would call " + s.Uses
	if s.Ran {
		verb = s.Uses + ", tried in a copy"
	}
	fmt.Fprintf(out, "%s  (%s)\n", oneLine(s.Task), verb)
	for _, c := range s.Commands {
		for line := range strings.Lines(strings.TrimSpace(c)) {
			fmt.Fprintln(out, "  $ "+oneLine(line))
		}
	}
	if s.Error != "" {
		fmt.Fprintln(out, "  it fails: "+oneLine(s.Error))
	}
	for _, u := range s.Unforeseen {
		fmt.Fprintln(out, "  not known: "+oneLine(u))
	}
	if s.Diff != "" {
		if err := writeDiff([]byte(s.Diff), out); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	return nil
}

// beyond lists the tasks with an effect that a dry run shows nothing of. Of a fan-out each item is a step.
func beyond(p *plan.Plan, lookup func(string) (capability.Contract, capability.Runner, bool), steps []Step) []string {
	seen := map[string]bool{}
	for _, s := range steps {
		for id := s.Task; id != ""; id = outer(id) {
			seen[id] = true
		}
	}
	var out []string
	var walk func(group string, tasks []plan.Task)
	walk = func(group string, tasks []plan.Task) {
		for i := range tasks {
			t := &tasks[i]
			id := group + t.ID
			contract, _, ok := lookup(t.Uses)
			switch {
			case t.Subplan != nil && t.Each == "":
				walk(id+"/", t.Subplan.Tasks)
			case ok && contract.Repeat != capability.Pure && !seen[id]:
				out = append(out, id)
			}
		}
	}
	walk("", p.Tasks)
	return out
}

// outer is the task that another one is an item of, or inside of.
func outer(id string) string {
	if i := strings.LastIndexAny(id, "-/"); i > 0 {
		return id[:i]
	}
	return ""
}

// dryRunPlan shows what a plan that is in the home would do if it were run anew.
func (a *app) dryRunPlan(ctx context.Context, h *House, name string) error {
	st, _, err := h.Engine.Load(ctx, name)
	if err != nil {
		return err
	}
	return a.dryRun(ctx, h, st.Plan)
}

// dryRunFile opens the home for a plan file that was read and is sound.
func (a *app) dryRunFile(ctx context.Context, p place, r reading) error {
	h, err := a.open(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(a.dryRun(ctx, h, r.plan), h.Close())
}
