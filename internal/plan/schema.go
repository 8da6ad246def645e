package plan

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Schema is the JSON Schema (2020-12) of the canonical form, made from the Go types: what an editor
// completes and what a model's structured output must fit. The shorthands and other spellings that
// Read takes as well are left out of it, so that there is one way to write a thing.
func Schema() []byte {
	s := schema{"$defs": schema{}}
	g := schemer{defs: s["$defs"].(schema)}
	for k, v := range g.object(reflect.TypeFor[Plan]()) {
		s[k] = v
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "cairn plan"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return append(b, '\n')
}

type schema = map[string]any

// schemer writes each struct once, under $defs, where others refer to it: a task holds tasks.
type schemer struct{ defs schema }

// words are the values that a key is limited to.
var words = map[string][]string{
	"Task.repeat": repeats, "Task.criticality": criticalities,
	"Policy.unjudged": unjudgeds, "Policy.replan": replans, "Policy.workspace": workspaces, "Policy.sandbox": sandboxes,
	"Watch.deadline": lates,
}

const (
	durationPattern = `^([0-9]+w)?([0-9]+d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	backoffPattern  = `^[0-9.a-zµ]+(\.\.[0-9.a-zµ]+)?$`
	moneyPattern    = `^([0-9]+(\.[0-9]{1,6})? [A-Z]{3}|[A-Z]{3} [0-9]+(\.[0-9]{1,6})?)$`
	ratePattern     = `^[1-9][0-9]*/(s|min|h|day)$`
	idPattern       = `^[A-Za-z0-9][A-Za-z0-9_-]*$`
)

func (g *schemer) object(t reflect.Type) schema {
	r := recordOf(t)
	props, required := schema{}, []string{}
	for _, f := range r.fields {
		prop := g.of(t.Field(f.index).Type)
		name := t.Name() + "." + f.name
		if enum, ok := words[name]; ok {
			prop["enum"] = enum
		}
		if name == "Plan.plan" || name == "Task.id" {
			prop["pattern"], prop["maxLength"] = idPattern, maxID
		}
		if name == "Task.validation" || name == "Goal.context" {
			delete(prop, "type")
		}
		prop["description"] = says[name]
		props[f.name] = prop
		if f.omit == "" {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	if r.extra >= 0 {
		s["patternProperties"] = schema{"^x-": schema{}}
	}
	return s
}

func (g *schemer) of(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return schema{"type": "object"}
	case reflect.TypeFor[Duration]():
		return schema{"type": "string", "pattern": durationPattern, "examples": []string{"90s", "10m", "2h30m", "3d"}}
	case reflect.TypeFor[Backoff]():
		return schema{"type": "string", "pattern": backoffPattern, "examples": []string{"2s", "2s..30s"}}
	case reflect.TypeFor[Money]():
		return schema{"type": "string", "pattern": moneyPattern, "examples": []string{"5 USD", "0.25 EUR"}}
	case reflect.TypeFor[Rate]():
		return schema{"type": "string", "pattern": ratePattern, "examples": []string{"2/s", "10/min", "100/h", "1000/day"}}
	case reflect.TypeFor[Kind]():
		return schema{"type": "string", "enum": slices.Collect(kindNames)}
	case reflect.TypeFor[Criterion]():
		judge := schema{"type": "object", "properties": schema{"judge": schema{"type": "string", "description": "prose that a model, an agent or a person judges"}},
			"required": []string{"judge"}, "additionalProperties": false}
		return schema{"anyOf": []any{schema{"type": "string", "description": "a CEL expression"}, judge}}
	case reflect.TypeFor[Outputs]():
		return schema{"type": "object", "additionalProperties": g.of(reflect.TypeFor[Output]())}
	case reflect.TypeFor[*Subplan]():
		return schema{"anyOf": []any{schema{"type": "string", "description": "a file"}, g.of(reflect.TypeFor[Subplan]())}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Slice:
		return schema{"type": "array", "items": g.of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number", "minimum": 0, "maximum": 1}
	case reflect.Struct:
		return g.ref(t)
	}
	return schema{"type": "string"}
}

func (g *schemer) ref(t reflect.Type) schema {
	if _, done := g.defs[t.Name()]; !done {
		g.defs[t.Name()] = nil // a type may hold itself
		g.defs[t.Name()] = g.object(t)
	}
	return schema{"$ref": "#/$defs/" + t.Name()}
}
