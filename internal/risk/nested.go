package risk

import "strings"

// arithmetic reports whether the parentheses at p.i are ((...)), and where they end. Where the last
// two do not stand together they are subshells.
func (p *parser) arithmetic() (end int, ok bool) {
	if !p.at("((") {
		return 0, false
	}
	open := 0
	for i := p.i; i < len(p.text); i++ {
		switch p.text[i] {
		case '(':
			open++
		case ')':
			open--
			if open == 1 {
				ok = i+1 < len(p.text) && p.text[i+1] == ')'
				return i + 2, ok
			}
		}
	}
	return 0, false
}

// expansions reads text in which only substitutions are commands, up to end.
func (p *parser) expansions(end int) {
	var s splice
	var w word
	for p.i < end && p.i < len(p.text) {
		switch c := p.text[p.i]; {
		case c == '\\':
			p.i = min(p.i+2, len(p.text))
		case c == '`' || c == '$' && strings.HasPrefix(p.text[p.i+1:], "("):
			p.expansion(&s, &w)
		default:
			p.i++
		}
	}
}

// within reads a script that stands inside this one, and takes its commands over.
func (p *parser) within(s script, read func(*parser)) {
	if p.depth+1 > maxNesting {
		p.deep = true
		return
	}
	inner := &parser{script: s, depth: p.depth + 1, function: p.function, assigned: p.assigned}
	read(inner)
	first := len(p.commands)
	for _, c := range inner.commands {
		if c.source >= 0 {
			c.source += first
		}
		p.commands = append(p.commands, c)
	}
	p.deep = p.deep || inner.deep
}

// backticks reads `...`, in which a backslash protects another backtick.
func (p *parser) backticks() (fetched bool) {
	var s splice
	base := p.origin(p.i)
	p.i++
	for p.i < len(p.text) && p.text[p.i] != '`' {
		if p.text[p.i] == '\\' && p.i+1 < len(p.text) && strings.IndexByte("`\\$", p.text[p.i+1]) >= 0 {
			p.i++
		}
		s.add(p.text[p.i], p.origin(p.i))
		p.i++
	}
	p.i = min(p.i+1, len(p.text))
	p.within(s.script(base), func(inner *parser) {
		for inner.i < len(inner.text) {
			fetched = inner.list(0) || fetched
		}
	})
	return fetched
}

// redirections are the operators, the longest first.
var redirections = []string{"&>>", "<<<", "<<-", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"}

// redirection reads an operator, with the number before it, or nothing.
func (p *parser) redirection() string {
	j := p.i
	for j < len(p.text) && p.text[j] >= '0' && p.text[j] <= '9' {
		j++
	}
	if j >= len(p.text) || strings.IndexByte("<>&", p.text[j]) < 0 {
		return ""
	}
	rest := p.text[j:]
	if strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, ">(") {
		return ""
	}
	for _, op := range redirections {
		if strings.HasPrefix(rest, op) && (j == p.i || op[0] != '&') {
			p.i = j + len(op)
			return op
		}
	}
	return ""
}

// redirect reads what follows an operator.
func (p *parser) redirect(c *command, op string) {
	p.blanks()
	if p.i >= len(p.text) || strings.IndexByte("\n;|)", p.text[p.i]) >= 0 {
		return
	}
	from := p.i
	w := p.word()
	c.end = w.stop
	switch op {
	case "<<", "<<-":
		d := &document{delimiter: w.text, tabs: op == "<<-", plain: strings.ContainsAny(p.text[from:p.i], `'"\`)}
		p.pending = append(p.pending, d)
		c.documents = append(c.documents, d)
	case "<<<":
		c.documents = append(c.documents, &document{body: w.script})
	default:
		c.redirects = append(c.redirects, redirect{op, w})
	}
}

// document reads the lines of a here-document.
func (p *parser) document(d *document) {
	from, end := p.i, len(p.text)
	next := end
	for p.i < len(p.text) {
		line := p.text[p.i:]
		n := strings.IndexByte(line, '\n')
		after := p.i + n + 1
		if n < 0 {
			n, after = len(line), len(p.text)
		}
		line = strings.TrimSuffix(line[:n], "\r")
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == d.delimiter {
			end, next = p.i, after
			break
		}
		p.i = after
	}
	d.body = p.slice(from, end)
	p.i = next
	if !d.plain {
		p.within(d.body, func(inner *parser) { inner.expansions(len(inner.text)) })
	}
}
