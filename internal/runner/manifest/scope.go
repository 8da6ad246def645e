package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

// scope is what the texts of a manifest can read during one call.
type scope struct {
	inputs  map[string]json.RawMessage
	secrets map[string]string // those that the manifest needs, by name
}

// newScope asks whoever made the call for the secrets: they are named in files, and never written there.
func newScope(ctx context.Context, call capability.Call, secrets []string) (scope, error) {
	s := scope{secrets: map[string]string{}}
	if err := json.Unmarshal(call.With, &s.inputs); err != nil {
		return s, fault.Wrap(fault.Invalid, err, "the inputs are no object")
	}
	for _, name := range secrets {
		if call.Secret == nil {
			return s, fault.New(fault.NotFound, "it needs the secret %s, and none are known here", name)
		}
		v, err := call.Secret(ctx, name)
		if err != nil {
			return s, fault.Wrap(fault.CodeOf(err), err, "it needs the secret %s", name).Remedy("%s", fault.HintOf(err))
		}
		s.secrets[name] = v
	}
	return s, nil
}

// input finds ${inputs.NAME}. One that was left out is empty.
func (s scope) input(r expr.Ref) (any, error) {
	if r.Root != expr.Inputs {
		return nil, fault.New(fault.Invalid, "%s cannot be read here", r.Text).Remedy("write ${inputs.NAME}; a command finds its secrets in variables")
	}
	v, ok := s.inputs[r.Path[0]]
	if !ok {
		return "", nil
	}
	return expr.Walk(v, r.Path[1:])
}

// any finds ${secret:NAME} as well.
func (s scope) any(r expr.Ref) (any, error) {
	if r.Root != expr.Secret {
		return s.input(r)
	}
	v, ok := s.secrets[r.Path[0]]
	if !ok {
		return nil, fault.New(fault.Invalid, "the secret %s is not among those the manifest needs", r.Path[0]).
			Remedy("declare it: needs: {secrets: [%s]}", r.Path[0])
	}
	return v, nil
}

// fill puts values into a text.
func fill(text string, find expr.Lookup) (string, error) {
	raw, err := expr.Resolve(asText(text), find)
	if err != nil {
		return "", err
	}
	return expr.Plain(raw)
}

const shortest = 4 // a shorter secret would black out ordinary words

// redact takes the values of secrets out of what a tool printed.
func (s scope) redact(b []byte) []byte {
	for _, name := range sorted(s.secrets) {
		if v := s.secrets[name]; len(v) >= shortest {
			b = bytes.ReplaceAll(b, []byte(v), []byte("[secret "+name+"]"))
		}
	}
	return b
}

// sorted lists the longest values first: one may be a part of another.
func sorted(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(m[b]) - len(m[a]) })
	return names
}
