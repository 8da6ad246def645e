package plan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

func (d *decoder) approval(n source.Node) *Approval {
	a := &Approval{}
	switch {
	case n.Kind == source.List && len(n.Items) == 1:
		a.Role = d.text(n.Items[0], "approve")
	case n.Kind == source.Bool && n.Text == "true":
	default:
		d.short(n, &a.Role, a)
	}
	return a
}

// next reads {success: ..., failure: ...}, a list of {on, to}, or the one task that follows.
func (d *decoder) next(n source.Node, into *Next) {
	switch n.Kind {
	case source.Map:
		d.record(n, into)
	case source.List:
		for _, item := range n.Items {
			on, has := item.Get("on")
			to, leads := item.Get("to")
			if item.Kind == source.String {
				on, to, has, leads = source.Text("success"), item, true, true
			}
			if !has || !leads || item.Kind == source.Map && item.Len() != 2 {
				d.fault(item, CodeType, "write {on: success, to: TASK}", "an item of next does not say on what and to where")
				continue
			}
			d.route(to, on.Text, into)
		}
	default:
		into.Success = d.texts(n, "next")
	}
}

func (d *decoder) route(to source.Node, on string, into *Next) {
	switch on {
	case "success":
		into.Success = append(into.Success, d.texts(to, "next.success")...)
	case "failure":
		into.Failure = append(into.Failure, d.texts(to, "next.failure")...)
	default:
		d.fault(to, CodeEnum, "write success or failure", "next is on %q, which is neither success nor failure", on)
	}
}

// hypothesis reads a map, an id, or "H1: what it says".
func (d *decoder) hypothesis(n source.Node, i int) (h Hypothesis) {
	if n.Kind != source.String {
		d.record(n, &h)
		return h
	}
	id, says, _ := strings.Cut(n.Text, ":")
	if id = strings.TrimSpace(id); validID(id) {
		return Hypothesis{ID: id, Says: strings.TrimSpace(says)}
	}
	return Hypothesis{ID: fmt.Sprintf("h%d", i+1), Says: n.Text}
}

// outputs reads a map by name, or a list of files and names. The order is that of the names, as
// in the canonical form.
func (d *decoder) outputs(n source.Node) Outputs {
	var out Outputs
	switch n.Kind {
	case source.Map:
		for i := range n.Len() {
			k, v := n.Entry(i)
			out = append(out, d.output(k.Text, v))
		}
	case source.List:
		taken := map[string]bool{}
		for _, item := range n.Items {
			o := d.listed(item, taken)
			taken[o.Name] = true
			out = append(out, o)
		}
	case source.String:
		out = Outputs{d.listed(n, nil)}
	default:
		d.wrong(n, "outputs", "a map of names, such as {notes: {type: markdown}}")
	}
	slices.SortStableFunc(out, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// outputTypes are the words that a bare text may be; anything else tells where the output is found.
var outputTypes = []string{"text", "json", "number", "bool", "list", "map", "markdown", "file", "yaml", "csv", "html", "image", "url", "diff", "log"}

func (d *decoder) output(name string, n source.Node) Output {
	o := Output{Name: name}
	switch {
	case n.Kind == source.Null:
	case n.Kind != source.String:
		d.record(n, &o)
	case slices.Contains(outputTypes, n.Text) || strings.HasPrefix(n.Text, "list[") || strings.HasPrefix(n.Text, "map["):
		o.Type = n.Text
	case n.Text == "stdout" || n.Text == "stderr" || strings.HasPrefix(n.Text, "artifacts.") || strings.HasPrefix(n.Text, "${"):
		o.From = n.Text
	case strings.ContainsAny(n.Text, "./"):
		o.Path = n.Text
	default:
		d.fault(n, CodeType, "write a type, a file, stdout or stderr", "the output %s is %q, which is no type, file or stream", name, n.Text)
	}
	return o
}

// listed reads an item of a list of outputs: a file is named after itself, its ending left out
// unless two would have one name.
func (d *decoder) listed(n source.Node, taken map[string]bool) Output {
	if n.Kind == source.Map {
		if name, ok := n.Get("name"); ok {
			rest := n
			rest.Items = nil
			for i := range n.Len() {
				if k, v := n.Entry(i); k.Text != "name" {
					rest.Items = append(rest.Items, k, v)
				}
			}
			return d.output(d.text(name, "name"), rest)
		}
	}
	text := d.text(n, "an item of outputs")
	if !strings.ContainsAny(text, "./") {
		return Output{Name: text}
	}
	base, ext := path.Base(text), path.Ext(text)
	name := identifier(strings.TrimSuffix(base, ext))
	if taken[name] || name == "" {
		name = identifier(base)
	}
	types := map[string]string{".md": "markdown", ".json": "json", ".txt": "text", ".log": "text"}
	return Output{Name: name, Path: text, Type: cmp.Or(types[ext], "file")}
}

// identifier makes a name of any text.
func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s, "-_")
}
