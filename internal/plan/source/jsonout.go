package source

import (
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/digest"
)

// WriteJSON writes a tree as JSON for people: keys in the order of the tree, small values on one
// line.
func WriteJSON(n Node) []byte {
	var w jsonWriter
	w.value(n, "", 0)
	return append(w.b, '\n')
}

type jsonWriter struct{ b []byte }

// value writes n, which stands under a key of the map around it.
func (w *jsonWriter) value(n Node, key string, indent int) {
	if n.Kind != List && n.Kind != Map {
		w.scalar(n)
		return
	}
	begin, end := byte('['), byte(']')
	if n.Kind == Map {
		begin, end = '{', '}'
	}
	w.b = append(w.b, begin)
	short := key != "tasks" && inline(n)
	for i := 0; i < len(n.Items); i++ {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !short {
			w.line(indent + 2)
		} else if i > 0 {
			w.b = append(w.b, ' ')
		}
		under := ""
		if n.Kind == Map {
			under = n.Items[i].Text
			w.b = append(digest.AppendString(w.b, n.Items[i].Text), ": "...)
			i++
		}
		w.value(n.Items[i], under, indent+2)
	}
	if !short {
		w.line(indent)
	}
	w.b = append(w.b, end)
}

func (w *jsonWriter) scalar(n Node) {
	switch n.Kind {
	case Null:
		w.b = append(w.b, "null"...)
	case String:
		w.b = digest.AppendString(w.b, n.Text)
	default:
		w.b = append(w.b, n.Text...)
	}
}

func (w *jsonWriter) line(indent int) {
	w.b = append(append(w.b, '\n'), strings.Repeat(" ", indent)...)
}

// inline reports whether a value is short and simple enough for one line.
func inline(n Node) bool {
	width := 0
	for _, item := range n.Items {
		if item.Kind == List || item.Kind == Map {
			return false
		}
		width += utf8.RuneCountInString(item.Text) + 4
	}
	return width <= flowWidth
}
