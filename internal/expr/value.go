package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Value decodes JSON for expressions: whole numbers become int64 and others float64, as CEL keeps
// them apart.
func Value(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return plain(v)
}

// plain gives a value the shapes that CEL works with. Maps and lists of foreign types, such as
// map[string]string, are left to CEL itself.
func plain(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.RawMessage:
		return Value(v)
	case json.Number:
		return numeric(v)
	case map[string]json.RawMessage:
		m := make(map[string]any, len(v))
		for k, x := range v {
			if m[k], err = Value(x); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
		return m, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			if m[k], err = plain(x); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
		return m, nil
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			if l[i], err = plain(x); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return l, nil
	}
	return v, nil
}

func numeric(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	return n.Float64()
}

// native turns an answer of CEL into plain Go. A list can be far longer than the work that made it,
// as l + l shares its parts, so what is handed out is counted.
func native(v ref.Val, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, errors.New("the result is too large: size limit exceeded")
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Bytes:
		return string(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), nil
	case types.Duration:
		return v.Duration.String(), nil
	case traits.Mapper:
		return nativeMap(v, left)
	case traits.Lister:
		return nativeList(v, left)
	}
	return nil, fmt.Errorf("a %s is no result", v.Type().TypeName())
}

func nativeMap(v traits.Mapper, left *int) (any, error) {
	m := map[string]any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		x, err := native(v.Get(k), left)
		if err != nil {
			return nil, err
		}
		m[fmt.Sprint(k.Value())] = x
	}
	return m, nil
}

func nativeList(v traits.Lister, left *int) (any, error) {
	l := []any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		x, err := native(it.Next(), left)
		if err != nil {
			return nil, err
		}
		l = append(l, x)
	}
	return l, nil
}

// nameOf says what a value is, for messages.
func nameOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case int64, uint64, float64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "a list"
	}
	return "an object"
}
