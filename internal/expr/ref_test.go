package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
)

func TestRefs(t *testing.T) {
	for s, want := range map[string]string{
		"${a.b}":                                "[a [b] ${a.b} 0]",
		"x ${a-1.out.path[0].k} y":              "[a-1 [out path 0 k] ${a-1.out.path[0].k} 2]",
		"${parent/child.x}":                     "[parent/child [x] ${parent/child.x} 0]",
		`${a.b["a key]}"]}`:                     `[a [b a key]}] ${a.b["a key]}"]} 0]`,
		"${item} ${item.name} ${index}":         "[item [] ${item} 0] [item [name] ${item.name} 8] [index [] ${index} 21]",
		"${inputs.x}":                           "[inputs [x] ${inputs.x} 0]",
		"${secret:API_KEY}":                     "[secret [API_KEY] ${secret:API_KEY} 0]",
		"${ a.b }":                              "[a [b] ${ a.b } 0]",
		"$${a.b} ${c.d}":                        "[c [d] ${c.d} 8]",
		"${HOME} ${x:-a.b} ${f%.*} ${f##*/} $x": "",
		"${a.} ${.b} ${a..b} ${a.b[} ${a.b[x]}": "",
		"${a.b":                                 "",
		"${a.b[\"x":                             "",
		"${secret:}":                            "",
		"${-a.b} ${} ${":                        "",
		"${x:-${a.b}}":                          "[a [b] ${a.b} 5]",
	} {
		var got []string
		for _, r := range expr.Refs(s) {
			got = append(got, fmt.Sprint([]any{r.Root, r.Path, r.Text, r.Offset}))
			if s[r.Offset:r.Offset+len(r.Text)] != r.String() {
				t.Errorf("%q: %s is not at %d", s, r.Text, r.Offset)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	for root, want := range map[string]bool{"a": true, "item": false, "index": false, "inputs": false, "secret": false} {
		if got := (expr.Ref{Root: root}).IsTask(); got != want {
			t.Errorf("IsTask of %s = %v", root, got)
		}
	}
}

func TestBare(t *testing.T) {
	if got := expr.Bare("${sources} ${HOME} ${item} ${a.b} $${x}"); len(got) != 2 || got[0].Root != "sources" || got[1].Root != "HOME" {
		t.Errorf("bare: %v", got)
	}
}

func lookup(r expr.Ref) (any, error) {
	values := map[string]any{
		"a": map[string]json.RawMessage{"n": json.RawMessage("12345678901234567890"), "s": json.RawMessage(`"it's"`),
			"l": json.RawMessage(`[1, {"k": "<v>"}]`), "z": json.RawMessage("null")},
		"item":   "one",
		"index":  int64(3),
		"inputs": map[string]any{"x": 2.5, "t": true},
	}
	v, ok := values[r.Root]
	if !ok {
		return nil, errors.New("no such task")
	}
	return expr.Walk(v, r.Path)
}

func TestResolve(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": "${a.n}", "b": ["${a.l}", "${inputs.t}"]}`: `{"a":12345678901234567890,"b":[[1,{"k":"<v>"}],true]}`,
		`"n is ${a.n}, l is ${a.l[1]}, s is ${a.s}"`:      `"n is 12345678901234567890, l is {\"k\":\"<v>\"}, s is it's"`,
		`"${a.l[1].k}"`:                `"<v>"`,
		`"${a.z}"`:                     `null`,
		`"${a.z}!"`:                    `"null!"`,
		`"${item}/${index}"`:           `"one/3"`,
		`"\u0024{item}"`:               `"one"`,
		`"$${item} ${HOME} ${item}"`:   `"${item} ${HOME} one"`,
		`{"${item}": 1.50, "x": [{}]}`: `{"${item}":1.50,"x":[{}]}`,
		`{"plain" : 1}`:                `{"plain" : 1}`,
	} {
		got, err := expr.Resolve(json.RawMessage(in), lookup)
		if err != nil || string(got) != want {
			t.Errorf("%s = %s, %v; want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		`["${b.x}"]`:          "${b.x}: no such task",
		`{"k": "a ${a.x} b"}`: `${a.x}: it has no "x"`,
		`"${a.l[7]}"`:         `"l" is a list of 2, so it has no [7]`,
		`"${a.n.x}"`:          `"n" is the number`,
		`"${inputs.y}"`:       `it has no "y"`,
		`"${item.x}"`:         `it is text, so it has no "x"`,
		`"${a.b}`:             "no JSON",
	} {
		if got, err := expr.Resolve(json.RawMessage(in), lookup); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %s, %v; want %q", in, got, err, want)
		}
	}
	unwritable := func(expr.Ref) (any, error) { return func() {}, nil }
	for _, in := range []string{`"${a.b}"`, `"x${a.b}"`} {
		if _, err := expr.Resolve(json.RawMessage(in), unwritable); err == nil {
			t.Errorf("%s: a function was written as JSON", in)
		}
	}
	broken := func(expr.Ref) (any, error) { return json.RawMessage(`{`), nil }
	if _, err := expr.Resolve(json.RawMessage(`"x${a.b}"`), broken); err == nil {
		t.Error("broken JSON was taken as text")
	}
}

func TestWalk(t *testing.T) {
	v, err := expr.Walk(json.RawMessage(`{"a": [{"b": 7}]}`), []string{"a", "0", "b"})
	if err != nil || !reflect.DeepEqual(v, int64(7)) {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := expr.Walk(json.RawMessage(`{`), []string{"a"}); err == nil {
		t.Error("broken JSON was walked")
	}
	if v, err := expr.Value(nil); v != nil || err != nil {
		t.Errorf("nothing is %v, %v", v, err)
	}
}
