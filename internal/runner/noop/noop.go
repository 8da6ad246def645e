// Package noop performs the capability `noop`: nothing. Plans are rehearsed and measured with it, so
// it can be told what to give back.
package noop

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Contract is what `noop` promises.
func Contract() capability.Contract {
	return capability.Contract{
		ID:      "noop",
		Version: "1.0.0",
		Summary: "Do nothing, and give back the outputs it is given",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {"outputs": {"type": "object", "description": "What it gives back as its outputs"}}
}`),
		Outputs:     json.RawMessage(`{"type": "object"}`),
		Positional:  []string{"outputs"},
		Repeat:      capability.Pure,
		Criticality: "safe",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{
			{Says: "Do nothing", With: json.RawMessage(`{}`)},
			{Says: "Rehearse a task that finds three gaps", With: json.RawMessage(`{"outputs": {"gaps": ["a", "b", "c"]}}`)},
		},
	}
}

// Run gives back what it is given.
func Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	if err := ctx.Err(); err != nil {
		return capability.Result{}, context.Cause(ctx)
	}
	if len(call.With) == 0 {
		return capability.Result{}, nil // the common case of a measurement
	}
	var in struct {
		Outputs map[string]json.RawMessage `json:"outputs"`
	}
	if err := json.Unmarshal(call.With, &in); err != nil {
		return capability.Result{}, fault.Wrap(fault.Invalid, err, "the inputs of noop are wrong").
			Remedy("see what it takes with: cairn capability show noop")
	}
	return capability.Result{Outputs: in.Outputs}, nil
}

// Runner performs it.
var Runner = capability.RunnerFunc(Run)
