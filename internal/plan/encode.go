package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Encode writes the plan as canonical JSON (RFC 8785): the bytes that name a revision. Decode gives
// the plan back.
func (p *Plan) Encode() ([]byte, error) {
	n, err := tree(p)
	if err != nil {
		return nil, err
	}
	b, err := source.Canonical(nil, n)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the plan %s cannot be written", p.Name)
	}
	return b, nil
}

// writer turns values into the tree of a text, keys in the order of the struct. The first error
// stays; a plan that was read has none.
type writer struct{ err error }

func tree(p *Plan) (source.Node, error) {
	w := &writer{}
	n := w.record(reflect.ValueOf(p).Elem())
	return n, w.err
}

func (w *writer) record(v reflect.Value) source.Node {
	r := recordOf(v.Type())
	var room [64]source.Node
	items := room[:0]
	for _, f := range r.fields {
		x := v.Field(f.index)
		if f.omit == "omitempty" && empty(x) || f.omit == "omitzero" && x.IsZero() {
			continue
		}
		items = append(items, source.Text(f.name), w.value(x))
	}
	if r.extra >= 0 && v.Field(r.extra).Len() > 0 {
		extra := v.Field(r.extra).Interface().(map[string]json.RawMessage)
		for _, k := range slices.Sorted(maps.Keys(extra)) {
			items = append(items, source.Text(k), w.raw(extra[k]))
		}
	}
	return source.Node{Kind: source.Map, Items: slices.Clone(items)}
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// value writes by type first and by kind otherwise. Values are boxed only where their type asks
// for it: a task is large.
func (w *writer) value(v reflect.Value) source.Node {
	switch v.Type() {
	case reflect.TypeFor[json.RawMessage]():
		return w.raw(v.Bytes())
	case reflect.TypeFor[Duration](), reflect.TypeFor[Money](), reflect.TypeFor[Backoff](), reflect.TypeFor[Rate]():
		return source.Text(v.Interface().(fmt.Stringer).String())
	case reflect.TypeFor[Criterion]():
		says := source.Text(v.Field(0).String())
		if v.Field(1).Bool() {
			return source.Node{Kind: source.Map, Items: []source.Node{source.Text("judge"), says}}
		}
		return says
	case reflect.TypeFor[Subplan]():
		if v.Field(1).Len() == 0 && v.Field(2).Len() == 0 && v.Field(0).Len() > 0 {
			return source.Text(v.Field(0).String()) // a file that was not read
		}
	case reflect.TypeFor[Outputs]():
		n := source.Node{Kind: source.Map}
		for i := range v.Len() {
			n.Items = append(n.Items, source.Text(v.Index(i).Field(0).String()), w.record(v.Index(i)))
		}
		return n
	}
	switch v.Kind() {
	case reflect.String:
		return source.Text(v.String())
	case reflect.Bool:
		return source.Node{Kind: source.Bool, Text: strconv.FormatBool(v.Bool())}
	case reflect.Int:
		return source.Node{Kind: source.Number, Text: strconv.FormatInt(v.Int(), 10)}
	case reflect.Float64:
		return source.Node{Kind: source.Number, Text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	case reflect.Pointer:
		return w.value(v.Elem())
	case reflect.Slice:
		n := source.Node{Kind: source.List, Items: make([]source.Node, v.Len())}
		for i := range n.Items {
			n.Items[i] = w.value(v.Index(i))
		}
		return n
	case reflect.Map:
		n := source.Node{Kind: source.Map}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			n.Items = append(n.Items, source.Text(k.String()), w.value(v.MapIndex(k)))
		}
		return n
	}
	return w.record(v)
}

// raw reads back JSON that a field carries as it is.
func (w *writer) raw(b json.RawMessage) source.Node {
	n, problems := source.Read(source.JSON, b)
	if len(problems) > 0 && w.err == nil {
		w.err = fault.New(fault.Invalid, "a plan carries what is no JSON: %s", problems[0].Msg)
	}
	return n
}
