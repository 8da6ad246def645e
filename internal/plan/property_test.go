package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/digest"
)

func TestEverythingRoundTrips(t *testing.T) {
	p, faults := Read("all.yaml", []byte(everything), Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, "everything", p)
	everyKeySet(t, reflect.ValueOf(p), "plan")
	for as := range extensions {
		out, err := Format("all.yaml", []byte(everything), as)
		if err != nil {
			t.Fatal(err)
		}
		fixed(t, "everything", out, as)
	}
}

// everyKeySet makes sure that the example does use every key.
func everyKeySet(t *testing.T, v reflect.Value, path string) {
	set := map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				set[name] = set[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(v)
	for name, ok := range set {
		if !ok {
			t.Errorf("%s has no %s", path, name)
		}
	}
}

// anyText is text of any sort but references, which would have to hold.
func anyText() *rapid.Generator[string] {
	plain := rapid.String()
	tricky := rapid.SampledFrom([]string{"", " ", "null", "yes", "a: b", "- x", "#", "a # b", "'", `"`, "\\", "a\nb", "a\nb\n", "\n", " a\n b", "a\n\n b\n\n",
		"{", "[x]", "&a", "*a", "!t", "|", ">", "%", "@", "`", "0x1f", "1e3", "-1", "007", ".5", "~", "<<", "---", "...", "?", ":", "a:", "judge: x", "한국어",
		"\u2028", "\ufeff", "\u0085", "tab\there", "\ttab", "a\r\nb", "\u0000", "=", "task a", "plan: p", "on failure -> x", "a,b", "x\n\ty", "  \nx", "a \nb", "\"open", "😀"})
	return rapid.Custom(func(t *rapid.T) string {
		s := tricky.Draw(t, "tricky")
		if rapid.Bool().Draw(t, "plain") {
			s = plain.Draw(t, "text")
		}
		return strings.ReplaceAll(s, "${", "$")
	})
}

func texts(most int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		l := rapid.SliceOfN(anyText(), 0, most).Draw(t, "texts")
		if len(l) == 0 {
			return nil
		}
		return l
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case k == 0:
			return nil
		case k == 1:
			return rapid.Bool().Draw(t, "bool")
		case k == 2:
			return rapid.Int64Range(-1<<53, 1<<53).Draw(t, "int")
		case k == 3:
			return rapid.Float64Range(-1e30, 1e30).Draw(t, "float")
		case k == 4 && depth > 0:
			return rapid.SliceOfN(anyJSON(depth-1), 0, 3).Draw(t, "list")
		case k == 5 && depth > 0:
			return rapid.MapOfN(anyText(), anyJSON(depth-1), 0, 3).Draw(t, "map")
		}
		return anyText().Draw(t, "text")
	})
}

func raw(t *rapid.T, name string) json.RawMessage {
	if !rapid.Bool().Draw(t, name+"?") {
		return nil
	}
	b, err := digest.Canonical(rapid.MapOfN(anyText(), anyJSON(2), 0, 3).Draw(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func criteria(t *rapid.T, name string) []Criterion {
	var out []Criterion
	for range rapid.IntRange(0, 2).Draw(t, name) {
		if rapid.Bool().Draw(t, "cel") {
			out = append(out, Criterion{Says: rapid.SampledFrom([]string{"exit == 0", "size(outputs.x) > 2", `stderr.contains("a: b")`, "true", `"a" in outputs`}).Draw(t, "says")})
		} else {
			out = append(out, Criterion{anyText().Draw(t, "says"), true})
		}
	}
	return out
}

func anyTask(t *rapid.T, id string, before []string, depth int) Task {
	task := Task{ID: id, Title: anyText().Draw(t, "title"), Description: anyText().Draw(t, "description"),
		Kind:   rapid.SampledFrom(append([]Kind{""}, Kinds...)).Draw(t, "kind"),
		Labels: texts(3).Draw(t, "labels"), Run: anyText().Draw(t, "run"), With: raw(t, "with"),
		Uses:   rapid.SampledFrom([]string{"", "shell", "a.b"}).Draw(t, "uses"),
		Expect: criteria(t, "expect"), Checks: criteria(t, "checks"), Locks: texts(2).Draw(t, "locks"),
		Timeout: Duration(rapid.Int64Range(0, 1<<50).Draw(t, "timeout")), Risks: texts(2).Draw(t, "risks"),
		Pre: rapid.SampledFrom([][]string{nil, {"network.online"}, {"disk.free >= 50MB", "judge: it is quiet"}}).Draw(t, "pre")}
	for _, b := range before {
		if rapid.Bool().Draw(t, "need") {
			task.Needs = append(task.Needs, b)
		}
	}
	if rapid.Bool().Draw(t, "rich") {
		n := rapid.IntRange(-5, 5).Draw(t, "priority")
		task.Priority = &n
		task.Budget = &Budget{Time: Duration(rapid.Int64Range(0, 1<<50).Draw(t, "time")), Calls: 3}
		task.Outputs = Outputs{{Name: "a", Type: "list"}, {Name: "b", Path: anyText().Draw(t, "path")}}
		task.Next = &Next{Failure: []string{id}}
		task.Extra = map[string]json.RawMessage{"x-a": json.RawMessage(`{"b":[1,"2"]}`)}
		if env := rapid.MapOfN(anyText(), anyText(), 0, 3).Draw(t, "env"); len(env) > 0 {
			task.Env = env
		}
	}
	if depth > 0 && rapid.Bool().Draw(t, "group") {
		task.Uses, task.Run = "", ""
		task.Subplan = &Subplan{Tasks: anyTasks(t, depth-1)}
	}
	return task
}

func anyTasks(t *rapid.T, depth int) []Task {
	var ids []string
	var out []Task
	for i := range rapid.IntRange(1, 4).Draw(t, "tasks") {
		id := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"t", "yes", "n", "0x", "a-b_", "1e"}).Draw(t, "id"), i)
		out = append(out, anyTask(t, id, ids, depth))
		ids = append(ids, id)
	}
	return out
}

// TestRoundTrips writes random plans in every form and reads them back.
func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Plan{Name: "p", Title: anyText().Draw(t, "title"), Inputs: raw(t, "inputs"), Tasks: anyTasks(t, 1)}
		spec, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := digest.Canonicalize(spec); err != nil || !bytes.Equal(spec, again) {
			t.Fatalf("not canonical: %v\n%s\n%s", err, spec, again)
		}
		q, err := Decode(spec)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("comes back changed: %+v\n%+v", p, q)
		}
		file, text := "p.json", spec
		for _, as := range []string{"yaml", "dsl", "json"} {
			out, err := Format(file, text, as) // it compares both sides itself
			if err != nil {
				t.Fatalf("as %s: %v\n%s", as, err, text)
			}
			again, err := Format("p"+extensions[as], out, as)
			if err != nil || !bytes.Equal(out, again) {
				t.Fatalf("%s is not fixed: %v\n%s\n%s", as, err, out, again)
			}
			file, text = "p"+extensions[as], out
		}
		r, faults := Read("p.json", text, Options{})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		if end, err := r.Encode(); err != nil || !bytes.Equal(spec, end) {
			t.Fatalf("through all forms: %v\n%s\n%s", err, spec, end)
		}
	})
}
