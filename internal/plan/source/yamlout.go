package source

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Note is what an author wrote beside an entry of the tree for other people.
type Note struct {
	Head []string // lines above it; an empty one is an empty line
	Line string   // at the end of its line
}

// says reports whether there is more to a note than empty lines.
func (n Note) says() bool {
	return n.Line != "" || slices.ContainsFunc(n.Head, func(l string) bool { return l != "" })
}

// Notes belong to entries: the key of a map's entry, or the item of a list. The nil key has what
// follows the last entry.
type Notes map[*Node]Note

// flowWidth is how long a list or map may be that is written on one line.
const flowWidth = 66

// yamlWriter writes the canonical layout: one that depends on the tree and its notes alone, so that
// writing what was read back changes nothing.
type yamlWriter struct {
	b     strings.Builder
	notes Notes
}

// WriteYAML writes a map as a YAML file.
func WriteYAML(n Node, notes Notes) []byte {
	w := &yamlWriter{notes: notes}
	w.entries(n, 0, false)
	tail := notes[nil].Head
	for len(tail) > 0 && tail[len(tail)-1] == "" {
		tail = tail[:len(tail)-1]
	}
	w.head(tail, 0)
	return []byte(strings.TrimLeft(w.b.String(), "\n"))
}

func (w *yamlWriter) head(lines []string, indent int) {
	for _, l := range lines {
		if l != "" {
			w.pad(indent)
			w.b.WriteString(l)
		}
		w.b.WriteByte('\n')
	}
}

// noGap drops empty lines at the top, which would part a key from what stands under it.
func noGap(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

func (w *yamlWriter) pad(indent int) {
	for range indent {
		w.b.WriteByte(' ')
	}
}

// entries writes a map in block form. Where started, the first line is begun already by a dash.
func (w *yamlWriter) entries(n Node, indent int, started bool) {
	for i := 0; i < len(n.Items); i += 2 {
		note := w.notes[&n.Items[i]]
		if i == 0 {
			note.Head = noGap(note.Head)
		}
		if !started || i > 0 {
			w.head(note.Head, indent)
			w.pad(indent)
		}
		w.b.WriteString(yamlScalar(n.Items[i], false))
		w.b.WriteByte(':')
		w.value(n.Items[i+1], n.Items[i].Text, indent, note.Line)
	}
}

// value writes what follows a key, up to the end of the line or of the block below it.
func (w *yamlWriter) value(n Node, key string, indent int, comment string) {
	if mark, ok := literal(n.Text); ok && n.Kind == String {
		w.end(" "+mark, comment)
		w.lines(n.Text, indent+2)
		return
	}
	if n.Kind != Map && n.Kind != List {
		w.end(" "+yamlScalar(n, false), comment)
		return
	}
	if flow, ok := w.flow(n); ok {
		w.end(" "+flow, comment)
		return
	}
	w.end("", comment)
	if n.Kind == Map {
		w.entries(n, indent+2, false)
		return
	}
	w.items(n, key, indent+2)
}

func (w *yamlWriter) end(s, comment string) {
	w.b.WriteString(s)
	if comment != "" {
		w.b.WriteString(" " + comment)
	}
	w.b.WriteByte('\n')
}

func (w *yamlWriter) lines(text string, indent int) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" {
			w.pad(indent)
			w.b.WriteString(line)
		}
		w.b.WriteByte('\n')
	}
}

func (w *yamlWriter) items(n Node, key string, indent int) {
	for i := range n.Items {
		item := &n.Items[i]
		note := w.notes[item]
		if i == 0 {
			note.Head = noGap(note.Head)
		}
		w.head(note.Head, indent)
		inner := item.Kind == Map && len(item.Items) > 0
		if inner {
			// The first key shares the dash's line, so its comments go above.
			w.head(w.notes[&item.Items[0]].Head, indent)
		}
		w.pad(indent)
		w.b.WriteByte('-')
		flow, ok := "", false
		if item.Kind == List || item.Kind == Map && key != "tasks" {
			flow, ok = w.flow(*item)
		}
		switch {
		case ok:
			w.end(" "+flow, note.Line)
		case inner:
			w.b.WriteByte(' ')
			w.entries(*item, indent+2, true)
		case item.Kind == List:
			w.end("", note.Line)
			w.items(*item, "", indent+2)
		default:
			w.value(*item, "", indent, note.Line)
		}
	}
}

// flow writes a short list or map of scalars on one line.
func (w *yamlWriter) flow(n Node) (string, bool) {
	if len(n.Items) == 0 {
		if n.Kind == Map {
			return "{}", true
		}
		return "[]", true
	}
	var b strings.Builder
	for i := range n.Items {
		item := &n.Items[i]
		if item.Kind == List || item.Kind == Map || w.notes[item].says() || strings.Contains(item.Text, "\n") {
			return "", false
		}
		switch {
		case n.Kind == Map && i%2 == 1:
			b.WriteString(": ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(yamlScalar(*item, true))
		if b.Len() > 2*flowWidth {
			return "", false
		}
	}
	if utf8.RuneCountInString(b.String()) > flowWidth {
		return "", false
	}
	if n.Kind == Map {
		return "{" + b.String() + "}", true
	}
	return "[" + b.String() + "]", true
}
