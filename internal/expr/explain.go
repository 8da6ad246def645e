package expr

import (
	"regexp"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/cairn-plan/cairn/internal/fault"
)

var undeclared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^undeclared reference to '([^']*)'`)
})

// explain turns the first complaint of the compiler into a fault that says where and what to do.
func explain(src string, c code, issues *cel.Issues) error {
	first := issues.Errors()[0]
	at := column(src, c, first.Location.Line(), first.Location.Column())
	msg, _, _ := strings.Cut(first.Message, "\n")
	if m := undeclared().FindStringSubmatch(msg); m != nil {
		return unknown(src, m[1], at)
	}
	msg = strings.ReplaceAll(strings.TrimPrefix(msg, "Syntax error: "), "<EOF>", "the end")
	msg = plainWords(msg)
	f := fault.New(fault.Invalid, "the expression %q is broken at character %d: %s", src, at, msg)
	switch {
	case strings.Contains(msg, "no matching overload"):
		return f.Remedy("compare like with like: text with text, numbers with numbers")
	case singleEquals(src):
		return f.Remedy("equality is written ==")
	}
	return f.Remedy("write a CEL expression, such as size(outputs.list) >= 3, or {judge: ...} for a criterion in words")
}

// plainWords says what the parser met; the list of all that it would have taken helps nobody.
func plainWords(msg string) string {
	met, _, listed := strings.Cut(msg, " expecting {")
	for _, lead := range []string{"mismatched input ", "extraneous input ", "no viable alternative at input "} {
		if what, ok := strings.CutPrefix(met, lead); ok && (listed || lead[0] == 'n') {
			if what == "'the end'" {
				return "it ends too early"
			}
			return "it cannot go on with " + what
		}
	}
	return msg
}

func unknown(src, name string, at int) error {
	f := fault.New(fault.Invalid, "the expression %q reads %q at character %d, which is nothing known here", src, name, at)
	if near := fault.Nearest(name, Variables); near != "" {
		return f.Remedy("did you mean %s?", near)
	}
	return f.Remedy("outputs of another task are outputs_of.TASK.NAME; the variables are %s", strings.Join(Variables, ", "))
}

// column is the position in the source, counted from 1 in characters, of a place in the code.
func column(src string, c code, line, col int) int {
	offset := 0
	for range line - 1 {
		n := strings.IndexByte(c.src[offset:], '\n')
		if n < 0 {
			break
		}
		offset += n + 1
	}
	for i := range c.src[offset:] {
		if col == 0 {
			offset += i
			break
		}
		col--
		if col == 0 && i+1 >= len(c.src[offset:]) {
			offset = len(c.src)
			break
		}
	}
	at := min(max(c.origin(offset), 0), len(src))
	return len([]rune(src[:at])) + 1
}

func singleEquals(src string) bool {
	toks := tokens(src)
	for i, t := range toks {
		if t.sort == sign && src[t.at] == '=' && (i == 0 || !strings.ContainsRune("=!<>", rune(src[toks[i-1].at]))) &&
			(i+1 == len(toks) || src[toks[i+1].at] != '=') {
			return true
		}
	}
	return false
}
