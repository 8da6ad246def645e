package source

import (
	"fmt"
	"strings"
)

// jsonReader reads RFC 8259 in one pass. Strings without escapes share the text's memory.
type jsonReader struct {
	text  string
	at    int
	line  int32
	start int // offset of the line, less the bytes that are no characters of their own
	stack []Node
	slab  slab
	count int
	bad   *Problem
	twice []Problem
}

func readJSON(text string) (Node, []Problem) {
	r := &jsonReader{text: text, line: 1}
	n, ok := r.value(0)
	if ok {
		r.space()
		if r.at < len(r.text) {
			r.fail("something follows the end of the value", "keep one value in the file")
		}
	}
	if r.bad != nil {
		return Node{}, []Problem{*r.bad}
	}
	return n, r.twice
}

func (r *jsonReader) fail(msg, remedy string) {
	if r.bad == nil {
		r.bad = &Problem{Syntax, int(r.line), r.at - r.start + 1, msg, remedy}
	}
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '\n':
			r.line++
			r.start = r.at + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		r.at++
	}
}

// peek skips space and shows the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	r.space()
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) value(depth int) (Node, bool) {
	c := r.peek()
	n := Node{Line: r.line, Col: int32(r.at - r.start + 1)}
	if r.count++; r.count > MaxValues || depth > MaxDepth {
		p := tooDeep(int(n.Line), int(n.Col))
		if r.count > MaxValues {
			p = tooMany(int(n.Line), int(n.Col))
		}
		r.bad = &p
		return n, false
	}
	switch {
	case c == '"':
		n.Kind = String
		var ok bool
		n.Text, ok = r.str()
		return n, ok
	case c == '{':
		return r.object(n, depth)
	case c == '[':
		return r.list(n, depth)
	case c == '-' || '0' <= c && c <= '9':
		n.Kind = Number
		ok := r.number(&n)
		return n, ok
	}
	ok := r.word(&n)
	return n, ok
}

func (r *jsonReader) word(n *Node) bool {
	rest := r.text[r.at:]
	for _, w := range []string{"true", "false", "null"} {
		if strings.HasPrefix(rest, w) {
			r.at += len(w)
			if n.Kind = Bool; w == "null" {
				n.Kind = Null
			}
			n.Text = w
			return true
		}
	}
	if rest == "" {
		r.fail("the text ends where a value is expected", "close what was opened before")
	} else {
		r.fail(fmt.Sprintf("%q begins no JSON value", firstRune(rest)), `write a string in double quotes, a number, true, false, null, { or [`)
	}
	return false
}

func firstRune(s string) string {
	for _, c := range s {
		return string(c)
	}
	return ""
}

func (r *jsonReader) list(n Node, depth int) (Node, bool) {
	n.Kind = List
	r.at++
	base := len(r.stack)
	for first := true; ; first = false {
		if r.peek() == ']' && first {
			r.at++
			return n, true
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return n, false
		}
		r.stack = append(r.stack, v)
		switch r.peek() {
		case ',':
			r.at++
			continue
		case ']':
			r.at++
			n.Items = r.slab.copy(r.stack[base:])
			r.stack = r.stack[:base]
			return n, true
		}
		r.fail("a comma or ] is missing here", fmt.Sprintf("the list began on line %d", n.Line))
		return n, false
	}
}

func (r *jsonReader) object(n Node, depth int) (Node, bool) {
	n.Kind = Map
	r.at++
	base := len(r.stack)
	for first := true; ; first = false {
		if r.peek() == '}' && first {
			r.at++
			return n, true
		}
		if !r.member(depth) {
			return n, false
		}
		switch r.peek() {
		case ',':
			r.at++
			continue
		case '}':
			r.at++
			n.Items = r.slab.copy(r.stack[base:])
			r.stack = r.stack[:base]
			if key, found := duplicateKey(n.Items); found && len(r.twice) < 100 {
				r.twice = append(r.twice, twice(key))
			}
			return n, true
		}
		r.fail("a comma or } is missing here", fmt.Sprintf("the object began on line %d", n.Line))
		return n, false
	}
}

// member pushes one key and its value.
func (r *jsonReader) member(depth int) bool {
	if r.peek() != '"' {
		r.fail("a key in double quotes is expected here", `write "key": value, with no comma after the last`)
		return false
	}
	key := Node{Kind: String, Line: r.line, Col: int32(r.at - r.start + 1)}
	var ok bool
	if key.Text, ok = r.str(); !ok {
		return false
	}
	if r.peek() != ':' {
		r.fail(fmt.Sprintf("a colon is missing after the key %q", key.Text), `write "key": value`)
		return false
	}
	r.at++
	r.stack = append(r.stack, key)
	v, ok := r.value(depth + 1)
	if ok {
		r.stack = append(r.stack, v)
	}
	return ok
}

// number checks the grammar of JSON; the text is kept, for a double may not hold it.
func (r *jsonReader) number(n *Node) bool {
	begin := r.at
	digits := func() bool {
		from := r.at
		for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
			r.at++
		}
		return r.at > from
	}
	has := func(set string) bool {
		if r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
			r.at++
			return true
		}
		return false
	}
	has("-")
	ok := has("0") || digits()
	if ok && has(".") {
		ok = digits()
	}
	if ok && has("eE") {
		has("+-")
		ok = digits()
	}
	if ok && r.at < len(r.text) && strings.IndexByte("0123456789.eE+-_", r.text[r.at]) >= 0 {
		ok = false
	}
	if !ok {
		r.fail("this is no JSON number", "write digits, or put it in double quotes")
		return false
	}
	n.Text = r.text[begin:r.at]
	return true
}
