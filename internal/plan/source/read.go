package source

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// FormOf tells the form of a text by the name of its file or, where that says nothing, by how it
// begins.
func FormOf(file string, src []byte) Form {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".yaml", ".yml":
		return YAML
	case ".json":
		return JSON
	case ".plan":
		return DSL
	}
	for line := range strings.Lines(string(src[:min(len(src), 4096)])) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line[0] == '{' || line[0] == '[':
			return JSON
		case isHeader(line):
			return DSL
		default:
			return YAML
		}
	}
	return YAML
}

// Read makes the tree of a text. Where the tree is whole in spite of problems, such as a key that
// stands twice, it comes with them; else it is Null.
func Read(form Form, src []byte) (Node, []Problem) {
	if len(src) > MaxBytes {
		return Node{}, []Problem{{TooBig, 1, 1, fmt.Sprintf("the file is %d bytes long, and %d are read at most", len(src), MaxBytes),
			"split it: a task's subplan can name a file of its own"}}
	}
	text := strings.TrimPrefix(string(src), "\uFEFF")
	if !utf8.ValidString(text) {
		line, col := firstBad(text)
		return Node{}, []Problem{{NotUTF8, line, col, "the text is not UTF-8 from here on", "save the file as UTF-8"}}
	}
	switch form {
	case JSON:
		return readJSON(text)
	case DSL:
		return readDSL(text)
	}
	return readYAML(text, 0)
}

func firstBad(text string) (line, col int) {
	line, col = 1, 1
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
			break
		}
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return line, col
}

func tooMany(line, col int) Problem {
	return Problem{TooBig, line, col, fmt.Sprintf("the file holds more than %d values", MaxValues),
		"split it: a task's subplan can name a file of its own"}
}

func tooDeep(line, col int) Problem {
	return Problem{Syntax, line, col, fmt.Sprintf("values are nested more than %d deep here", MaxDepth),
		"flatten it, or keep the inner value in a file"}
}

func twice(key Node) Problem {
	return Problem{Duplicate, int(key.Line), int(key.Col), fmt.Sprintf("the key %q stands here twice", key.Text), "keep one of the two"}
}
