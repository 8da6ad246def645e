// Package model performs model.generate, which asks a language model, and model.judge, which has one judge content by
// criteria. Which models there are is settled by whoever owns the Set; an input only names one.
//
// An answer is stored under the effect key of the attempt before anybody sees it: an attempt that is made again after a crash
// gets the stored one. What is in a prompt, or in content that is judged, is data. A model's verdict is a claim with its
// reasons: nothing here acts on it.
package model

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/model"
)

// The capabilities.
const (
	GenerateID = "model.generate"
	JudgeID    = "model.judge"
)

// All lists the capabilities that ask the models of a Set.
func All(s *model.Set) []capability.Entry {
	to := s.URLs()
	if len(to) == 0 {
		to = []string{capability.AnyHost} // nobody knows yet
	}
	return []capability.Entry{
		{Contract: generateContract(to), Runner: generator{s}},
		{Contract: judgeContract(to), Runner: judge{s}},
	}
}

func contract(id, summary string, to []string) capability.Contract {
	return capability.Contract{
		ID: id, Version: "1.0.0", Summary: summary, To: to,
		Needs:  capability.Needs{Network: true},
		Repeat: capability.Keyed, Criticality: "safe", CostTier: 3, Provider: "builtin",
	}
}

func generateContract(to []string) capability.Contract {
	c := contract(GenerateID, "Ask a language model, and get a text or a value that fits a schema", to)
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "prompt": {"type": "string", "minLength": 1, "description": "What is asked"},
    "system": {"type": "string", "description": "How to answer, and as whom"},
    "schema": {"type": "object", "description": "JSON Schema of an object: the answer must fit it"},
    "model": {"type": "string", "description": "A name under models in cairn.yaml; default when absent"},
    "max_tokens": {"type": "integer", "minimum": 1, "maximum": 1048576, "description": "Of the answer; as the model's settings say when absent"},
    "temperature": {"type": "number", "minimum": 0, "maximum": 2}
  },
  "required": ["prompt"],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "The answer, when no schema was given"},
    "json": {"type": "object", "description": "The answer, when a schema was given"},
    "model": {"type": "string", "description": "Who answered"},
    "tokens": {"type": "object", "properties": {"in": {"type": "integer"}, "out": {"type": "integer"}}, "required": ["in", "out"]}
  },
  "required": ["model", "tokens"]
}`)
	c.Positional = []string{"prompt"}
	c.Examples = []capability.Example{
		{Says: "Ask for a sentence", With: json.RawMessage(`{"prompt": "Say in one sentence what a cairn is."}`)},
		{Says: "Ask for a value", With: json.RawMessage(`{"prompt": "Which city is the capital of Korea?", "schema": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}}`)},
	}
	return c
}

// generator performs model.generate.
type generator struct{ set *model.Set }

var _ capability.Runner = generator{}

// Run implements capability.Runner.
func (g generator) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	var in struct {
		Prompt      string          `json:"prompt"`
		System      string          `json:"system"`
		Schema      json.RawMessage `json:"schema"`
		Model       string          `json:"model"`
		MaxTokens   int             `json:"max_tokens"`
		Temperature *float64        `json:"temperature"`
	}
	if err := parse(call, GenerateID, &in); err != nil {
		return capability.Result{}, err
	}
	r := model.Ask(in.System, in.Prompt)
	r.Schema, r.MaxTokens, r.Temperature = in.Schema, in.MaxTokens, in.Temperature
	a, res, err := asker{g.set, GenerateID, in.Model}.ask(ctx, call, r)
	if err != nil {
		return res, err
	}
	if a.JSON != nil {
		res.Outputs["json"] = a.JSON
	} else {
		res.Outputs["text"], res.Stdout = asJSON(a.Text), tail(a.Text)
	}
	return res, nil
}

// asker is a capability and the model that it asks.
type asker struct {
	set  *model.Set
	tool string
	name string // of the model
}

// ask asks the model on behalf of a call, and fills in what all answers have.
func (k asker) ask(ctx context.Context, call capability.Call, r model.Request) (model.Answer, capability.Result, error) {
	e := model.ErrandOf(call, k.tool)
	var own budget.Amount // what nobody else keeps account of
	if _, ok := call.Host.(capability.Spender); !ok {
		e.Reserve = func(context.Context, budget.Amount) (func(budget.Amount), error) {
			return func(spent budget.Amount) { own = own.Plus(spent) }, nil
		}
	}
	m, err := k.set.Named(k.name, e)
	if err != nil {
		return model.Answer{}, capability.Result{}, err
	}
	a, err := m.Generate(ctx, r)
	res := capability.Result{Spent: own}
	if err != nil {
		return a, res, err
	}
	res.Versions = map[string]string{"model": a.Model}
	res.Outputs = map[string]json.RawMessage{"model": asJSON(a.Model), "tokens": asJSON(map[string]int64{"in": a.In, "out": a.Out})}
	return a, res, nil
}

func parse(call capability.Call, id string, in any) error {
	if err := json.Unmarshal(call.With, in); err != nil {
		return fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", id).Remedy("see what it takes with: cairn capability show %s", id)
	}
	return nil
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, numbers and lists of them are always JSON
	}
	return raw
}

const maxTail = 4 << 10

// tail is the end of a text, cut between characters.
func tail(s string) string {
	if len(s) <= maxTail {
		return s
	}
	s = s[len(s)-maxTail:]
	for len(s) > 0 && s[0]&0xC0 == 0x80 {
		s = s[1:]
	}
	return s
}
