package source

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Comment is a comment of a source text, or an empty line, which groups entries as a comment does.
type Comment struct {
	Line     int
	Text     string // with its #; empty for an empty line
	Trailing bool   // something stands before it on its line
}

// Comments lists the comments of a text. JSON has none.
func Comments(form Form, src []byte) []Comment {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\uFEFF"), "\r\n", "\n")
	switch form {
	case YAML:
		return yamlComments(text)
	case DSL:
		r := &dslReader{lines: strings.Split(text, "\n"), noting: true}
		for ; r.at < len(r.lines); r.at++ {
			if r.note(); isHeader(r.lines[r.at]) {
				r.header(r.lines[r.at], "task")
			}
		}
		return r.comments
	}
	return nil
}

// note keeps the comment or the empty line under the cursor.
func (r *dslReader) note() {
	if t := strings.TrimSpace(r.lines[r.at]); t == "" || t[0] == '#' {
		r.comments = append(r.comments, Comment{Line: r.at + 1, Text: t})
	}
}

func yamlComments(text string) (out []Comment) {
	doc, p := parseYAML(text)
	if p != nil || doc == nil {
		return nil
	}
	lines := strings.Split(text, "\n")
	inside := make([]int, len(lines)+1)
	maskScalars(doc, lines, inside)
	for i, line := range lines {
		t := strings.TrimSpace(line)
		switch from := inside[i]; {
		case from == 0 && (t == "" || t[0] == '#'):
			out = append(out, Comment{Line: i + 1, Text: t})
		case from <= len(line):
			if at := trailing(line, from); at >= 0 {
				out = append(out, Comment{Line: i + 1, Text: strings.TrimSpace(line[at:]), Trailing: true})
			}
		}
	}
	return out
}

// whole marks a line that is text from end to end.
const whole = math.MaxInt

// maskScalars notes, for the lines that a scalar of several lines goes on to, up to where they are
// its text, in which # means nothing.
func maskScalars(y *yaml.Node, lines []string, inside []int) {
	if y.Kind == yaml.ScalarNode {
		switch {
		case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			maskBlock(y.Line, lines, inside)
		case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			maskQuoted(y, lines, inside)
		}
	}
	for _, c := range y.Content {
		maskScalars(c, lines, inside)
	}
}

func maskBlock(line int, lines []string, inside []int) {
	in, last := -1, line-1
	for i := line; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if in < 0 {
			in = indent(lines[i])
		}
		if indent(lines[i]) < in || in == 0 {
			break
		}
		last = i
	}
	for i := line; i <= last; i++ {
		inside[i] = whole
	}
}

// maskQuoted finds the closing quote.
func maskQuoted(y *yaml.Node, lines []string, inside []int) {
	quote := byte('"')
	if y.Style&yaml.SingleQuotedStyle != 0 {
		quote = '\''
	}
	col := len(string([]rune(lines[y.Line-1])[:max(y.Column-1, 0)]))
	at := strings.IndexByte(lines[y.Line-1][col:], quote) // an anchor or a tag may come first
	if at < 0 {
		return
	}
	at += col + 1
	for i := y.Line - 1; i < len(lines); i, at = i+1, 0 {
		for ; at < len(lines[i]); at++ {
			switch c := lines[i][at]; {
			case c == '\\' && quote == '"':
				at++
			case c == quote && quote == '\'' && at+1 < len(lines[i]) && lines[i][at+1] == quote:
				at++
			case c == quote:
				if i >= y.Line {
					inside[i] = at + 1
				}
				return
			}
		}
		if i+1 < len(lines) {
			inside[i+1] = whole
		}
	}
}

// trailing finds the comment at the end of a line, -1 without one. Up to from it is text.
func trailing(line string, from int) int {
	var quote, before byte // the open quote; the last byte that is no space
	for i := from; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '"' && c == '\\', quote == '\'' && strings.HasPrefix(line[i:], "''"):
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		case (c == '"' || c == '\'') && (before == 0 || strings.IndexByte(":-[{,?", before) >= 0):
			quote = c
		}
		if c != ' ' && c != '\t' {
			before = c
		}
	}
	return -1
}
