// Package http performs the capabilities http.request, one request with its redirects followed, and
// http.download, a file that is fetched whole however often the connection breaks.
//
// A request that may arrive twice is tried again within a call, ever later, or when the server says. A server
// that fails five times in a row is left alone for a minute by all calls; an answer from 400 to 499 is none of its
// failures.
//
// GET and HEAD may be repeated; anything else carries the effect key of the attempt in the header
// Idempotency-Key, the same over retries, so that a server that knows the header does it once.
// An answer that is not what was expected is a failure, and what was answered is kept beside it.
package http

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
)

// ID is the capability's id.
const ID = "http.request"

// Contract is what http.request promises.
func Contract() capability.Contract {
	return capability.Contract{
		ID:          ID,
		Version:     "1.1.0",
		Summary:     "Make an HTTP request and keep the answer",
		Inputs:      json.RawMessage(inputSchema),
		Outputs:     json.RawMessage(outputSchema),
		Positional:  []string{"url"},
		To:          []string{"url"},
		Needs:       capability.Needs{Network: true},
		Repeat:      capability.Keyed,
		Criticality: "moderate",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{
			{Says: "Get a page", With: json.RawMessage(`{"url": "http://localhost/"}`)},
			{Says: "Send an order, and expect it to be accepted", With: json.RawMessage(
				`{"url": "http://localhost/orders", "method": "POST", "json": {"n": 1}, "expect_status": [201, 202], "timeout": "10s"}`)},
		},
	}
}

const inputSchema = `{
  "type": "object",
  "properties": {
    "url": {"type": "string", "pattern": "^https?://", "description": "http or https"},
    "method": {"type": "string", "pattern": "^[A-Za-z]+$", "default": "GET"},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "body": {"type": "string", "description": "What is sent"},
    "json": {"description": "What is sent, as JSON"},
    "expect_status": {"description": "Which status is a success; 200 to 299 when absent", "anyOf": [
      {"type": "integer", "minimum": 100, "maximum": 599},
      {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 100, "maximum": 599}}
    ]},
    "timeout": {"type": "string", "description": "For the whole request, such as 10s; 1m when absent"},
    "max_bytes": {"type": "integer", "minimum": 0, "maximum": 1073741824, "description": "A longer answer is a failure; 16 MiB when absent"},
    "redirects": {"type": "integer", "minimum": 0, "maximum": 20, "description": "How many are followed; 10 when absent"},
    "retries": {"type": "integer", "minimum": 0, "maximum": 10, "description": "How often a request that failed is made again; 2 when absent for GET and HEAD, else 0; never for POST and PATCH"}
  },
  "required": ["url"],
  "not": {"required": ["body", "json"]},
  "additionalProperties": false
}`

const outputSchema = `{
  "type": "object",
  "properties": {
    "status": {"type": "integer"},
    "headers": {"type": "object", "description": "Names in small letters", "additionalProperties": {"type": "string"}},
    "url": {"type": "string", "description": "Where the answer came from, after redirects"},
    "body": {"type": "string", "description": "The answer, when it is UTF-8; an artifact when over 4 KiB or no text"},
    "json": {"description": "The answer as a value, when it is JSON of at most 1 MiB"}
  },
  "required": ["status", "headers", "url"]
}`
