package expr

import (
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Text puts values into a command line for a POSIX shell. Ours are the references with a dot, and
// ${item} and ${index} where the task ranges over a list (each); ${HOME} and the rest stay for the
// shell, and $${ becomes ${.
//
// A value becomes one word, quoted for the place where it stands, whatever it holds. Where that
// place cannot be told for certain, as in a here-document, only a value that needs no quoting is
// let in, and any other is refused: a value must never become a command. What a command makes of
// its own arguments, as eval or an inner sh -c does, is beyond us.
func Text(run string, each bool, lookup Lookup) (string, error) {
	s := shell{run: run}
	var b strings.Builder
	done := 0
	for s.at < len(run) {
		if strings.HasPrefix(run[s.at:], "$${") {
			b.WriteString(run[done:s.at])
			done = s.at + 1
			s.at += 2
			s.skipBraces()
			continue
		}
		r, ours := parseRefHere(run, s.at, each)
		if !ours || s.now == inComment {
			s.step()
			continue
		}
		v, err := found(r, lookup)
		if err != nil {
			return "", err
		}
		word, err := s.quote(r, v)
		if err != nil {
			return "", err
		}
		b.WriteString(run[done:r.Offset])
		b.WriteString(word)
		s.at += len(r.Text)
		done = s.at
	}
	b.WriteString(run[done:])
	return b.String(), nil
}

func parseRefHere(run string, at int, each bool) (Ref, bool) {
	if !strings.HasPrefix(run[at:], "${") {
		return Ref{}, false
	}
	r, ok := parseRef(run, at)
	return r, ok && (len(r.Path) > 0 || each && (r.Root == Item || r.Root == Index))
}

// The places of a command line that quote differently.
const (
	inCommand = iota
	inSingle
	inDouble
	inComment
	inDoubt // the rest of the text
)

// shell follows a command line just far enough to know where it is.
type shell struct {
	run   string
	at    int
	stack []int // of inDouble and inCommand, for "$( "$( ... )" )"
	now   int
}

// simpleBraces are the expansions in which nothing opens that would have to be closed.
var simpleBraces = regexp.MustCompile("^\\{[^}\"'\\\\`${]*\\}")

// step moves over one byte or one construct.
func (s *shell) step() {
	c := s.run[s.at]
	s.at++
	switch s.now {
	case inSingle:
		if c == '\'' {
			s.now = inCommand
		}
	case inComment:
		if c == '\n' {
			s.now = inCommand
		}
	case inDouble:
		s.inDouble(c)
	case inCommand:
		s.inCommand(c)
	}
}

func (s *shell) inDouble(c byte) {
	switch c {
	case '\\':
		s.at++
	case '"':
		s.now = inCommand
	case '`':
		s.now = inDoubt
	case '$':
		s.dollar()
	}
}

func (s *shell) inCommand(c byte) {
	switch c {
	case '\\':
		s.at++
	case '\'':
		s.now = inSingle
	case '"':
		s.now = inDouble
	case '`':
		s.now = inDoubt
	case '$':
		s.dollar()
	case '(':
		s.open(inCommand)
	case ')':
		s.pop()
	case '[':
		if strings.HasPrefix(s.run[s.at:], "[") {
			s.now = inDoubt // bash computes what stands in [[ -eq ]]
		}
	case '#':
		if s.at == 1 || strings.IndexByte(" \t\n;|&()", s.run[s.at-2]) >= 0 {
			s.now = inComment
		}
	case '<':
		if strings.HasPrefix(s.run[s.at:], "<<") {
			s.at += 2 // a here-string is one word
		} else if strings.HasPrefix(s.run[s.at:], "<") {
			s.now = inDoubt
		}
	case 'c':
		// The patterns of a case close brackets that nobody opened.
		if len(s.stack) > 0 && strings.HasPrefix(s.run[s.at:], "ase") {
			s.now = inDoubt
		}
	}
}

// dollar stands behind a $.
func (s *shell) dollar() {
	if s.at >= len(s.run) {
		return
	}
	switch s.run[s.at] {
	case '(':
		s.at++
		s.open(s.now)
	case '{':
		s.skipBraces()
	case '\'':
		if s.now == inCommand {
			s.now = inDoubt
		}
	case '$':
		if !strings.HasPrefix(s.run[s.at:], "$${") {
			s.at++
		}
	}
}

// skipBraces stands at the { of an expansion that is the shell's own.
func (s *shell) skipBraces() {
	if m := simpleBraces.FindString(s.run[s.at:]); m != "" {
		s.at += len(m)
		return
	}
	if s.now != inSingle {
		s.now = inDoubt
	}
}

// open stands behind a ( that returns to mode when it is closed. Arithmetic, ((, expands what is
// quoted in it.
func (s *shell) open(mode int) {
	s.stack = append(s.stack, mode)
	s.now = inCommand
	if strings.HasPrefix(s.run[s.at:], "(") {
		s.now = inDoubt
	}
}

func (s *shell) pop() {
	if n := len(s.stack); n > 0 {
		s.now, s.stack = s.stack[n-1], s.stack[:n-1]
	}
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]+$`)

// Variable is a value that a command line must not show: it names the variable of the environment that has it.
type Variable string

func (s *shell) quote(r Ref, v any) (string, error) {
	if name, ok := v.(Variable); ok {
		word := "${" + string(name) + "}"
		switch s.now {
		case inCommand:
			return `"` + word + `"`, nil
		case inSingle:
			return `'"` + word + `"'`, nil
		}
		return word, nil
	}
	word, err := Plain(v)
	if err != nil {
		return "", err
	}
	if plainWord.MatchString(word) {
		return word, nil
	}
	if strings.IndexByte(word, 0) >= 0 {
		return "", fault.New(fault.Failed, "%s holds a zero byte, which no command line can carry", r.Text).
			Remedy("pass the value in a file")
	}
	quoted := "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	switch s.now {
	case inCommand:
		return quoted, nil
	case inSingle:
		return "'" + quoted + "'", nil
	case inDouble:
		return `"` + quoted + `"`, nil
	}
	return "", fault.New(fault.Failed, "%s stands where its value cannot be quoted safely", r.Text).
		Remedy("give it to the command in a variable: env: {VALUE: %q}, and \"$VALUE\" in the command", r.Text)
}
