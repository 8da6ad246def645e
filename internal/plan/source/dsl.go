package source

import (
	"fmt"
	"strings"
)

// dslReader reads the line language: a `plan` header, then `task` headers, each with an indented
// body. Every line stands for itself, so a fault in one does not hide those in others.
type dslReader struct {
	lines    []string
	at       int // index of the current line
	problems []Problem
	noting   bool // comments are wanted
	comments []Comment
}

// isHeader reports whether a line opens a plan or a task.
func isHeader(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	return (word == "plan" || word == "task") && strings.TrimSpace(rest) != "" && !strings.HasPrefix(strings.TrimSpace(rest), ":")
}

func readDSL(text string) (Node, []Problem) {
	if strings.Count(text, "\n")+marks(text) > MaxValues {
		return Node{}, []Problem{tooMany(1, 1)}
	}
	r := &dslReader{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	root := Node{Kind: Map, Line: 1, Col: 1}
	var tasks []Node
	for ; r.at < len(r.lines); r.at++ {
		line := strings.TrimRight(r.lines[r.at], " \t")
		switch {
		case blank(line):
		case line[0] == ' ' || line[0] == '\t':
			r.fault(1, "this line belongs to no task", "begin with: task <id> \"Title\" kind:<kind>")
			r.skipBody()
		case !isHeader(line):
			r.fault(1, fmt.Sprintf("%q opens neither a plan nor a task", line), "write: task <id> \"Title\" kind:<kind> using:<capability>")
			r.skipBody()
		case strings.HasPrefix(line, "plan"):
			if _, again := root.Get("plan"); again || len(tasks) > 0 {
				r.fault(1, "the plan line stands first, and once", "keep one plan in a file")
			}
			root.Items = append(root.Items, r.header(line, "plan").Items...)
		default:
			tasks = append(tasks, r.header(line, "task"))
		}
	}
	for _, p := range r.problems {
		if p.Code != Duplicate {
			return Node{}, r.problems
		}
	}
	if len(root.Items) == 0 && len(tasks) == 1 {
		return tasks[0], r.problems // a task by itself, as in a file of any form
	}
	root.Items = append(root.Items, Node{Kind: String, Text: "tasks", Line: 1, Col: 1}, Node{Kind: List, Line: 1, Col: 1, Items: tasks})
	return root, r.problems
}

func blank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || t[0] == '#'
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func (r *dslReader) fault(col int, msg, remedy string) {
	if len(r.problems) < 100 {
		r.problems = append(r.problems, Problem{Syntax, r.at + 1, col, msg, remedy})
	}
}

func (r *dslReader) text(s string, col int) Node {
	return Node{Kind: String, Text: s, Line: int32(r.at + 1), Col: int32(col)}
}

// skipBody leaves the cursor on the last line of the body under it.
func (r *dslReader) skipBody() {
	for r.at+1 < len(r.lines) && (blank(r.lines[r.at+1]) || indent(r.lines[r.at+1]) > 0) {
		r.at++
	}
}

// header reads `task <id> "Title" kind:<kind> using:<capability>` and the body below it.
func (r *dslReader) header(line, idKey string) Node {
	n := Node{Kind: Map, Line: int32(r.at + 1), Col: 1}
	at := 5 // after "task " or "plan "
	for named, titled := false, false; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		col := at + 1
		if line[at] == '"' {
			title, rest, ok := r.quoted(line[at:], col)
			if !ok {
				break
			}
			if titled {
				r.fault(col, "a second title", "keep one")
			}
			at, titled = len(line)-len(rest), true
			n.Items = append(n.Items, r.text("title", col), r.text(title, col))
			continue
		}
		word, _, _ := strings.Cut(strings.ReplaceAll(line[at:], "\t", " "), " ")
		at += len(word)
		key, value, pair := strings.Cut(word, ":")
		switch {
		case pair && named:
			n.Items = append(n.Items, r.text(key, col), r.text(value, col+len(key)+1))
		case !named:
			named = true
			n.Items = append(n.Items, r.text(idKey, col), r.text(word, col))
		default:
			r.fault(col, fmt.Sprintf("%q is neither a title nor key:value", word), "put the title in double quotes")
		}
	}
	r.body(&n)
	if key, found := duplicateKey(n.Items); found {
		r.problems = append(r.problems, twice(key))
	}
	return n
}

// quoted reads a JSON string at the beginning of s.
func (r *dslReader) quoted(s string, col int) (text, rest string, ok bool) {
	j := jsonReader{text: s}
	text, ok = j.str()
	if !ok {
		r.fault(col, j.bad.Msg, j.bad.Remedy)
	}
	return text, s[j.at:], ok
}
