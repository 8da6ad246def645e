package source

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// dslWriter writes the line language. What it has no words for stands as YAML in the body of its
// task.
type dslWriter struct {
	yamlWriter
	err error
}

// WriteDSL writes a plan, or a single task, in the line language.
func WriteDSL(n Node, notes Notes) ([]byte, error) {
	w := &dslWriter{yamlWriter: yamlWriter{notes: notes}}
	tasks, ok := n.Get("tasks")
	if !ok || tasks.Kind != List {
		w.block("task", n.Items[0].Text, n, nil)
		return []byte(strings.TrimLeft(w.b.String(), "\n")), w.err
	}
	w.block("plan", "plan", n, nil)
	for i := range tasks.Items {
		w.b.WriteByte('\n')
		w.block("task", "id", tasks.Items[i], &tasks.Items[i])
	}
	w.comments(nil, 0)
	return []byte(strings.TrimLeft(w.b.String(), "\n")), w.err
}

// comments writes what an author said above and beside an entry, without empty lines: blocks are
// set apart anyway.
func (w *dslWriter) comments(n *Node, indent int) {
	note := w.notes[n]
	for _, l := range append(note.Head[:len(note.Head):len(note.Head)], note.Line) {
		if l != "" {
			w.head([]string{l}, indent)
		}
	}
}

// block writes a header and the body under it.
func (w *dslWriter) block(word, idKey string, n Node, item *Node) {
	if item != nil {
		w.comments(item, 0)
	}
	header := []string{word}
	inHeader := map[string]bool{idKey: true, "title": true}
	var title string
	for i := 0; i < len(n.Items); i += 2 {
		key, v := n.Items[i].Text, n.Items[i+1]
		if key == idKey || key == "title" || word == "task" && (key == "kind" || key == "uses") && simple(v.Text) {
			inHeader[key] = true
			w.comments(&n.Items[i], 0)
		}
		switch {
		case key == "title":
			title = string(digest.AppendString(nil, v.Text))
		case key == idKey:
			header = append(header, v.Text)
		case key == "kind" && inHeader[key]:
			header = append(header, "kind:"+v.Text)
		case key == "uses" && inHeader[key]:
			header = append(header, "using:"+v.Text)
		}
	}
	if title != "" {
		header = append(header[:2:2], append([]string{title}, header[2:]...)...)
	}
	w.b.WriteString(strings.Join(header, " ") + "\n")
	for i := 0; i < len(n.Items); i += 2 {
		if key := n.Items[i].Text; !inHeader[key] && (word == "task" || key != "tasks") {
			w.comments(&n.Items[i], 2)
			w.entry(n, i)
		}
	}
}

// simple reports whether a word can stand in a line of words.
func simple(s string) bool { return s != "" && printable(s) && !strings.ContainsAny(s, " \t\"',[]#") }

func (w *dslWriter) entry(n Node, i int) {
	key, v := n.Items[i].Text, n.Items[i+1]
	switch {
	case key == "needs" && words(v):
		w.b.WriteString("  needs:" + joined(v) + "\n")
	case key == "needs":
		w.b.WriteString("  needs:\n") // on one line it would be words
		w.items(v, key, 4)
	case key == "next" && routes(v):
		for r := 0; r < len(v.Items); r += 2 {
			w.b.WriteString("  on " + v.Items[r].Text + " ->" + joined(v.Items[r+1]) + "\n")
		}
	case (key == "expect" || key == "checks" || key == "pre") && criteria(v):
		w.b.WriteString("  " + key + ":\n")
		for _, c := range v.Items {
			w.b.WriteString("    - " + criterion(c) + "\n")
		}
	case key == "run":
		w.run(v)
	default:
		if !simple(key) || strings.ContainsAny(key, ":'") {
			w.err = fault.New(fault.Invalid, "the key %q cannot be written in the DSL", key).Remedy("write the plan as YAML")
		}
		if key == "with" {
			key = "input"
		}
		one := Node{Kind: Map, Items: []Node{Text(key), v}}
		w.entries(one, 2, false)
	}
}

func words(v Node) bool {
	for _, item := range v.Items {
		if item.Kind != String || !simple(item.Text) {
			return false
		}
	}
	return v.Kind == List && len(v.Items) > 0
}

func joined(v Node) string {
	var b strings.Builder
	for _, item := range v.Items {
		b.WriteString(" " + item.Text)
	}
	return b.String()
}

func routes(v Node) bool {
	for i := 0; i < len(v.Items); i += 2 {
		if !words(v.Items[i+1]) {
			return false
		}
	}
	return len(v.Items) > 0
}

func criteria(v Node) bool {
	for _, c := range v.Items {
		if c.Kind != String && (c.Kind != Map || len(c.Items) != 2) {
			return false
		}
	}
	return v.Kind == List && len(v.Items) > 0
}

func criterion(c Node) string {
	prefix := ""
	if c.Kind == Map {
		prefix, c = "judge: ", c.Items[1]
	}
	if s := c.Text; s == "" || s[0] == '"' || strings.TrimSpace(s) != s || strings.HasPrefix(s, "judge:") || !printable(s) {
		return prefix + string(digest.AppendString(nil, s))
	}
	return prefix + c.Text
}

func (w *dslWriter) run(v Node) {
	s := v.Text
	if mark, ok := literal(s); ok && !strings.Contains(s, "\r") {
		w.b.WriteString("  run: " + mark + "\n")
		w.lines(s, 4)
		return
	}
	if printable(s) && strings.TrimSpace(s) == s && s != "" && strings.IndexByte(`"'|>&*!`, s[0]) < 0 {
		w.b.WriteString("  run: " + s + "\n")
		return
	}
	w.b.WriteString("  run: " + doubleQuoted(s) + "\n")
}
