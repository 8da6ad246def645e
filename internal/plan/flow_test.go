package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A flow follows references in whatever order the tasks are written, and ends where they run in a circle.
func TestFlowEndsWhereReferencesRunInACircle(t *testing.T) {
	p := &Plan{Policy: &Policy{Labels: map[string]*LabelRule{"pii": {Deny: []string{"b.*"}}}}, Tasks: []Task{
		{ID: "c", Uses: "b.c", With: json.RawMessage(`{"x":"${b.y}"}`)},
		{ID: "b", With: json.RawMessage(`{"x":"${a.y}","z":"${c.y}"}`)},
		{ID: "a", With: json.RawMessage(`{"x":"${b.y}"}`), Labels: []string{"pii", "spring"}},
		{ID: "d", With: json.RawMessage(`{"x":"${e.y}"}`)},
		{ID: "e"},
	}}
	f := p.Flow()
	for i, want := range []string{"[{pii a.y}]", "[{pii a.y}]", "[{pii a.y}]", "[]", "[]"} {
		if got := fmt.Sprint(f.Sent(&p.Tasks[i], false)); got != want {
			t.Errorf("%s: %s, not %s", p.Tasks[i].ID, got, want)
		}
	}
	if got := f.Sent(&Task{ID: "c"}, false); got != nil {
		t.Errorf("a task that is not in the plan: %v", got)
	}
	if f := (&Plan{Policy: &Policy{}, Tasks: p.Tasks}).Flow(); f != nil || f.Sent(&p.Tasks[0], false) != nil {
		t.Error("a plan without rules has a flow")
	}
}

func TestRefused(t *testing.T) {
	reach := func(id string, with json.RawMessage) (names, hosts []string) {
		var in struct{ To string }
		_ = json.Unmarshal(with, &in)
		if with == nil {
			in.To = "?"
		}
		if in.To != "" {
			hosts = strings.Split(in.To, ",")
		}
		return []string{id, "tools/" + id + ".yaml"}, hosts
	}
	for _, c := range []struct {
		rule     LabelRule
		uses, to string
		want     string
	}{
		{LabelRule{}, "a.b", "x", ""},
		{LabelRule{Deny: []string{"a.*"}}, "a.b", "", "a.b: deny: a.*"},
		{LabelRule{Deny: []string{"*.yaml"}}, "a.b", "", "tools/a.b.yaml: deny: *.yaml"},
		{LabelRule{Deny: []string{"a.*"}}, "b.a", "", ""},
		{LabelRule{Deny: []string{"*.Example.com"}}, "a.b", "x.example.com", "x.example.com: deny: *.Example.com"},
		{LabelRule{Deny: []string{"*.example.com"}}, "a.b", "example.com", ""},
		{LabelRule{Allow: []string{"a.*"}}, "a.b", "anything", ""},
		{LabelRule{Allow: []string{"x"}}, "a.b", "", "a.b: allow: x"},
		{LabelRule{Allow: []string{"x"}}, "a.b", "x", ""},
		{LabelRule{Allow: []string{"x"}}, "a.b", "x,y", "y: allow: x"},
		{LabelRule{Allow: []string{"x"}}, "a.b", Anywhere, "a.b: allow: x"},
		{LabelRule{Allow: []string{"*"}, Deny: []string{"y"}}, "a.b", "x,y", "y: deny: y"},
		{LabelRule{Allow: []string{"noop"}}, "pipeline", "", "f: allow: noop"},
		{LabelRule{Allow: []string{"f", "g"}}, "pipeline", "", ""},
		{LabelRule{Deny: []string{"x"}}, "pipeline", "x", "x: deny: x"},
	} {
		p := &Policy{Labels: map[string]*LabelRule{"pii": &c.rule}}
		with, err := json.Marshal(map[string]string{"to": c.to, "run": "f(1) -> a; g(a)"})
		if err != nil {
			t.Fatal(err)
		}
		no, refused := p.Refused([]Carried{{"other", "o.o"}, {"pii", "a.b"}}, c.uses, with, reach)
		got := ""
		if refused {
			got = no.To + ": " + strings.TrimPrefix(no.Rule, "policy.labels.pii, ")
		}
		if got != c.want {
			t.Errorf("%+v %s %s: %q, not %q", c.rule, c.uses, c.to, got, c.want)
		}
	}
	if _, refused := (*Policy)(nil).Refused([]Carried{{"pii", "a.b"}}, "a", nil, reach); refused {
		t.Error("a plan without a policy refuses")
	}
}
