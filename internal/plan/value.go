package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// value reads one value by the type of where it goes. Each type has its own shorthands, wherever
// it stands.
func (d *decoder) value(n source.Node, key string, into any) {
	switch v := into.(type) {
	case *string:
		*v = d.text(n, key)
	case *[]string:
		*v = d.texts(n, key)
	case *Kind:
		*v = d.kind(n)
	case *bool:
		*v = d.truth(n, key)
	case **bool:
		b := d.truth(n, key)
		*v = &b
	case *int:
		*v = d.whole(n, key)
	case **int:
		i := d.whole(n, key)
		*v = &i
	case **float64:
		*v = d.share(n, key)
	case *json.RawMessage:
		*v = d.raw(n, key)
		if n.Kind != source.Map && key != "validation" && key != "validate" && key != "validations" && key != "context" {
			d.wrong(n, key, "a map, such as {name: value}")
		}
	case *map[string]string:
		*v = d.env(n, key)
	case *map[string][]string:
		*v = d.roles(n, key)
	case *Duration:
		*v = d.duration(n, key)
	case *Money:
		*v = d.money(n, key)
	case *map[string]Rate:
		*v = d.rates(n, key)
	case *Backoff:
		*v = d.backoff(n, key)
	case *[]Criterion:
		*v = d.criteria(n, key)
	case *[]Task:
		*v = d.taskList(n, key)
	default:
		d.part(n, key, into)
	}
}

// part reads the structs, most of which have a shorthand.
func (d *decoder) part(n source.Node, key string, into any) {
	switch v := into.(type) {
	case **Goal:
		*v = &Goal{}
		d.short(n, &(*v).Objective, *v)
	case **Policy:
		*v = filled(d, n, &Policy{})
	case **Allow:
		*v = filled(d, n, &Allow{})
		(*v).keepEmpty(n)
	case **Budget:
		*v = filled(d, n, &Budget{})
	case **Review:
		*v = filled(d, n, &Review{})
	case **Watch:
		*v = filled(d, n, &Watch{})
	case **Memory:
		if *v = (&Memory{}); n.Kind == source.List {
			(*v).Keys = d.texts(n, key)
			return
		}
		d.record(n, *v)
	case **Approval:
		*v = d.approval(n)
	case **Retry:
		if *v = (&Retry{}); n.Kind == source.Number {
			(*v).Times = d.whole(n, key)
			return
		}
		d.record(n, *v)
	case **Next:
		if *v == nil { // on_success may have come first
			*v = &Next{}
		}
		d.next(n, *v)
	case **Rollback:
		*v = &Rollback{}
		if n.Kind == source.List {
			(*v).Run = strings.Join(d.texts(n, key), "\n")
			return
		}
		d.short(n, &(*v).Run, *v)
	case **Subplan:
		*v = d.subplan(n)
	case *[]Hypothesis:
		*v = list(d, n, key, d.hypothesis)
	case *[]Rule:
		*v = list(d, n, key, func(n source.Node, _ int) (r Rule) {
			d.record(n, &r)
			return r
		})
	case *[]PlanArtifact:
		*v = list(d, n, key, func(n source.Node, _ int) (a PlanArtifact) {
			d.short(n, &a.Name, &a)
			return a
		})
	case *[]FailureMode:
		*v = list(d, n, key, func(n source.Node, _ int) (m FailureMode) {
			d.short(n, &m.Name, &m)
			return m
		})
	case *Outputs:
		*v = d.outputs(n)
	case *map[string]*LabelRule:
		*v = d.labelRules(n, key)
	}
}

func filled[T any](d *decoder, n source.Node, into *T) *T {
	d.record(n, into)
	return into
}

// short reads a struct for which a bare text is its chief field.
func (d *decoder) short(n source.Node, chief *string, into any) {
	if n.Kind == source.String {
		*chief = n.Text
		return
	}
	d.record(n, into)
}

func list[T any](d *decoder, n source.Node, key string, one func(source.Node, int) T) []T {
	if n.Kind != source.List {
		d.wrong(n, key, "a list, such as [a, b]")
		return nil
	}
	if len(n.Items) == 0 {
		return nil
	}
	out := make([]T, len(n.Items))
	for i, item := range n.Items {
		out[i] = one(item, i)
	}
	return out
}

func (d *decoder) text(n source.Node, key string) string {
	if n.Kind != source.String && n.Kind != source.Number {
		if n.Kind == source.List && (key == "run" || key == "command" || key == "commands") {
			return strings.Join(d.texts(n, key), "\n")
		}
		d.wrong(n, key, "text, in quotes if need be")
	}
	return n.Text
}

// texts reads a list of texts; one alone is a list of one.
func (d *decoder) texts(n source.Node, key string) []string {
	if n.Kind == source.String || n.Kind == source.Number {
		return []string{n.Text}
	}
	if n.Kind == source.Map && key == "constraints" {
		return d.pairs(n)
	}
	return list(d, n, key, func(n source.Node, _ int) string { return d.text(n, "an item of "+key) })
}

// pairs reads a map as a list of "key: value".
func (d *decoder) pairs(n source.Node) (out []string) {
	for i := range n.Len() {
		k, v := n.Entry(i)
		text := v.Text
		if v.Kind == source.List || v.Kind == source.Map {
			text = string(d.raw(v, k.Text))
		}
		out = append(out, k.Text+": "+text)
	}
	return out
}

func (d *decoder) truth(n source.Node, key string) bool {
	if n.Kind != source.Bool {
		d.wrong(n, key, "true or false")
	}
	return n.Text == "true"
}

func (d *decoder) whole(n source.Node, key string) int {
	i, err := strconv.ParseInt(n.Text, 10, 32)
	switch {
	case n.Kind != source.Number:
		d.wrong(n, key, "a whole number, such as 3")
	case err != nil:
		d.fault(n, CodeNumber, "write a whole number, such as 3", "%s is %s, which is no whole number in reach", key, n.Text)
	case i < 0 && key != "priority":
		d.fault(n, CodeNumber, "write 0 or more", "%s is %s, and cannot be less than nothing", key, n.Text)
	default:
		return int(i)
	}
	return 0
}

func (d *decoder) share(n source.Node, key string) *float64 {
	f, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != source.Number || err != nil || f < 0 || f > 1 {
		d.fault(n, CodeNumber, "write a number such as 0.4", "%s is no number from 0 to 1", key)
		return nil
	}
	return &f
}

func (d *decoder) criteria(n source.Node, key string) []Criterion {
	if n.Kind != source.List {
		if c, ok := d.criterion(n, key); ok {
			return []Criterion{c}
		}
		return nil
	}
	if len(n.Items) == 0 {
		return nil
	}
	out := make([]Criterion, 0, len(n.Items))
	for _, item := range n.Items {
		if c, ok := d.criterion(item, "an item of "+key); ok {
			out = append(out, c)
		}
	}
	return out
}

func (d *decoder) env(n source.Node, key string) map[string]string {
	out := map[string]string{}
	switch n.Kind {
	case source.Map:
		for i := range n.Len() {
			k, v := n.Entry(i)
			if v.Kind == source.List || v.Kind == source.Map {
				d.wrong(v, key+"."+k.Text, "text, in quotes if need be")
				continue
			}
			out[k.Text] = v.Text
		}
	case source.List:
		for _, item := range n.Items {
			name, value, ok := strings.Cut(item.Text, "=")
			if item.Kind != source.String || !ok || name == "" {
				d.fault(item, CodeType, "write NAME: value", "an item of %s is no NAME=value", key)
				continue
			}
			out[name] = value
		}
	default:
		d.wrong(n, key, "a map, such as {NAME: value}")
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (d *decoder) roles(n source.Node, key string) map[string][]string {
	if n.Kind != source.Map {
		d.wrong(n, key, "a map of kinds and roles, such as {deploy: [lead]}")
		return nil
	}
	if n.Len() == 0 {
		return nil
	}
	out := make(map[string][]string, n.Len())
	for i := range n.Len() {
		k, v := n.Entry(i)
		out[k.Text] = d.texts(v, key+"."+k.Text)
	}
	return out
}
