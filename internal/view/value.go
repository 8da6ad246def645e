package view

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
)

// short is a value on one line of at most so many cells: text in quotes, the rest as JSON.
func short(raw json.RawMessage, cells int) string {
	s := plain(string(raw))
	if len(s) > 1 && s[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return `"` + cut(plain(strings.TrimSpace(text)), max(cells-2, 8)) + `"`
		}
	}
	return cut(s, cells)
}

// left lists what an attempt left behind: outputs with their values, artifacts with their sizes.
func left(outputs map[string]json.RawMessage, artifacts []capability.Ref) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		out = append(out, plain(name)+" = "+short(outputs[name], 40))
	}
	for _, a := range artifacts {
		out = append(out, plain(a.Name)+" ("+Size(a.Size)+")")
	}
	return out
}
