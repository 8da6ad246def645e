package risk

import "strings"

// token is a word, a sign or a string of SQL.
type token struct {
	text    string // in capitals for a word; the content of a string
	at, end int
	depth   int // of the parentheses around it
	str     bool
}

// tokens splits SQL. Comments are left out, but for those that MySQL runs. What is in quotes is a
// string whatever the quotes are: a name in quotes is no keyword either.
func tokens(s string) (all []token) {
	depth := 0
	for i := 0; i < len(s); {
		c := s[i]
		from := i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(s[i:], "--"):
			i = lineEnd(s, i)
			continue
		case strings.HasPrefix(s[i:], "/*!"):
			i += 3
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			continue
		case strings.HasPrefix(s[i:], "*/"):
			i += 2
			continue
		case strings.HasPrefix(s[i:], "/*"):
			i = commentEnd(s, i)
			continue
		case c == '\'' || c == '"' || c == '`':
			i = quoteEnd(s, i, len(all) > 0 && all[len(all)-1].text == "E" && all[len(all)-1].end == i)
			all = append(all, token{text: s[min(from+1, i):max(i-1, min(from+1, i))], at: from, end: i, depth: depth, str: true})
			continue
		case c == '$':
			if body, end, ok := dollar(s, i); ok {
				all = append(all, token{text: body, at: from, end: end, depth: depth, str: true})
				i = end
				continue
			}
			i++
		case nameByte(c) || c >= 0x80:
			for i < len(s) && (nameByte(s[i]) || s[i] >= 0x80 || s[i] == '$') {
				i++
			}
			all = append(all, token{text: strings.ToUpper(s[from:i]), at: from, end: i, depth: depth})
			continue
		case c == '(':
			depth++
			i++
		case c == ')':
			depth = max(depth-1, 0)
			i++
		default:
			i++
		}
		all = append(all, token{text: s[from:i], at: from, end: i, depth: depth})
	}
	return all
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// commentEnd finds the end of a comment; comments nest, as in PostgreSQL.
func commentEnd(s string, i int) int {
	open := 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			open++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			open--
			i += 2
			if open == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

// quoteEnd finds the end of a quotation. A doubled quote stands for itself, and so does an escaped one
// where the string says that it has escapes.
func quoteEnd(s string, i int, escapes bool) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

// dollar reads $tag$ ... $tag$.
func dollar(s string, i int) (body string, end int, ok bool) {
	j := i + 1
	for j < len(s) && nameByte(s[j]) {
		j++
	}
	if j >= len(s) || s[j] != '$' || j > i+1 && s[i+1] >= '0' && s[i+1] <= '9' {
		return "", 0, false
	}
	tag := s[i : j+1]
	n := strings.Index(s[j+1:], tag)
	if n < 0 {
		return s[j+1:], len(s), true
	}
	return s[j+1 : j+1+n], j + 1 + n + len(tag), true
}
