package source

import (
	"fmt"
	"strings"
)

// body reads the indented lines under a header into its map.
func (r *dslReader) body(n *Node) {
	var next []Node // on success, on failure
	for r.at+1 < len(r.lines) {
		line := strings.TrimRight(r.lines[r.at+1], " \t")
		if blank(line) {
			if r.leads(r.at + 1) {
				break // a comment above the next header is not ours
			}
			r.at++
			r.note()
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			break
		}
		r.at++
		in := indent(line)
		if line[in] == '\t' {
			r.fault(in+1, "the line is indented with a tab", "indent with spaces")
			continue
		}
		if route, ok := strings.CutPrefix(line[in:], "on "); ok {
			next = append(next, r.route(route, in)...)
			continue
		}
		key, rest, ok := strings.Cut(line[in:], ":")
		if !ok || strings.ContainsAny(key, " \t\"'") {
			r.fault(in+1, fmt.Sprintf("%q is no entry of a task", line[in:]), "write key: value, or: on failure -> <task id>")
			continue
		}
		r.entry(n, key, rest, in)
	}
	if len(next) > 0 {
		first := next[0]
		n.Items = append(n.Items, Node{Kind: String, Text: "next", Line: first.Line, Col: first.Col},
			Node{Kind: List, Line: first.Line, Col: first.Col, Items: next})
	}
}

// leads reports whether only comments and empty lines lie between line i and the next header or
// the end.
func (r *dslReader) leads(i int) bool {
	for ; i < len(r.lines); i++ {
		if !blank(r.lines[i]) {
			return r.lines[i][0] != ' ' && r.lines[i][0] != '\t'
		}
	}
	return true
}

// route reads `failure -> a b` as {on: failure, to: [a, b]}.
func (r *dslReader) route(s string, in int) []Node {
	on, to, ok := strings.Cut(s, "->")
	on = strings.TrimSpace(on)
	if !ok || on != "success" && on != "failure" || strings.Trim(to, " \t,[]") == "" {
		r.fault(in+1, "a route is on success or on failure", "write: on failure -> <task id>")
		return nil
	}
	col := in + len("on ") + len(s) - len(to) + 1
	ids := r.words(to, col)
	m := Node{Kind: Map, Line: int32(r.at + 1), Col: int32(in + 1)}
	m.Items = []Node{r.text("on", in+1), r.text(on, in+4), r.text("to", col), ids}
	return []Node{m}
}

// words reads ids set apart by spaces or commas, in brackets or not.
func (r *dslReader) words(s string, col int) Node {
	list := Node{Kind: List, Line: int32(r.at + 1), Col: int32(col)}
	for i := 0; i < len(s); {
		if strings.IndexByte(" \t,[]", s[i]) >= 0 {
			i++
			continue
		}
		end := i + strings.IndexAny(s[i:]+" ", " \t,[]")
		list.Items = append(list.Items, r.text(s[i:end], col+i))
		i = end
	}
	return list
}

// entry reads one key of a body with all that is indented under it. Ids and prose are taken as
// they stand; anything else is a piece of YAML.
func (r *dslReader) entry(n *Node, key, rest string, in int) {
	keyNode := r.text(key, in+1)
	value := strings.TrimSpace(rest)
	col := in + len(key) + 2 + len(rest) - len(strings.TrimLeft(rest, " \t"))
	first := r.at
	end := r.bodyEnd(in)
	var v Node
	switch {
	case key == "needs" && value != "" && !strings.ContainsAny(value, `"'`):
		v = r.words(rest, in+len(key)+2)
	case key == "run" && (value == "|" || value == "|-" || value == "|+"):
		v = r.block(end, value, col)
	case key == "run" && value != "" && value[0] != '"' && value[0] != '\'' && value[0] != '>' && value[0] != '|':
		v = r.text(value, col)
		if end > first+1 {
			r.at++
			r.fault(indent(r.lines[r.at])+1, "this line belongs to nothing", "write run: | and the commands below it")
		}
	case (key == "expect" || key == "checks" || key == "pre") && value == "" && r.dashed(end):
		v = r.criteria(end, col)
	default:
		v = r.yaml(first, end, key)
	}
	r.at = end - 1
	n.Items = append(n.Items, keyNode, v)
}

// bodyEnd is the index of the first line that is no longer part of the entry at the cursor.
func (r *dslReader) bodyEnd(in int) int {
	end := r.at + 1
	for i := r.at + 1; i < len(r.lines); i++ {
		l := r.lines[i]
		if strings.TrimSpace(l) == "" {
			continue
		}
		if indent(l) <= in {
			break
		}
		end = i + 1
	}
	return end
}

// block reads the lines under `run: |`, less their common indentation.
func (r *dslReader) block(end int, chomp string, col int) Node {
	n := r.text("", col)
	lines := r.lines[r.at+1 : end]
	if len(lines) == 0 {
		return n
	}
	in := -1
	for _, l := range lines {
		if strings.TrimSpace(l) != "" && (in < 0 || indent(l) < in) {
			in = indent(l)
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[min(max(in, 0), len(l)):])
		b.WriteByte('\n')
	}
	if n.Text = b.String(); chomp == "|-" {
		n.Text = strings.TrimSuffix(n.Text, "\n")
	}
	return n
}

// dashed reports whether the entry at the cursor is a plain list of lines, one item each.
func (r *dslReader) dashed(end int) bool {
	found := false
	for _, l := range r.lines[r.at+1 : end] {
		switch t := strings.TrimSpace(l); {
		case t == "" || t[0] == '#':
		case strings.HasPrefix(t, "- "):
			found = true
		default:
			return false
		}
	}
	return found
}

// criteria reads a list of lines, each as it stands: `judge: text` is prose, a whole line in double
// quotes is a JSON string.
func (r *dslReader) criteria(end, col int) Node {
	list := Node{Kind: List, Line: int32(r.at + 1), Col: int32(col)}
	for r.at++; r.at < end; r.at++ {
		l := strings.TrimRight(r.lines[r.at], " \t")
		if blank(l) {
			continue
		}
		dash := strings.IndexByte(l, '-')
		text := strings.TrimLeft(l[dash+1:], " \t")
		at := len(l) - len(text) + 1
		judge, isJudge := strings.CutPrefix(text, "judge:")
		if isJudge {
			text = strings.TrimSpace(judge)
		}
		if j := (jsonReader{text: text}); strings.HasPrefix(text, `"`) {
			if s, ok := j.str(); ok && j.at == len(text) {
				text = s
			}
		}
		item := r.text(text, at)
		if isJudge {
			item = Node{Kind: Map, Line: item.Line, Col: item.Col, Items: []Node{r.text("judge", at), item}}
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// yaml reads the entry from line first up to end as a map of one key.
func (r *dslReader) yaml(first, end int, key string) Node {
	text := strings.Join(r.lines[first:end], "\n") + "\n"
	for _, c := range r.inside(text) {
		c.Line += first
		r.comments = append(r.comments, c)
	}
	m, problems := readYAML(text, int32(first))
	if len(problems) > 0 {
		r.problems = append(r.problems, problems...)
		return Node{}
	}
	v, ok := m.Get(key)
	if !ok || m.Len() != 1 {
		r.fault(1, fmt.Sprintf("the value of %q cannot be read", key), "write it as YAML, indented under its key")
	}
	return v
}

// inside lists the comments within the value of an entry.
func (r *dslReader) inside(text string) []Comment {
	if !r.noting {
		return nil
	}
	return yamlComments(strings.TrimSuffix(text, "\n"))
}
