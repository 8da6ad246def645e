package source

import (
	"strconv"
	"strings"
)

// remedies for what people most often get wrong, by a part of the parser's message.
var remedies = []struct{ says, remedy string }{
	{"cannot start any token", "indent with spaces, not tabs, and quote text that begins with @, ` or %"},
	{"mapping values are not allowed", "quote the text: it holds a colon followed by a space; or check the indentation"},
	{"could not find expected ':'", "write key: value, with the colon, and check the indentation"},
	{"did not find expected key", "check the indentation of this line and the next"},
	{"did not find expected '-'", "check the indentation of this line and the next"},
	{"did not find expected ',' or", "close the bracket, or quote text that holds brackets"},
	{"did not find expected node content", "quote text that begins with a bracket, a comma or %"},
	{"unexpected end of stream", "close the quote"},
	{"unknown anchor", "define it first with &name, or quote text that begins with *"},
	{"unknown escape", "double the backslash, or use single quotes"},
	{"control characters", "remove the control character"},
}

// fromParser are messages of the parser proper, which counts lines from 0 where the scanner
// counts from 1.
var fromParser = []string{"did not find expected ',' or", "did not find expected '-'", "did not find expected <document",
	"did not find expected key", "did not find expected node content", "found duplicate %", "found undefined tag"}

// explainYAML turns an error of the YAML parser into a problem with a place and a remedy.
func explainYAML(text string, err error) *Problem {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if at, says, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(at); err == nil {
				line, msg = n, says
			}
		}
		for _, p := range fromParser {
			if strings.HasPrefix(msg, p) {
				line++
				break
			}
		}
	}
	p := &Problem{Code: Syntax, Line: line, Col: 1, Msg: "the YAML cannot be read here: " + msg, Remedy: "check quotes, brackets and indentation"}
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		p.Line = lineOf(text, "*"+name)
	}
	p.Line = min(p.Line, strings.Count(strings.TrimRight(text, "\n"), "\n")+1)
	p.Col = indentOf(text, p.Line) + 1
	for _, r := range remedies {
		if strings.Contains(msg, r.says) {
			p.Remedy = r.remedy
			break
		}
	}
	return p
}

func lineOf(text, part string) int {
	before, _, _ := strings.Cut(text, part)
	return strings.Count(before, "\n") + 1
}

func indentOf(text string, line int) int {
	i := 0
	for l := range strings.Lines(text) {
		if i++; i == line {
			return len(l) - len(strings.TrimLeft(l, " "))
		}
	}
	return 0
}
