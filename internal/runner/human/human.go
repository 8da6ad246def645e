// Package human is the contracts of what people do: `human.ask` wants an answer in words, `human.decide` one of several
// options.
//
// There is nothing to run. A task that uses one of them waits, in the journal and nowhere else, until somebody who may
// answers; the law sees to that, so that a runner is called only where no task waits: inside a chain of capabilities,
// or in a trial. There it refuses.
package human

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// All lists the capabilities.
func All() []capability.Entry {
	return []capability.Entry{
		{Contract: Ask(), Runner: capability.RunnerFunc(run)},
		{Contract: Decide(), Runner: capability.RunnerFunc(run)},
	}
}

// Ask is the contract of human.ask.
func Ask() capability.Contract {
	return capability.Contract{
		ID:      lifecycle.HumanAsk,
		Version: "1.0.0",
		Summary: "Ask people a question, and wait for an answer in words",
		Inputs: json.RawMessage(`{
  "type": "object",
  "required": ["question"],
  "additionalProperties": false,
  "properties": {
    "question": {"type": "string", "description": "What is asked; ${task.output} shows results"},
    "to": {"type": "string", "description": "The role or the person that may answer; absent: anybody"},
    "default": {"type": "string", "description": "The answer where somebody answers with nothing, or by --yes"}
  }
}`),
		Outputs:     json.RawMessage(`{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string", "description": "What was answered"}}}`),
		Positional:  []string{"question"},
		Repeat:      capability.Repeatable,
		Criticality: "safe",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{
			{Says: "Ask whoever knows", With: json.RawMessage(`{"question": "Which region do we start in?"}`)},
			{Says: "Ask a role, with a default", With: json.RawMessage(`{"question": "What is the release called?", "to": "lead", "default": "spring"}`)},
		},
	}
}

// Decide is the contract of human.decide.
func Decide() capability.Contract {
	return capability.Contract{
		ID:      lifecycle.HumanDecide,
		Version: "1.0.0",
		Summary: "Have people choose between options, each with its pros, cons and cost",
		Inputs: json.RawMessage(`{
  "type": "object",
  "required": ["question", "options"],
  "additionalProperties": false,
  "properties": {
    "question": {"type": "string", "description": "What is to be decided; ${task.output} shows results"},
    "to": {"type": "string", "description": "The role or the person that may decide; absent: anybody"},
    "options": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "required": ["id"],
        "additionalProperties": false,
        "properties": {
          "id": {"type": "string", "description": "The word by which it is chosen"},
          "says": {"type": "string", "description": "What it means"},
          "pros": {"type": "array", "items": {"type": "string"}},
          "cons": {"type": "array", "items": {"type": "string"}},
          "cost": {"type": ["string", "number"], "description": "In money, time or words"}
        }
      }
    }
  }
}`),
		Outputs:     json.RawMessage(`{"type": "object", "required": ["choice"], "properties": {"choice": {"type": "string", "description": "The id of the option that was chosen"}}}`),
		Repeat:      capability.Repeatable,
		Criticality: "safe",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{{
			Says: "Choose a database",
			With: json.RawMessage(`{"question": "Which database?", "to": "lead", "options": [
  {"id": "sqlite", "says": "A file", "pros": ["nothing to run"], "cons": ["one writer"], "cost": "none"},
  {"id": "postgres", "says": "A server", "pros": ["many writers"], "cons": ["somebody runs it"], "cost": "20 EUR a month"}]}`),
		}},
	}
}

func run(ctx context.Context, _ capability.Call) (capability.Result, error) {
	if err := ctx.Err(); err != nil {
		return capability.Result{}, context.Cause(ctx)
	}
	return capability.Result{}, fault.New(fault.Invalid, "people are asked by a task of its own, not inside of another call").
		Remedy("give the question a task, and read its answer from there")
}
