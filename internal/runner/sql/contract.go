// Package sql performs sql.query and sql.exec on PostgreSQL and on SQLite files of the project.
//
// Every call is one connection and one transaction, both over when it returns. A query runs in a transaction
// that the database itself holds read-only, and that is always rolled back. An exec commits all of its statements
// or none; when the connection breaks at the commit, only the check that the plan gives can tell. What a plan
// says into a statement goes beside it as parameters, never into its text.
//
// A preview runs the statements and rolls them back. A backup keeps the rows that the plan names, and a
// restore puts those rows back and no others.
package sql

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
)

const (
	queryID = "sql.query"
	execID  = "sql.exec"
)

// All lists the capabilities of this package.
func All() []capability.Entry {
	return []capability.Entry{
		{Contract: QueryContract(), Runner: capability.RunnerFunc(Query)},
		{Contract: ExecContract(), Runner: Exec{}},
	}
}

// shared are the inputs that both capabilities take.
const shared = `
    "database": {"type": "string", "minLength": 1, "description": "postgres://user:${secret:NAME}@host/name, or the path of an SQLite file from the task's directory"},
    "args": {"type": "array", "description": "The values of $1, $2, ... in the statement; {\"base64\": ...} for bytes"},
    "max_rows": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 1000, "description": "What is beyond is left out, and that is told"},
    "timeout": {"type": "string", "description": "For the whole call, such as 10s; 1m when absent"}`

const rowOutputs = `
    "columns": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "type": {"type": "string"}}, "required": ["name", "type"]}},
    "rows": {"type": "array", "items": {"type": "object"}, "description": "By name of column; whole numbers beyond 2^53 and numeric as text, times as RFC 3339, bytes as base64. An artifact when over 1 MiB"},
    "count": {"type": "integer", "description": "How many rows are there"},
    "truncated": {"type": "boolean", "description": "There were more"}`

// QueryContract is what sql.query promises.
func QueryContract() capability.Contract {
	return capability.Contract{
		ID: queryID, Version: "1.0.0", Summary: "Ask a PostgreSQL or SQLite database, which cannot be changed by it",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "sql": {"type": "string", "minLength": 1, "description": "One statement"},` + shared + `
  },
  "required": ["database", "sql"],
  "additionalProperties": false
}`),
		Outputs:    json.RawMessage(`{"type": "object", "properties": {` + rowOutputs + `}, "required": ["columns", "count", "truncated"]}`),
		Positional: []string{"sql"},
		To:         []string{"database"},
		Needs:      capability.Needs{Network: true},
		Repeat:     capability.Repeatable, Criticality: "safe", CostTier: 1, Provider: "builtin",
		Examples: []capability.Example{
			{Says: "Count what is open", With: json.RawMessage(`{"database": "shop.db", "sql": "SELECT count(*) AS n FROM orders WHERE state = $1", "args": ["open"]}`)},
		},
	}
}

// ExecContract is what sql.exec promises.
func ExecContract() capability.Contract {
	return capability.Contract{
		ID: execID, Version: "1.0.0", Summary: "Change a PostgreSQL or SQLite database in one transaction",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "sql": {"type": "string", "minLength": 1, "description": "Statements, with ; between them; args go with a single one. All are done or none: no BEGIN, no COMMIT"},` + shared + `,
    "create": {"type": "boolean", "default": false, "description": "Make the SQLite file when it is not there"},
    "check": {"type": "string", "minLength": 1, "description": "A query whose first value is true when the change took effect; asked after a crash"},
    "check_args": {"type": "array"},
    "watch": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Tables whose rows a preview compares"},
    "keep": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Rows to keep for a rollback: a table, or TABLE WHERE ...; referenced tables first"}
  },
  "required": ["database", "sql"],
  "additionalProperties": false
}`),
		Outputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "affected": {"type": "integer", "description": "Rows that were changed, by all statements; absent when a check found it done"},
    "statements": {"type": "integer"},` + rowOutputs + `
  },
  "required": ["statements"]
}`),
		Positional: []string{"sql"},
		To:         []string{"database"},
		Needs:      capability.Needs{Network: true, Write: true},
		Repeat:     capability.Once, Criticality: "critical", CostTier: 1, Provider: "builtin",
		Examples: []capability.Example{
			{Says: "Close an order, with what undoes it and what tells that it was done", With: json.RawMessage(`{"database": "shop.db",
  "sql": "UPDATE orders SET state = 'closed' WHERE id = $1 RETURNING id", "args": [1],
  "check": "SELECT state = 'closed' FROM orders WHERE id = $1", "check_args": [1], "watch": ["orders"], "keep": ["orders WHERE id = 1"]}`)},
			{Says: "Migrate", With: json.RawMessage(`{"database": "shop.db", "sql": "ALTER TABLE orders ADD COLUMN note TEXT; UPDATE orders SET note = '';"}`)},
		},
	}
}
