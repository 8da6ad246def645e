package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
)

// document is a YAML file on its way to JSON. It knows the line of each top key.
type document struct {
	file  string
	lines map[string]int
	wrong []string
}

func (d *document) read(src []byte) (json.RawMessage, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(src, &root); err != nil {
		return nil, fault.New(fault.Invalid, "%s: %s", d.file, strings.TrimPrefix(err.Error(), "yaml: ")).Remedy("correct the YAML")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, fault.New(fault.Invalid, "%s:1: it is no mapping of keys", d.file).Remedy("begin with id: noun.verb")
	}
	d.lines = map[string]int{}
	v := d.mapping(root.Content[0], "")
	if len(d.wrong) > 0 {
		return nil, fault.New(fault.Invalid, "%s", strings.Join(d.wrong, "\n")).Remedy("see what a manifest holds with: cairn help capability add")
	}
	return json.Marshal(v)
}

// line is where a key stands.
func (d document) line(key string) int { return d.lines[key] }

func (d *document) note(n *yaml.Node, format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf("%s:%d:%d: ", d.file, n.Line, n.Column)+fmt.Sprintf(format, args...))
}

// mapping reads a mapping whose keys are checked against those of its place.
func (d *document) mapping(n *yaml.Node, place string) map[string]any {
	known, checked := keys[place]
	m := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key := k.Value
		if full, ok := aliases[key]; ok && place == "" {
			key = full
		}
		if _, twice := m[key]; twice {
			d.note(k, "the key %q is there twice", k.Value)
		}
		if place == "" {
			d.lines[key] = k.Line
		}
		if checked && !slices.Contains(known, key) {
			m[key] = nil
			if near := fault.Nearest(key, known); near != "" {
				d.note(k, "there is no key %q; did you mean %q?", k.Value, near)
			} else {
				d.note(k, "there is no key %q; there are %s", k.Value, strings.Join(known, ", "))
			}
			continue
		}
		inner := free
		if _, fixed := keys[key]; fixed && place == "" {
			inner = key
		}
		m[key] = d.value(v, inner)
	}
	return m
}

// free is the place of values whose keys are anybody's.
const free = "\x00"

func (d *document) value(n *yaml.Node, place string) any {
	switch n.Kind {
	case yaml.MappingNode:
		return d.mapping(n, place)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = d.value(c, place)
		}
		return list
	case yaml.AliasNode:
		d.note(n, "aliases are not read in a manifest")
		return nil
	}
	return d.scalar(n)
}

func (d *document) scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return i
		}
		d.note(n, "%s is no number that JSON has", n.Value)
		return nil
	}
	return n.Value
}

// misfit says which key holds a value of the wrong sort.
func (d *document) misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fault.Wrap(fault.Invalid, err, "%s", d.file)
	}
	top, _, _ := strings.Cut(wrong.Field, ".")
	return fault.New(fault.Invalid, "%s:%d: %s is a %s, and must be %s", d.file, d.line(top), wrong.Field, wrong.Value, sort(wrong.Type.Kind().String())).
		Remedy("see what a manifest holds with: cairn help capability add")
}

func sort(kind string) string {
	switch kind {
	case "string":
		return "text (put it in quotes)"
	case "slice":
		return "a list"
	case "map", "struct":
		return "a mapping"
	case "bool":
		return "true or false"
	}
	return "a whole number"
}
