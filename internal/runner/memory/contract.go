package memory

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
)

const scopeSchema = `{"type": "string", "enum": ["plan", "project", "global"], "description": "For whom it holds; absent: project"}`

const written = `{"type": "object", "required": ["id"], "properties": {
  "id": {"type": "integer", "description": "Number of the fact"},
  "supersedes": {"type": "integer", "description": "Number of the fact that was current before; 0: none"}}}`

// contract fills in what all of them have in common.
func contract(c capability.Contract, inputs, outputs string) capability.Contract {
	c.Version, c.Criticality, c.CostTier, c.Provider = "1.0.0", "safe", 1, "builtin"
	c.Inputs, c.Outputs = json.RawMessage(inputs), json.RawMessage(outputs)
	return c
}

// Get is the contract of memory.get.
func Get() capability.Contract {
	return contract(capability.Contract{
		ID: "memory.get", Summary: "Read a fact that was remembered", Repeat: capability.Repeatable, Positional: []string{"key"},
		Examples: []capability.Example{
			{Says: "Read where to deploy to, or say where", With: json.RawMessage(`{"key": "deploy.region", "default": "eu-north-1"}`)},
		},
	}, `{
  "type": "object",
  "required": ["key"],
  "additionalProperties": false,
  "properties": {
    "key": {"type": "string", "description": "Name of the fact; the plan's own comes first, then the project's, then the global one"},
    "default": {"description": "The value where nothing is remembered; absent: that is a failure"}
  }
}`, `{"type": "object", "required": ["value", "found"], "properties": {
  "value": {"description": "What is remembered"},
  "found": {"type": "boolean", "description": "Whether it is, or the default stands"},
  "scope": {"type": "string"},
  "confidence": {"type": "number", "description": "0 to 1"},
  "source": {"type": "string", "description": "Where it comes from"},
  "stale": {"type": "string", "description": "Why it no longer holds; empty: it does"}}}`)
}

// Set is the contract of memory.set.
func Set() capability.Contract {
	return contract(capability.Contract{
		ID: "memory.set", Summary: "Remember a fact, in front of what the key held before", Repeat: capability.Keyed, Positional: []string{"key", "value"},
		Examples: []capability.Example{
			{Says: "Remember where to deploy to", With: json.RawMessage(`{"key": "deploy.region", "value": "eu-north-1"}`)},
			{Says: "Remember for a week what is not sure", With: json.RawMessage(`{"key": "build.flaky", "value": ["TestLogin", "TestPay"], "expires": "7d", "confidence": 0.6}`)},
		},
	}, `{
  "type": "object",
  "required": ["key", "value"],
  "additionalProperties": false,
  "properties": {
    "key": {"type": "string", "description": "Name of the fact, such as deploy.region"},
    "value": {"description": "Any JSON, up to 64 KiB"},
    "scope": `+scopeSchema+`,
    "expires": {"type": "string", "description": "How long it holds, such as 30d; absent: for good"},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "How sure it is; absent: 1"},
    "source": {"type": "string", "description": "plan/task/artifact, plan/task, plan#record or a note; absent: this task"}
  }
}`, written)
}

// Search is the contract of memory.search.
func Search() capability.Contract {
	return contract(capability.Contract{
		ID: "memory.search", Summary: "Find facts that speak of something, with the reason why each was found", Repeat: capability.Repeatable, Positional: []string{"text"},
		Examples: []capability.Example{
			{Says: "What do we know about deploying?", With: json.RawMessage(`{"text": "deploy region", "limit": 5}`)},
		},
	}, `{
  "type": "object",
  "required": ["text"],
  "additionalProperties": false,
  "properties": {
    "text": {"type": "string", "description": "What it is about, in any words"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most; absent: 10"}
  }
}`, `{"type": "object", "required": ["facts", "count"], "properties": {
  "count": {"type": "integer"},
  "facts": {"type": "array", "description": "Best first", "items": {"type": "object", "required": ["key", "value", "why"], "properties": {
    "key": {"type": "string"}, "value": {}, "scope": {"type": "string"}, "confidence": {"type": "number"}, "source": {"type": "string"},
    "why": {"type": "string", "description": "Which words, which rank in which list, how old"}}}}}}`)
}

// Forget is the contract of memory.forget.
func Forget() capability.Contract {
	return contract(capability.Contract{
		ID: "memory.forget", Summary: "Forget a fact; what it was and why it was forgotten stay in its history", Repeat: capability.Keyed, Positional: []string{"key"},
		Examples: []capability.Example{
			{Says: "Forget what is no longer so", With: json.RawMessage(`{"key": "deploy.region", "why": "we left that provider"}`)},
		},
	}, `{
  "type": "object",
  "required": ["key", "why"],
  "additionalProperties": false,
  "properties": {
    "key": {"type": "string", "description": "Name of the fact"},
    "why": {"type": "string", "description": "The reason"},
    "scope": `+scopeSchema+`
  }
}`, written)
}
