package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// maxID bounds an id, which becomes part of file names, branches and task queues.
const maxID = 100

// validID reports whether s can name a plan or a task: letters, digits, - and _, as references
// read them.
func validID(s string) bool {
	if s == "" || len(s) > maxID || s[0] == '-' || s[0] == '_' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// reserved ids would hide the other roots of a reference.
var reserved = []string{expr.Inputs, expr.Item, expr.Index, expr.Secret}

// identify gives every task an id, and finds those that are not lawful or not their own.
func (c *checker) identify(root source.Node) {
	if at, ok := root.Get("plan"); !validID(c.plan.Name) && !c.fragment {
		if !ok {
			at = root
		}
		c.badID(at, "the name of the plan", c.plan.Name)
	}
	for _, s := range c.scopes {
		c.file = s.file
		s.index = make(map[string]int32, len(s.tasks))
		for i := range s.tasks {
			c.own(s, i)
		}
		c.generate(s)
	}
	if c.fragment {
		c.plan.Name = c.plan.Tasks[0].ID
	}
}

func (c *checker) badID(n source.Node, what, id string) {
	remedy := "use letters, digits, - and _, and begin with a letter or a digit"
	if better := identifier(id); better != id && validID(better) {
		remedy += fmt.Sprintf(": %s", better)
	}
	c.fault(n, CodeID, remedy, "%s is %q, which cannot be an id", what, id)
}

// own enters the id that a task was given. The star of a wildcard is no part of it.
func (c *checker) own(s *scope, i int) {
	t := &s.tasks[i]
	if t.ID == "" {
		return
	}
	id, star := strings.CutSuffix(t.ID, "-*")
	if star {
		c.stars = append(c.stars, starred{s, i})
		t.ID = id
	}
	switch first, taken := s.index[id]; {
	case !validID(id):
		c.badID(s.node(i, "id"), "the id of a task", id)
	case slices.Contains(reserved, id):
		c.fault(s.node(i, "id"), CodeID, "choose another", "the id %q is taken: ${%s} means something else", id, id)
	case taken:
		c.fault(s.node(i, "id"), CodeDuplicate, "give one of them another id", "two tasks have the id %q; the first is on line %d", id, s.nodes[first].Line)
		return
	}
	s.index[id] = int32(i)
}

// generate names what has no id plan-<shortname>-<nn>, and puts bare texts one after the other.
func (c *checker) generate(s *scope) {
	for i := range s.tasks {
		t := &s.tasks[i]
		for nn := i + 1; t.ID == ""; nn++ {
			id := fmt.Sprintf("plan-%s-%02d", c.plan.Shortname(), nn)
			if _, taken := s.index[id]; !taken {
				t.ID, s.index[id] = id, int32(i)
			}
		}
		if i > 0 && s.nodes[i].Kind == source.String {
			t.Needs = []string{s.tasks[i-1].ID}
		}
	}
}

type starred struct {
	scope *scope
	at    int
}

// wildcards makes x-* range over the one list that its one need gives.
func (c *checker) wildcards() {
	for _, star := range c.stars {
		s, t := star.scope, &star.scope.tasks[star.at]
		c.file = s.file
		if t.Each != "" {
			continue
		}
		n := s.node(star.at, "id")
		if len(t.Needs) == 1 {
			if in, at, ok := s.find(t.Needs[0]); ok {
				if lists := c.lists(&in.tasks[at]); len(lists) == 1 {
					t.Each = "${" + in.tasks[at].ID + "." + lists[0] + "}"
					continue
				}
			}
		}
		remedy := "write each: ${TASK.OUTPUT}, or declare one output of type list on the task it needs"
		if t.Uses != "" || t.Run != "" {
			c.fault(n, CodeEach, remedy, "%s-* has no list to range over", t.ID)
			continue
		}
		c.warn(n, WarnWildcard, remedy, "%s-* has no list to range over, so it runs once and asks a person", t.ID)
	}
}

// lists names the outputs of a task that are declared to be lists.
func (c *checker) lists(t *Task) (names []string) {
	add := func(name, typ string) {
		if strings.HasPrefix(typ, "list") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, o := range t.Outputs {
		add(o.Name, o.Type)
	}
	for _, a := range t.Artifacts {
		add(a.Name, a.Type)
	}
	for _, a := range c.plan.Artifacts {
		if a.From == t.ID {
			add(a.Name, a.Type)
		}
	}
	return names
}

// gateKeys are what the gates list of a plan may add to a task.
var gateKeys = []string{"id", "title", "description", "checks", "approve", "pre", "evidence", "needs", "owner", "labels", "rationale", "next", "failure"}

// mergeGates adds what the gates list says to the gate of the same id.
func (c *checker) mergeGates() {
	s := c.scopes[0]
	c.file = s.file
	r := recordOf(reflect.TypeFor[Task]())
	for _, n := range c.gates {
		if !c.gate(n, r) {
			continue
		}
		var g Task
		c.record(n, &g)
		at, ok := s.index[g.ID]
		if !ok {
			c.missing(s, n, g.ID, "gates names")
			continue
		}
		t := &s.tasks[at]
		if t.Kind != Gate && t.Kind != "" {
			c.fault(n, CodeKind, "make it kind: gate", "gates names %s, which is of kind %s", t.ID, t.Kind)
		}
		t.Kind = Gate
		c.join(n, t, &g, r)
	}
}

// gate reports whether an entry of the gates list has a shape that can be added to a task.
func (c *checker) gate(n source.Node, r *record) bool {
	if n.Kind != source.Map {
		c.wrong(n, "an entry of gates", "a map, such as {id: ..., checks: [...]}")
		return false
	}
	for i := range n.Len() {
		key, _ := n.Entry(i)
		if at, known := r.keys[key.Text]; known && !slices.Contains(gateKeys, r.fields[at].name) {
			c.fault(key, CodeKey, "put it on the task itself", "an entry of gates has no key %q", key.Text)
			return false
		}
	}
	return true
}

// join adds the fields of g to t, lists to lists.
func (c *checker) join(n source.Node, t, g *Task, r *record) {
	to, from := reflect.ValueOf(t).Elem(), reflect.ValueOf(g).Elem()
	for _, f := range r.fields {
		a, b := to.Field(f.index), from.Field(f.index)
		switch {
		case b.IsZero() || f.name == "id":
		case a.IsZero():
			a.Set(b)
		case a.Kind() == reflect.Slice:
			a.Set(reflect.AppendSlice(a, b))
		default:
			c.fault(n, CodeDuplicate, "say it in one place", "gates says %s of %s again", f.name, t.ID)
		}
	}
	for k, v := range g.Extra {
		if t.Extra == nil {
			t.Extra = g.Extra
			break
		}
		t.Extra[k] = v
	}
}
