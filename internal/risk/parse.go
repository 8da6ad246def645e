package risk

import "strings"

// maxNesting bounds how deep substitutions and subshells are followed, and maxWrapping how many
// wrappers are taken off one command. Deeper than this is nobody's honest script.
const (
	maxNesting  = 64
	maxWrapping = 12
)

// parser reads a script into its simple commands, those of substitutions and functions included, in
// one pass from left to right. It never fails: a quote that is not closed ends with the text.
type parser struct {
	script
	i        int
	depth    int
	cases    int             // open `case`s, in which ) ends a pattern
	function string          // whose body is being read
	assigned map[string]bool // variables that the scripts set; true for a place that mktemp made
	pending  []*document
	commands []command
	spent    bool // substitutions are passed over: the shell around this one saw to them
	deep     bool // it gave up, because of depth
}

// parse reads a script, and notes the variables that it sets. spent says that what it substitutes was read before.
func parse(s script, assigned map[string]bool, spent bool) *parser {
	p := &parser{script: s, spent: spent, assigned: assigned}
	for p.i < len(p.text) {
		p.list(0)
	}
	return p
}

// list reads commands up to closing, or to the end. It reports whether any of them downloads.
func (p *parser) list(closing byte) (fetched bool) {
	if p.depth++; p.depth > maxNesting {
		p.deep, p.i = true, len(p.text)
	}
	cases := p.cases
	if closing != 0 {
		p.cases = 0
	}
	defer func() { p.depth--; p.cases = cases }()
	for {
		p.separators()
		if p.i >= len(p.text) {
			return fetched
		}
		if c := p.text[p.i]; c == ')' {
			p.i++
			if c == closing {
				return fetched
			}
			continue
		}
		if p.pipeline(fetched) {
			fetched = true
		}
	}
}

// separators skips blanks, comments, ends of lines and what joins commands.
func (p *parser) separators() {
	for p.i < len(p.text) {
		switch c := p.text[p.i]; {
		case c == '\n':
			p.newline()
		case c == ' ' || c == '\t' || c == '\r' || c == ';' || c == '&' && !p.at("&>"):
			p.i++
		case c == '\\' && p.at("\\\n"):
			p.i += 2
		case c == '#':
			p.comment()
		case p.at("||"):
			p.i += 2
		default:
			return
		}
	}
}

func (p *parser) at(s string) bool { return strings.HasPrefix(p.text[p.i:], s) }

func (p *parser) comment() {
	if n := strings.IndexByte(p.text[p.i:], '\n'); n >= 0 {
		p.i += n
		return
	}
	p.i = len(p.text)
}

// blanks skips what stands between the words of one command.
func (p *parser) blanks() {
	for p.i < len(p.text) {
		switch c := p.text[p.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.i++
		case p.at("\\\n"):
			p.i += 2
		case p.at("\\\r\n"):
			p.i += 3
		default:
			return
		}
	}
}

// newline ends a line; the here-documents that were asked for on it follow.
func (p *parser) newline() {
	p.i++
	for len(p.pending) > 0 {
		d := p.pending[0]
		p.pending = p.pending[1:]
		p.document(d)
	}
}

// pipeline reads commands that are joined by |. before says that the list downloaded something
// already, which is what the closing word of a group, as in { curl ...; } | sh, passes on.
func (p *parser) pipeline(before bool) (fetched bool) {
	source, last := -1, len(p.commands)
	p.blanks()
	in, from := false, p.origin(p.i)
	for {
		in = p.element(source, in, before)
		source = -1
		if n := len(p.commands); n > last {
			source, last = n-1, n
			p.commands[source].pipeline = from
		}
		p.blanks()
		if p.i >= len(p.text) || p.text[p.i] != '|' || p.at("||") {
			return in
		}
		p.i++
		if p.i < len(p.text) && p.text[p.i] == '&' {
			p.i++
		}
		for p.blanks(); p.i < len(p.text) && p.text[p.i] == '\n'; p.blanks() {
			p.newline()
		}
	}
}

// element reads one command of a pipeline, or a subshell. It reports whether what it prints comes
// from a download.
func (p *parser) element(source int, in, before bool) (fetched bool) {
	p.blanks()
	if end, ok := p.arithmetic(); ok {
		p.expansions(end)
		return in
	}
	if p.i < len(p.text) && p.text[p.i] == '(' {
		p.i++
		return p.list(')') || in
	}
	c, closes := p.simple()
	c.source, c.fetched, c.inside = source, in, p.function
	if len(c.words)+len(c.redirects) > 0 {
		p.commands = append(p.commands, c)
	}
	return in || closes && before || downloads(c.words)
}

// opening and closing are the words of the grammar that stand where a command would.
var (
	opening = set("if then else elif while until do ! { time coproc")
	closing = set("fi done esac }")
)

// simple reads one simple command. closes reports that it was a word that closes a group.
func (p *parser) simple() (c command, closes bool) {
	for {
		p.blanks()
		if p.i >= len(p.text) {
			return c, closes
		}
		if op := p.redirection(); op != "" {
			p.redirect(&c, op)
			continue
		}
		switch ch := p.text[p.i]; ch {
		case '\n', ';', '&', '|':
			return c, closes
		case ')':
			if p.cases > 0 { // what came before was a pattern
				p.i++
				return command{}, false
			}
			return c, closes
		case '(':
			if !p.parenthesis(&c) {
				return c, closes
			}
			continue
		case '#':
			p.comment()
			continue
		}
		from, assignment := p.i, assigns(p.text[p.i:])
		w := p.word()
		c.end = w.stop
		if len(c.words) == 0 {
			switch {
			case assignment:
				p.assigned[w.name()] = strings.Contains(p.text[from:p.i], "$(mktemp")
				continue
			case closing[w.text] && !w.quoted:
				closes = true
				p.closed(w.text)
				continue
			case opening[w.text] && !w.quoted:
				continue
			}
		}
		c.words = append(c.words, w)
		if p.grammar(&c) {
			return command{}, false
		}
	}
}

// grammar takes words away that belong to the language. It reports whether a command begins anew.
func (p *parser) grammar(c *command) bool {
	n := len(c.words)
	switch {
	case n == 3 && c.words[0].text == "case" && c.words[2].text == "in" && !c.words[0].quoted:
		p.cases++
		return true
	case n == 2 && c.words[0].text == "function":
		p.function = c.words[1].text
		return true
	}
	return false
}

func (p *parser) closed(word string) {
	switch word {
	case "esac":
		p.cases = max(p.cases-1, 0)
	case "}":
		p.function = ""
	}
}

// parenthesis reads what ( means after the words of c: a function, an array. It reports whether the
// command goes on.
func (p *parser) parenthesis(c *command) bool {
	if len(c.words) == 1 {
		j := p.i + 1
		for j < len(p.text) && (p.text[j] == ' ' || p.text[j] == '\t') {
			j++
		}
		if j < len(p.text) && p.text[j] == ')' {
			p.function = c.words[0].text
			c.words = nil
			p.i = j + 1
			return true
		}
	}
	if len(c.words) == 0 && p.i > 0 && p.text[p.i-1] == '=' {
		p.i++
		p.array()
		return true
	}
	return false
}

// array skips the words of x=(...), for which only their substitutions matter.
func (p *parser) array() {
	for p.i < len(p.text) {
		switch c := p.text[p.i]; {
		case c == ')':
			p.i++
			return
		case c == '\n':
			p.newline()
		case strings.IndexByte(" \t\r;&|<>(", c) >= 0:
			p.i++
		case c == '#':
			p.comment()
		default:
			p.word()
		}
	}
}

// assigns reports whether s begins with NAME=.
func assigns(s string) bool {
	i := 0
	for i < len(s) && (nameByte(s[i]) || i > 0 && (s[i] == '[' || s[i] == ']')) {
		i++
	}
	if i == 0 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.HasPrefix(s[i:], "=") || strings.HasPrefix(s[i:], "+=")
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// set makes a set of the words of s.
func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
