package pipeline

import (
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

// bind makes the inputs of a call from its arguments. Those without a name go to the contract's
// positional inputs, in order; without any, to its required ones, and then to its only one.
func bind(c capability.Contract, call expr.PipeCall, vars map[string]json.RawMessage) (json.RawMessage, error) {
	places := c.Positional
	if len(places) == 0 {
		places = required(c.Inputs)
	}
	with := map[string]json.RawMessage{}
	for i, a := range call.Args {
		name := a.Name
		if name == "" {
			if i >= len(places) {
				return nil, fault.New(fault.Invalid, "it takes %d inputs without a name, and is given more", len(places)).
					Remedy("name the input: %s(name=...)", call.Name)
			}
			name = places[i]
		}
		if _, twice := with[name]; twice {
			return nil, fault.New(fault.Invalid, "it is given %q twice", name)
		}
		v, err := argument(a, vars)
		if err != nil {
			return nil, err
		}
		with[name] = v
	}
	return json.Marshal(with)
}

func argument(a expr.Arg, vars map[string]json.RawMessage) (json.RawMessage, error) {
	if a.Var == "" {
		return a.Literal, nil
	}
	path := strings.Split(a.Var, ".")
	v, ok := vars[path[0]]
	if !ok && path[0] == expr.Inputs && len(path) > 1 {
		path = path[1:]
		v, ok = vars[path[0]]
	}
	if !ok {
		return nil, fault.New(fault.Failed, "there is no %q: nothing before it gave one, and it is no input of the task", path[0]).
			Remedy("give it in with, or put %q in quotes if it is meant as text", path[0])
	}
	found, err := expr.Walk(v, path[1:])
	if err != nil {
		return nil, fault.Wrap(fault.Failed, err, "%s", a.Var)
	}
	return json.Marshal(found)
}

func required(schema json.RawMessage) []string {
	var s struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	if len(s.Required) == 0 && len(s.Properties) == 1 {
		for name := range s.Properties {
			return []string{name}
		}
	}
	return s.Required
}
