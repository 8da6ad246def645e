package shell

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// parsed reports whether a type is more than text.
func parsed(typ string) bool {
	switch typ {
	case "json", "number", "bool", "list":
		return true
	}
	return false
}

// interpret reads text as what the output was declared to be. A list is a JSON array, or else
// its lines.
func interpret(w capability.Want, s string) (json.RawMessage, error) {
	t := strings.TrimSpace(s)
	raw := json.RawMessage(t)
	switch w.Type {
	case "json":
		if json.Valid(raw) {
			return raw, nil
		}
		return nil, unfit(w, s)
	case "number":
		if n := json.Number(""); t != "" && t[0] != '"' && json.Unmarshal(raw, &n) == nil && n != "" {
			return raw, nil
		}
		return nil, unfit(w, s)
	case "bool":
		if t == "true" || t == "false" {
			return raw, nil
		}
		return nil, unfit(w, s)
	case "list":
		if strings.HasPrefix(t, "[") && json.Valid(raw) {
			return raw, nil
		}
		return lines(s)
	}
	return json.Marshal(text([]byte(s)))
}

func lines(s string) (json.RawMessage, error) {
	list := []string{}
	for line := range strings.Lines(s) {
		list = append(list, text([]byte(strings.TrimRight(line, "\r\n"))))
	}
	return json.Marshal(list)
}

// typed fits a value that a command gave, as text or as JSON, to its declared type.
func typed(w capability.Want, raw json.RawMessage) (json.RawMessage, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(raw, []byte("null")) {
		if w.Type == "json" && !json.Valid([]byte(strings.TrimSpace(s))) {
			return raw, nil // in a JSON object a string is JSON already
		}
		return interpret(w, s)
	}
	switch w.Type {
	case "json":
		return raw, nil
	case "number", "bool":
		return interpret(w, string(raw))
	case "list":
		if raw[0] != '[' {
			return nil, unfit(w, string(raw))
		}
		return raw, nil
	}
	return json.Marshal(string(raw))
}

func unfit(w capability.Want, s string) error {
	return fault.New(fault.Failed, "output %s is declared as %s but the command gave %q", w.Name, w.Type, lastLine([]byte(s))).
		Remedy("correct what the command prints, or the type of the output")
}
