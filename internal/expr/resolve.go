package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Lookup finds the value of a reference: plain Go, or JSON as json.RawMessage.
type Lookup func(Ref) (any, error)

// Resolve puts values in the place of the references in a JSON value. A string that is exactly one
// reference becomes the value with its type; a reference inside a longer string becomes its text.
// Keys are left as they are, and $${ becomes ${.
func Resolve(raw json.RawMessage, lookup Lookup) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte("${")) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the inputs are no JSON")
	}
	v, err := resolve(v, lookup)
	if err != nil {
		return nil, err
	}
	return encode(v)
}

func resolve(v any, lookup Lookup) (any, error) {
	var err error
	switch x := v.(type) {
	case string:
		return resolveString(x, lookup)
	case []any:
		for i := range x {
			if x[i], err = resolve(x[i], lookup); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range x {
			if x[k], err = resolve(x[k], lookup); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func resolveString(s string, lookup Lookup) (any, error) {
	if refs := Refs(s); len(refs) == 1 && refs[0].Text == s {
		return found(refs[0], lookup)
	}
	return replace(s, func(r Ref) (string, error) {
		v, err := found(r, lookup)
		if err != nil {
			return "", err
		}
		return Plain(v)
	})
}

func found(r Ref, lookup Lookup) (any, error) {
	v, err := lookup(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Text, err)
	}
	return v, nil
}

// replace puts with(r) in the place of every reference and unescapes $${.
func replace(s string, with func(Ref) (string, error)) (string, error) {
	var b strings.Builder
	done := 0
	for _, r := range Refs(s) {
		b.WriteString(unescape(s[done:r.Offset]))
		v, err := with(r)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		done = r.Offset + len(r.Text)
	}
	b.WriteString(unescape(s[done:]))
	return b.String(), nil
}

func unescape(s string) string { return strings.ReplaceAll(s, "$${", "${") }

// Plain is a value as text: a string as it is, everything else as compact JSON.
func Plain(v any) (string, error) {
	if raw, ok := v.(json.RawMessage); ok {
		var s string
		if json.Unmarshal(raw, &s) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
			return s, nil
		}
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return "", fault.Wrap(fault.Failed, err, "the value is no JSON")
		}
		return b.String(), nil
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	raw, err := encode(v)
	return string(raw), err
}

// encode writes JSON without the escapes that only a web page needs.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fault.Wrap(fault.Failed, err, "the value cannot be written as JSON")
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
