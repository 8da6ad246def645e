package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/planner/experience"
	"github.com/cairn-plan/cairn/internal/planner/score"
)

type evalOptions struct {
	cases       string
	tools       string
	experience  string
	planner     string
	against     string
	predictions string
	folds       int
	in          io.Reader
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:   "eval CASES --tools TOOLS [--experience CASES] [--folds N] [--planner NAME|FILE] [--against NAME|FILE]",
		Short: "measure a planner on goals whose plans are known",
		Long: `Drafts a plan for every goal of CASES and measures it against the plan that is known.

CASES has one case a line: {"id", "goal", "steps": [{"capability"}], "links": [[from, to]]}.
TOOLS is the menu: [{"id", "description", "tags"}].

Planners: experience (past plans vote, words bear witness; without past plans it is menu),
nearest (copies the plan of the nearest past goal), menu (matches the goal to the descriptions).
In place of a planner a file of predictions can be named, one line a case as CASES without goals.`,
		Example: "  cairn eval goals.jsonl --tools tools.json --folds 5\n" +
			"  cairn eval new.jsonl --tools tools.json --experience past.jsonl --against menu\n" +
			"  cairn eval goals.jsonl --tools tools.json --planner theirs.jsonl --against ours.jsonl",
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.cases, o.in = args[0], a.io.In
			return runEval(c.Context(), o, a.out())
		},
	}
	c.Flags().StringVar(&o.tools, "tools", "", "the menu of capabilities")
	c.Flags().StringVar(&o.experience, "experience", "", "past goals with their plans, to learn from")
	c.Flags().StringVar(&o.planner, "planner", "experience", "planner, or file of predictions, to measure")
	c.Flags().StringVar(&o.against, "against", "", "planner, or file of predictions, to compare it with")
	c.Flags().StringVar(&o.predictions, "predictions", "", "write the drafts of the planner to this file")
	c.Flags().IntVar(&o.folds, "folds", 0, "learn from the cases themselves: each fold from the others")
	return c
}

// contestant is one planner, or one file of predictions, and how it fared.
type contestant struct {
	Name string `json:"planner"`
	score.Summary
	P95 float64 `json:"p95_ms,omitempty"` // of drafting one plan; none for a file

	scores []score.Score
	drafts []prediction
}

// evaluation is what eval found out.
type evaluation struct {
	Folds    int           `json:"folds,omitempty"`
	Past     int           `json:"experience,omitempty"` // cases that were learned from
	Planners []*contestant `json:"planners"`
	Compared *score.Duel   `json:"compared,omitempty"`
}

func runEval(ctx context.Context, o evalOptions, out Out) error {
	if err := o.check(); err != nil {
		return err
	}
	e, err := o.load()
	if err != nil {
		return err
	}
	found := evaluation{Folds: o.folds, Past: len(e.past)}
	for _, name := range []string{o.planner, o.against} {
		if name == "" {
			continue
		}
		c, err := e.measure(ctx, name)
		if err != nil {
			return err
		}
		found.Planners = append(found.Planners, c)
	}
	if len(found.Planners) == 2 {
		d := score.Compare(found.Planners[0].scores, found.Planners[1].scores)
		found.Compared = &d
	}
	if o.predictions != "" {
		if err := writePredictions(o.predictions, found.Planners[0].drafts); err != nil {
			return err
		}
	}
	if out.JSON {
		return out.print(found)
	}
	return writeEvaluation(out, found)
}

// check refuses options that contradict each other before any file is read.
func (o evalOptions) check() error {
	switch {
	case o.tools == "":
		return fault.New(fault.Invalid, "eval needs the menu of capabilities").
			Remedy(`name it with --tools FILE: [{"id": "send_mail", "description": "..."}]`)
	case o.folds != 0 && o.experience != "":
		return fault.New(fault.Invalid, "--folds and --experience both say what to learn from").
			Remedy("leave one of them out: --folds learns from the cases themselves")
	case o.folds < 0 || o.folds == 1:
		return fault.New(fault.Invalid, "--folds %d leaves nothing to learn from", o.folds).Remedy("use two or more, such as --folds 5")
	}
	for _, name := range []string{o.planner, o.against} {
		if name != "" && !isPlanner(name) && !strings.ContainsAny(name, "./\\") {
			err := fault.New(fault.Invalid, "there is no planner %q", name)
			if near := fault.Nearest(name, planners); near != "" {
				return err.Remedy("did you mean %s?", near)
			}
			return err.Remedy("use one of %s, or the name of a file of predictions with its ending", strings.Join(planners, ", "))
		}
	}
	return nil
}

// planners lists those that can be measured by name.
var planners = []string{"experience", "nearest", "menu"}

func isPlanner(name string) bool { return slices.Contains(planners, name) }

// drafting makes the planner of that name from what there is to learn.
func drafting(name string, past []experience.Case, tools []experience.Tool) func(goal string) experience.Draft {
	switch name {
	case "menu":
		return experience.New(nil, tools).Plan
	case "nearest":
		return experience.New(past, tools).Copy
	}
	return experience.New(past, tools).Plan
}
