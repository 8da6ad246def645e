package view

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Edit is one operation of a JSON Patch (RFC 6902) between two revisions. Tasks are keyed by their id, so that a path says
// which task it means wherever that stands in the list: /tasks/build/run.
type Edit struct {
	Op    string `json:"op"` // add, remove or replace
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`

	was any
}

// PlanDiff lists what makes one revision of a plan into another, in the order of paths.
func PlanDiff(a, b *plan.Plan) ([]Edit, error) {
	was, err := keyed(a)
	if err != nil {
		return nil, err
	}
	is, err := keyed(b)
	if err != nil {
		return nil, err
	}
	edits := []Edit{}
	compare("", was, is, &edits)
	return edits, nil
}

// keyed is a plan as a tree in which tasks are found by their id.
func keyed(p *plan.Plan) (map[string]any, error) {
	spec, err := p.Encode()
	if err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if err := json.Unmarshal(spec, &tree); err != nil {
		return nil, err
	}
	keyTasks(tree)
	return tree, nil
}

func keyTasks(tree map[string]any) {
	list, ok := tree["tasks"].([]any)
	if !ok {
		return
	}
	tasks := make(map[string]any, len(list))
	for _, v := range list {
		t, ok := v.(map[string]any)
		id, named := t["id"].(string)
		if !ok || !named {
			return
		}
		delete(t, "id")
		if sub, ok := t["subplan"].(map[string]any); ok {
			keyTasks(sub)
		}
		tasks[id] = t
	}
	tree["tasks"] = tasks
}

// compare adds what makes one tree into another.
func compare(at string, was, is map[string]any, into *[]Edit) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		path := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
		a, before := was[k]
		b, after := is[k]
		x, both := a.(map[string]any)
		y, maps := b.(map[string]any)
		switch {
		case !before:
			*into = append(*into, Edit{Op: "add", Path: path, Value: b})
		case !after:
			*into = append(*into, Edit{Op: "remove", Path: path, was: a})
		case both && maps:
			compare(path, x, y, into)
		case text(a) != text(b):
			*into = append(*into, Edit{Op: "replace", Path: path, Value: b, was: a})
		}
	}
}

func text(v any) string {
	b, err := digest.Canonical(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

// PlanDiffText writes edits for people: under each task what became of it.
func PlanDiffText(w io.Writer, edits []Edit, color bool) error {
	var b strings.Builder
	line := func(mark, s string) {
		hue := map[string]string{"+": green, "-": red, "~": cyan}[mark]
		b.WriteString(paint([]piece{{mark + " " + harmless(s), hue}}, 0, color) + "\n")
	}
	last := ""
	for _, e := range edits {
		task, field := taskOf(e.Path)
		if task != "" && task != last && field != "" {
			line("~", task)
		}
		last = task
		name, indent := field, "  "
		if task == "" {
			name, indent = strings.TrimPrefix(e.Path, "/"), ""
		}
		switch {
		case task != "" && field == "" && e.Op == "add":
			line("+", task+gist(e.Value))
		case task != "" && field == "":
			line("-", task+gist(e.was))
		case e.Op == "add":
			line("+", indent+name+": "+text(e.Value))
		case e.Op == "remove":
			line("-", indent+name+": "+text(e.was))
		default:
			line("-", indent+name+": "+text(e.was))
			line("+", indent+name+": "+text(e.Value))
		}
	}
	if len(edits) == 0 {
		b.WriteString("they are the same\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// taskOf splits a path into the task, written parent/child, and what it is of it.
func taskOf(path string) (task, field string) {
	for {
		rest, ok := strings.CutPrefix(path, "/tasks/")
		if !ok {
			return task, strings.TrimPrefix(path, "/")
		}
		id, more, _ := strings.Cut(rest, "/")
		id = strings.NewReplacer("~1", "/", "~0", "~").Replace(id)
		if task != "" {
			task += "/"
		}
		task += id
		if more == "" {
			return task, ""
		}
		path = "/" + more
		if inner, ok := strings.CutPrefix(path, "/subplan/tasks/"); ok {
			path = "/tasks/" + inner
		}
	}
}

// gist tells in a few words what a task does.
func gist(v any) string {
	t, _ := v.(map[string]any)
	uses, _ := t["uses"].(string)
	run, _ := t["run"].(string)
	switch {
	case run != "":
		return "  " + uses + ": " + cut(strings.ReplaceAll(run, "\n", " "), 60)
	case uses != "":
		return "  " + uses
	}
	return ""
}
