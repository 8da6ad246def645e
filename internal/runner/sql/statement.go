package sql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// scanner walks over SQL text as far as it takes to find where statements end: quotes, comments and bodies
// of triggers and functions may hold a ; too.
type scanner struct {
	text     string
	at       int
	postgres bool
}

// token is a word in capitals, ";" or "" for anything else.
func (s *scanner) next() (token string, ok bool) {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "--"):
			s.skipTo("\n")
		case strings.HasPrefix(rest, "/*"):
			s.comment()
		case c == '\'':
			s.quoted('\'', s.postgres && s.escaped())
			return "", true
		case c == '"', c == '`' && !s.postgres:
			s.quoted(c, false)
			return "", true
		case c == '[' && !s.postgres:
			s.skipTo("]")
			return "", true
		case c == '$' && s.postgres && s.dollar():
			return "", true
		case c == ';':
			s.at++
			return ";", true
		case isWord(c):
			from := s.at
			for s.at < len(s.text) && (isWord(s.text[s.at]) || s.text[s.at] == '$') {
				s.at++
			}
			return strings.ToUpper(s.text[from:s.at]), true
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f':
			s.at++
		default:
			s.at++
			return "", true
		}
	}
	return "", false
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (s *scanner) skipTo(end string) {
	if i := strings.Index(s.text[s.at:], end); i >= 0 {
		s.at += i + len(end)
		return
	}
	s.at = len(s.text)
}

// comment skips a comment; those of PostgreSQL nest.
func (s *scanner) comment() {
	depth := 0
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, "/*") && (depth == 0 || s.postgres):
			depth++
			s.at += 2
		case strings.HasPrefix(rest, "*/"):
			s.at += 2
			if depth--; depth == 0 {
				return
			}
		default:
			s.at++
		}
	}
}

// escaped reports whether the quote at hand begins E'...'.
func (s *scanner) escaped() bool {
	return s.at > 0 && (s.text[s.at-1] == 'e' || s.text[s.at-1] == 'E') && (s.at == 1 || !isWord(s.text[s.at-2]))
}

func (s *scanner) quoted(q byte, backslash bool) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && backslash:
			s.at++
		case c == q && s.at+1 < len(s.text) && s.text[s.at+1] == q:
			s.at++
		case c == q:
			s.at++
			return
		}
	}
}

// dollar skips $tag$...$tag$, and leaves $1 alone.
func (s *scanner) dollar() bool {
	end := s.at + 1
	for end < len(s.text) && isWord(s.text[end]) {
		end++
	}
	if end >= len(s.text) || s.text[end] != '$' || end > s.at+1 && s.text[s.at+1] >= '0' && s.text[s.at+1] <= '9' {
		return false
	}
	tag := s.text[s.at : end+1]
	s.at = end + 1
	s.skipTo(tag)
	return true
}

// parameters is the highest of $1, $2, ... in a statement for SQLite, which does not tell.
func parameters(text string) (highest int) {
	s := scanner{text: text}
	for {
		if _, ok := s.next(); !ok {
			return highest
		}
		if text[s.at-1] != '$' || s.at == len(text) || text[s.at] < '0' || text[s.at] > '9' {
			continue
		}
		if word, _ := s.next(); word != "" {
			n, _ := strconv.Atoi(word) // what is no number is a name, and has no value
			highest = max(highest, n)
		}
	}
}

// statement is one statement, with its first words.
type statement struct {
	text  string
	words []string // the first few
}

func (st statement) verb() string {
	if len(st.words) == 0 {
		return ""
	}
	return st.words[0]
}

// split takes SQL text apart. A ; inside the body of a trigger or of a function does not end a statement: such a
// body ends with an END that follows a ;.
func split(text string, postgres bool) (all []statement) {
	s := scanner{text: text, postgres: postgres}
	var st statement
	from, empty, body := 0, true, false
	before, last := "", ""
	end := func(to int) {
		if st.text = strings.TrimSpace(text[from:to]); !empty {
			all = append(all, st)
		}
		st, from, empty, body, before, last = statement{}, s.at, true, false, "", ""
	}
	for {
		token, ok := s.next()
		if !ok {
			break
		}
		if token == ";" && (!body || last == "END" && before == ";") {
			end(s.at - 1)
			continue
		}
		empty = false
		if token != "" && token != ";" && len(st.words) < 4 {
			st.words = append(st.words, token)
		}
		body = body || token == "ATOMIC" && last == "BEGIN" ||
			token == "TRIGGER" && !postgres && len(st.words) > 1 && st.words[0] == "CREATE"
		before, last = last, token
	}
	end(len(text))
	return all
}

// forbidden are verbs that would end our transaction, leave the database at hand, or wait for more input.
var forbidden = []string{"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "COPY", "LISTEN"}

// harmless are the pragmas of SQLite that only tell something.
var harmless = []string{"TABLE_INFO", "TABLE_XINFO", "TABLE_LIST", "INDEX_LIST", "INDEX_INFO", "INDEX_XINFO", "FOREIGN_KEY_LIST", "FOREIGN_KEY_CHECK",
	"INTEGRITY_CHECK", "QUICK_CHECK", "USER_VERSION", "APPLICATION_ID", "SCHEMA_VERSION", "DATABASE_LIST", "COMPILE_OPTIONS", "ENCODING", "PAGE_COUNT", "PAGE_SIZE"}

// lawful refuses what does not belong into a transaction that is not its own.
func (st statement) lawful(postgres bool) error {
	verb := st.verb()
	switch {
	case slices.Contains(forbidden, verb), verb == "PREPARE" && slices.Contains(st.words, "TRANSACTION"), verb == "SET" && slices.Contains(st.words, "TRANSACTION"):
		return fault.New(fault.Invalid, "%s has no place here: a call is one transaction on one database", verb).
			Remedy("leave it out; all statements are done together or not at all")
	case verb == "VACUUM":
		return fault.New(fault.Invalid, "VACUUM cannot run inside a transaction").Remedy("run it with shell: psql or sqlite3")
	case verb == "PRAGMA" && !postgres && (len(st.words) < 2 || !slices.Contains(harmless, st.words[1])):
		return fault.New(fault.Invalid, "this PRAGMA is not allowed: it could change how the file is kept").
			Remedy("allowed are %s", strings.ToLower(strings.Join(harmless, ", ")))
	}
	return nil
}

// statements takes the text of a call apart, and refuses what cannot be run.
func statements(text string, postgres bool) ([]statement, error) {
	if strings.ContainsRune(text, 0) {
		return nil, fault.New(fault.Invalid, "the statement holds a NUL character").Remedy("give such a value in args")
	}
	all := split(text, postgres)
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "there is no statement").Remedy("write one in sql")
	}
	for _, st := range all {
		if err := st.lawful(postgres); err != nil {
			return nil, err
		}
	}
	return all, nil
}
