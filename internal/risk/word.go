package risk

import "strings"

// endsWord lists the bytes at which an unquoted word ends, and special those that need a closer look
// before that.
const (
	endsWord = " \t\r\n;&|<>()"
	special  = endsWord + "'\"\\$`"
)

// word reads one word. It takes at least one byte.
func (p *parser) word() word {
	from := p.i
	n := strings.IndexAny(p.text[from:], special)
	if n < 0 {
		n = len(p.text) - from
	}
	if end := from + n; n > 0 && (end == len(p.text) || strings.IndexByte(endsWord, p.text[end]) >= 0) {
		p.i = end
		return p.finish(word{script: p.slice(from, end)}, from)
	}
	w := p.pieces()
	if p.i == from { // a byte that no word begins with
		p.i++
		w.script = p.slice(from, p.i)
	}
	return p.finish(w, from)
}

func (p *parser) finish(w word, from int) word {
	w.start = p.origin(from)
	w.stop = p.origin(p.i-1) + 1
	return w
}

// pieces reads a word with quotes, escapes or expansions in it.
func (p *parser) pieces() (w word) {
	var s splice
	base := p.origin(p.i)
	for p.i < len(p.text) {
		c := p.text[p.i]
		switch {
		case (c == '<' || c == '>') && len(s.buf) == 0 && !w.quoted && p.i+1 < len(p.text) && p.text[p.i+1] == '(':
			at := p.origin(p.i)
			p.i += 2
			w.fetched = p.list(')') || w.fetched
			s.mark(string(c)+"()", at)
			continue
		case strings.IndexByte(endsWord, c) >= 0:
			w.script = s.script(base)
			return w
		case c == '\'':
			w.quoted = true
			p.single(&s)
		case c == '"':
			w.quoted = true
			p.i++
			p.double(&s, &w)
		case c == '\\':
			w.quoted = true
			p.escape(&s)
		case c == '$' || c == '`':
			p.expansion(&s, &w)
		default:
			s.add(c, p.origin(p.i))
			p.i++
		}
	}
	w.script = s.script(base)
	return w
}

// single reads '...'.
func (p *parser) single(s *splice) {
	p.i++
	n := strings.IndexByte(p.text[p.i:], '\'')
	if n < 0 {
		n = len(p.text) - p.i
	}
	s.addAll(p.slice(p.i, p.i+n))
	p.i = min(p.i+n+1, len(p.text))
}

// double reads the rest of "...".
func (p *parser) double(s *splice, w *word) {
	for p.i < len(p.text) {
		c := p.text[p.i]
		switch {
		case c == '"':
			p.i++
			return
		case c == '\\' && p.i+1 < len(p.text) && strings.IndexByte("$`\"\\\n", p.text[p.i+1]) >= 0:
			p.escape(s)
		case c == '$' || c == '`':
			p.expansion(s, w)
		default:
			s.add(c, p.origin(p.i))
			p.i++
		}
	}
}

// escape reads a backslash and what it protects; before the end of a line both vanish.
func (p *parser) escape(s *splice) {
	p.i++
	if p.i >= len(p.text) {
		return
	}
	if p.text[p.i] != '\n' {
		s.add(p.text[p.i], p.origin(p.i))
	}
	p.i++
}

// expansion reads what begins with $ or `. The commands in it are read now; the word keeps a mark.
func (p *parser) expansion(s *splice, w *word) {
	if p.spent {
		defer func(n int) { p.commands = p.commands[:n] }(len(p.commands))
	}
	at := p.origin(p.i)
	if p.text[p.i] == '`' {
		w.fetched = p.backticks() || w.fetched
		s.mark("$()", at)
		return
	}
	rest := p.text[p.i+1:]
	switch {
	case strings.HasPrefix(rest, "("):
		p.i++
		if end, ok := p.arithmetic(); ok {
			p.expansions(end)
			s.mark("$(())", at)
			return
		}
		p.i++
		w.fetched = p.list(')') || w.fetched
		s.mark("$()", at)
	case strings.HasPrefix(rest, "{"):
		p.braces(s, w)
	case strings.HasPrefix(rest, "'"):
		w.quoted = true
		p.i += 2
		p.ansi(s)
	case strings.HasPrefix(rest, `"`):
		p.i++ // translated text: read as if the $ were not there
	default:
		s.add('$', at)
		p.i++
	}
}

// braces reads ${...}, which stays as it is written but for the substitutions in it.
func (p *parser) braces(s *splice, w *word) {
	open := 0
	for p.i < len(p.text) {
		c := p.text[p.i]
		switch {
		case c == '\\':
			s.add(c, p.origin(p.i))
			p.escape(s)
			continue
		case c == '`' || c == '$' && strings.HasPrefix(p.text[p.i+1:], "("):
			p.expansion(s, w)
			continue
		case c == '{':
			open++
		case c == '}':
			open--
		}
		s.add(c, p.origin(p.i))
		p.i++
		if open == 0 && c == '}' {
			return
		}
	}
}

// ansi reads the rest of $'...', whose escapes stand for other bytes.
func (p *parser) ansi(s *splice) {
	for p.i < len(p.text) {
		c, at := p.text[p.i], p.origin(p.i)
		p.i++
		switch {
		case c == '\'':
			return
		case c != '\\' || p.i >= len(p.text):
			s.add(c, at)
		default:
			s.add(p.ansiEscape(), at)
		}
	}
}

func (p *parser) ansiEscape() byte {
	c := p.text[p.i]
	p.i++
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'x':
		return p.digits(16, 2)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.i--
		return p.digits(8, 3)
	}
	return c
}

func (p *parser) digits(base, most int) byte {
	value := 0
	for ; most > 0 && p.i < len(p.text); most-- {
		d := strings.IndexByte("0123456789abcdef", p.text[p.i]|0x20)
		if p.text[p.i] < '0' || d < 0 || d >= base {
			break
		}
		value = value*base + d
		p.i++
	}
	return byte(value)
}

// mark stands in a word for what only the run can tell.
func (s *splice) mark(text string, at int) {
	for i := range len(text) {
		s.add(text[i], at)
	}
}

// name is what an assignment assigns to.
func (w word) name() string {
	name, _, _ := strings.Cut(w.text, "=")
	return strings.TrimSuffix(name, "+")
}
