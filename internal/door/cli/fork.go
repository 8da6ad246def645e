package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

type forkOptions struct {
	plan   string
	actor  string
	at     string
	name   string
	inputs []string
}

func (a *app) forkCommand() *cobra.Command {
	var o forkOptions
	c := &cobra.Command{
		Use:   "fork PLAN --at CHECKPOINT|TASK [--input NAME=VALUE]... [--name NEW]",
		Short: "begin a new plan with what another had done at a checkpoint",
		Example: "  cairn fork release --at build --input target=staging\n" +
			"  cairn fork release --at build --name release-again",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.changing(c.Context(), func(p place, h *House) error {
				o.plan, o.actor = args[0], p.actor
				return runFork(c.Context(), h, o, a.out())
			})
		},
	}
	c.Flags().StringVar(&o.at, "at", "", "the checkpoint, or the task whose end is one, to begin at")
	c.Flags().StringVar(&o.name, "name", "", "of the new plan (default: PLAN-fork)")
	c.Flags().StringArrayVar(&o.inputs, "input", nil, "an input of the plan that shall be another, as NAME=VALUE; VALUE may be JSON")
	return c
}

func runFork(ctx context.Context, h *House, o forkOptions, out Out) error {
	name := o.plan
	if o.at == "" {
		return fault.New(fault.Invalid, "fork wants to know where to begin").Remedy("name a checkpoint with --at; see: cairn show %s --checkpoints", name)
	}
	s := engine.Split{Plan: name, At: o.at, Name: o.name, Inputs: map[string]json.RawMessage{}}
	for _, in := range o.inputs {
		k, v, ok := strings.Cut(in, "=")
		if !ok || k == "" {
			return fault.New(fault.Invalid, "%q is no input", in).Remedy("write --input NAME=VALUE")
		}
		s.Inputs[k] = jsonOr(v)
	}
	f, err := h.Engine.Fork(ctx, s, o.actor)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(f)
	}
	fmt.Fprintf(out, "plan %s: begins at %s of plan %s\n", f.Plan, f.From.Name, name)
	if len(f.Carried) > 0 {
		fmt.Fprintf(out, "it has already: %s\n", some(f.Carried))
	}
	fmt.Fprintf(out, "go on with: cairn resume %s\n", f.Plan)
	return nil
}

// jsonOr is a value as it was written where that is JSON, else the text.
func jsonOr(v string) json.RawMessage {
	if json.Valid([]byte(v)) {
		return json.RawMessage(v)
	}
	b, _ := json.Marshal(v)
	return b
}
