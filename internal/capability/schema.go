package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Schema judges objects. It looks at each property by itself first, so that all that is wrong is
// told at once and in words, and then at the whole.
type Schema struct {
	root  *jsonschema.Schema
	whole *jsonschema.Resolved

	nothing func() []string // what is wrong with giving nothing, which most calls of small tools do

	mu    sync.Mutex
	parts map[string]*jsonschema.Resolved // one property each, made when first needed
}

// ParseSchema reads a JSON Schema of an object; an empty one lets every object through.
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	root := &jsonschema.Schema{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, root); err != nil {
			return nil, err
		}
	}
	if root.Type == "" && len(root.Types) == 0 {
		root.Type = "object"
	}
	if root.Type != "object" {
		return nil, fmt.Errorf("it describes no object")
	}
	if err := known(root, "it"); err != nil {
		return nil, err
	}
	whole, err := root.Resolve(nil)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, whole: whole, parts: map[string]*jsonschema.Resolved{}}
	s.nothing = sync.OnceValue(func() []string { return s.wrongs(json.RawMessage("{}"), false) })
	return s, nil
}

var sorts = []string{"string", "integer", "number", "boolean", "array", "object", "null"}

// known finds types that there are not, which the validator would take for types that nothing has.
func known(s *jsonschema.Schema, name string) error {
	for _, typ := range append(slices.Clone(s.Types), s.Type) {
		if typ != "" && !slices.Contains(sorts, typ) {
			return fmt.Errorf("%s has the type %q, and there are %s", name, typ, strings.Join(sorts, ", "))
		}
	}
	for _, part := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf, []*jsonschema.Schema{s.Items, s.AdditionalProperties}) {
		if part == nil {
			continue
		}
		if err := known(part, name); err != nil {
			return err
		}
	}
	for _, parts := range []map[string]*jsonschema.Schema{s.Properties, s.Defs} {
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			if err := known(parts[key], fmt.Sprintf("%q", key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is the schema of an object that has this one property and no duties.
func (s *Schema) part(name string) (*jsonschema.Resolved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.parts[name]; ok {
		return p, nil
	}
	one := &jsonschema.Schema{
		ID: s.root.ID, Schema: s.root.Schema, Defs: s.root.Defs, Definitions: s.root.Definitions,
		Properties: map[string]*jsonschema.Schema{name: s.root.Properties[name]},
	}
	p, err := one.CloneSchemas().Resolve(nil)
	if err == nil {
		s.parts[name] = p
	}
	return p, err
}

// Check lists what is wrong with an object.
func (s *Schema) Check(raw json.RawMessage) []string { return s.findings(raw, false) }

// findings lists what is wrong with an object, in the order of its keys. With open, what holds a
// reference is not judged.
func (s *Schema) findings(raw json.RawMessage, open bool) []string {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "{}" {
		return s.nothing()
	}
	return s.wrongs(raw, open)
}

func (s *Schema) wrongs(raw json.RawMessage, open bool) []string {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return []string{"they must be an object of names and values"}
	}
	var found []string
	for _, name := range s.root.Required {
		if _, ok := given[name]; !ok {
			found = append(found, fmt.Sprintf("%q is missing", name))
		}
	}
	closed := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		_, known := s.root.Properties[name]
		switch {
		case !known && s.closed():
			found = append(found, fmt.Sprintf("%q is not among them%s", name, s.among(name)))
		case open && bytes.Contains(given[name], []byte("${")):
			closed = true
		case known:
			found = append(found, s.judge(name, given[name])...)
		}
	}
	if len(found) > 0 || closed {
		return found
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return []string{err.Error()}
	}
	if err := s.whole.Validate(v); err != nil {
		return []string{cause(err)}
	}
	return nil
}

func (s *Schema) judge(name string, raw json.RawMessage) []string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return []string{fmt.Sprintf("%q is no JSON: %v", name, err)}
	}
	part, err := s.part(name)
	if err != nil {
		return nil // it cannot be judged alone; the whole will be
	}
	if err := part.Validate(map[string]any{name: v}); err != nil {
		return []string{fmt.Sprintf("%q: %s", name, cause(err))}
	}
	return nil
}

// closed reports whether other names than the listed ones are refused, told from the false schema,
// which is written {"not": {}}.
func (s *Schema) closed() bool {
	a := s.root.AdditionalProperties
	return a != nil && a.Not != nil && len(s.root.PatternProperties) == 0
}

func (s *Schema) among(name string) string {
	names := slices.Sorted(maps.Keys(s.root.Properties))
	if len(names) == 0 {
		return ": there are none"
	}
	if near := fault.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ": they are " + strings.Join(names, ", ")
}

var path = regexp.MustCompile(`^(?:validating [^:]*: )+`)

// cause leaves out the path that a validator walked to find a fault.
func cause(err error) string { return path.ReplaceAllString(err.Error(), "") }

func refuse(found []string, format string, args ...any) error {
	if len(found) == 0 {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	return fault.New(fault.Invalid, "%s: %s", what, strings.Join(found, "; ")).
		Remedy("see what it takes and gives with: cairn capability show %s", args[0])
}
