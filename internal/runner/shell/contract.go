package shell

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
)

// Contract is what `shell` promises.
func Contract() capability.Contract {
	return capability.Contract{
		ID:          "shell",
		Version:     "1.0.0",
		Summary:     "Run a command line with sh",
		Inputs:      json.RawMessage(inputSchema),
		Outputs:     json.RawMessage(outputSchema),
		Positional:  []string{"run"},
		To:          []string{"run", capability.AnyHost},
		Needs:       capability.Needs{Write: true},
		Repeat:      capability.Repeatable,
		Criticality: "moderate",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{
			{Says: "Run the tests of a Go module", With: json.RawMessage(`{"run": "go test ./..."}`)},
			{Says: "Set an output that later tasks can read", With: json.RawMessage(`{"run": "echo \"count=$(ls | wc -l)\" >> \"$CAIRN_OUTPUT\""}`)},
			{Says: "Feed text to a command in a directory of the project", With: json.RawMessage(`{"run": "sort -u", "stdin": "b\na\nb\n", "dir": "."}`)},
		},
	}
}

const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "run": {"type": "string", "minLength": 1, "description": "The command line, handed to the shell as it is"},
    "shell": {"type": "string", "minLength": 1, "default": "sh", "description": "The shell that takes -c and the command line"},
    "stdin": {"type": "string", "description": "What the command reads from standard input; nothing when absent"},
    "dir": {"type": "string", "description": "Where it runs, as a path from the task's directory, which is the project's root unless the task says otherwise"}
  },
  "required": ["run"],
  "additionalProperties": false
}`

const outputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "exit": {"type": "integer", "minimum": 0, "maximum": 255, "description": "The exit status; 128 and its number after a signal"},
    "stdout": {"type": "string", "description": "Standard output when it is UTF-8 and at most 4 KiB; an artifact of that name otherwise"},
    "stderr": {"type": "string", "description": "Standard error, likewise"}
  },
  "required": ["exit"],
  "additionalProperties": true
}`
