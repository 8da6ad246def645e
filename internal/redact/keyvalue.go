package redact

import (
	"bytes"
	"strings"
)

// key is a name that says that its value is a secret: PASSWORD=x, "api_key": "x", --token x.
type key struct {
	kind  string
	words []string // parts of a compound are separated by a space
	human bool     // people choose the value, so it need not look random
}

var keys = []key{
	{kind: "password", words: []string{"password", "passwd", "passphrase", "pwd"}, human: true},
	{kind: "secret", words: []string{"secret", "credential"}},
	{kind: "token", words: []string{"token"}},
	{kind: "api key", words: []string{"api key", "access key", "secret key", "account key", "auth key", "signing key", "encryption key"}},
	{kind: "private key", words: []string{"private key"}},
}

func (k key) shape() shape {
	var marks []string
	for _, w := range k.words {
		marks = append(marks, spellings(w)...)
	}
	return shape{kind: k.kind, marks: marks, look: k.look, flow: flowValue}
}

// spellings gives the ways in which programs write a name.
func spellings(words string) (all []string) {
	first, second, compound := strings.Cut(words, " ")
	for _, f := range [][2]string{{first, second}, {strings.ToUpper(first), strings.ToUpper(second)}, {title(first), title(second)}} {
		if !compound {
			all = append(all, f[0])
			continue
		}
		all = append(all, f[0]+f[1], f[0]+"_"+f[1], f[0]+"-"+f[1])
	}
	if compound {
		all = append(all, first+title(second))
	}
	return all
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

const (
	valueSpace  = 16 // blanks around a separator
	valueJudged = 64 // letters of a value that are looked at; a longer one is taken for a secret
)

var (
	blank    = set(" \t")
	quotes   = set("\"'`")
	quoteEnd = set(" \t\r\n\x00")
	bareEnd  = set(" \t\r\n\x00\"'`\\,;&()[]{}<>|")
)

// A value's mode is the quote that it stands in, or one of these.
const (
	valueBare    = 0
	valueEscaped = 1 // in quotes inside quotes: \"value\"
)

// endsValue reports whether a value of a mode ends before t.b[i].
func (t text) endsValue(i, mode int) bool {
	c := t.b[i]
	switch mode {
	case valueBare:
		return bareEnd[c]
	case valueEscaped:
		return quoteEnd[c] || quotes[c] || c == '\\'
	}
	return quoteEnd[c] || int(c) == mode && t.b[i-1] != '\\'
}

// look finds the value behind a name and judges it. Where the form leaves no doubt that text is
// assigned (NAME=value without blanks) the judgement is mild; where it might be prose or a program, the
// value must look like a secret.
func (k key) look(t text, at, after int) verdict {
	if at >= 2 && t.b[at-1] == '{' && t.b[at-2] == '$' {
		return verdict{} // ${secret:NAME} names a secret and holds none
	}
	if bytes.HasSuffix(t.b[:t.nameStart(at)], []byte("://")) {
		return verdict{} // the user of a URL; lookURL finds the password
	}
	a, v := t.assignment(at, after)
	if v.answer == more || a.from == 0 {
		return v
	}
	to := a.from
	for to < len(t.b) && to-a.from < valueJudged && !t.endsValue(to, a.mode) {
		to++
	}
	next := byte(0)
	if to < len(t.b) {
		next = t.b[to]
	} else if !t.last {
		return verdict{answer: more, from: a.from}
	}
	if !k.judge(t.b[a.from:to], t.b[at:after], a, next) {
		return verdict{}
	}
	return verdict{answer: flows, from: a.from, to: to, mode: a.mode}
}

// flowValue hides the rest of a value that was too long to be judged whole.
func flowValue(t text, from int, f *flow) (int, bool) {
	for i := from; i < len(t.b); i++ {
		if t.endsValue(i, f.mode) {
			return i, true
		}
	}
	return len(t.b), t.last
}

// assigned is how a value stands behind its name.
type assigned struct {
	from  int  // where the value begins; 0 when there is none
	tight bool // NAME=value, as in an environment, a form or a connection string
	code  bool // name = value, as in a program
	mode  int
}

// assignment reads what stands between a name and its value.
func (t text) assignment(at, after int) (assigned, verdict) {
	var a assigned
	pos := after
	if pos < len(t.b) && t.b[pos] == '\\' {
		pos++ // "{\"token\": ...}"
	}
	if pos < len(t.b) && quotes[t.b[pos]] {
		pos++
	}
	if pos < len(t.b) && t.b[pos] == ']' {
		pos++
	}
	sep, open := t.run(pos, blank, valueSpace)
	if open || sep+2 >= len(t.b) && !t.last {
		if sep < len(t.b) && (t.b[sep] == ':' || t.b[sep] == '=') {
			sep, _ = t.run(sep+1, blank, valueSpace) // a prompt need not wait
		}
		return a, verdict{answer: more, from: sep}
	}
	width := t.separator(at, after, sep)
	if width == 0 {
		return a, verdict{}
	}
	value, open := t.run(sep+width, blank, valueSpace)
	if open || value+1 >= len(t.b) && !t.last {
		return a, verdict{answer: more, from: min(value, len(t.b))}
	}
	sign := t.b[sep]
	a.tight = (sign == '=' || sign == '%') && sep == after && value == sep+width
	a.code = (sign == '=' || width == 2) && !a.tight
	if value+1 < len(t.b) && t.b[value] == '\\' && quotes[t.b[value+1]] {
		value += 2
		a.mode = valueEscaped
	} else if value < len(t.b) && quotes[t.b[value]] {
		a.mode = int(t.b[value])
		value++
	}
	if value >= len(t.b) {
		return a, t.unsettled(len(t.b))
	}
	a.from = value
	return a, verdict{}
}

// separator is the length of the sign between name and value at pos, 0 if there is none.
func (t text) separator(at, after, pos int) int {
	peek := func(i int) byte {
		if i < len(t.b) {
			return t.b[i]
		}
		return 0
	}
	c, d := peek(pos), peek(pos+1)
	switch {
	case c == '=' && (d == '=' || d == '~'), c == ':' && d == ':':
		return 0 // compares, names a scope
	case c == '=' && d == '>', c == ':' && d == '=':
		return 2
	case c == '=', c == ':':
		return 1
	case c == '%' && d == '3' && (peek(pos+2) == 'D' || peek(pos+2) == 'd'):
		return 3
	case c == '>' && pos == after && t.isTag(at):
		return 1
	case pos == after+1 && c != '-' && pos < len(t.b) && t.isFlag(at):
		return -1 // the blank itself, which was read
	}
	return 0
}

// nameStart finds the beginning of the name that goes on with the mark at a position.
func (t text) nameStart(at int) int {
	const most = 24
	start := at
	for start > 0 && at-start < most && word[t.b[start-1]] {
		start--
	}
	return start
}

// isFlag recognises --token x.
func (t text) isFlag(at int) bool {
	i := t.nameStart(at)
	return at-i >= 2 && t.b[i] == '-' && t.b[i+1] == '-' && (i == 0 || blank[t.b[i-1]] || quotes[t.b[i-1]])
}

// isTag recognises <token>x</token>.
func (t text) isTag(at int) bool {
	i := t.nameStart(at)
	return i > 0 && t.b[i-1] == '<'
}

// judge decides whether a value is a secret.
func (k key) judge(value, name []byte, a assigned, next byte) bool {
	least, quoted := 8, a.mode != valueBare
	if a.tight || k.human && quoted {
		least = 6
	}
	if len(value) < least || isPlaceholder(value) || isPath(value) || next == '(' || quoted && next == ' ' || isReference(value) {
		return false
	}
	if quoted && bytes.IndexByte([]byte("+,;)."), value[0]) >= 0 || bytes.HasPrefix(value, []byte("0x")) {
		return false // "PWD="+dir: the quote ended the name. A number is no secret.
	}
	if len(value) == valueJudged {
		return true
	}
	digit, upper, lower := count(value)
	letters := upper + lower
	var one [valueJudged]byte
	var two [valueSpace]byte
	if (digit < 4 || !quoted && !a.tight) && bytes.Contains(fold(one[:0], value), fold(two[:0], name)) {
		return false // password=db_password
	}
	if a.tight && !quoted {
		// token=token, and password=entered) are programs
		return letters < len(value) || next != ',' && next != ')' && next != '.' && next != '['
	}
	symbols := bytes.ContainsAny(value, "!@#$%^&*~")
	if letters == 0 || digit == 0 && (!symbols || !quoted) || isDate(value) {
		return false
	}
	if quoted && k.human {
		return true
	}
	return !isNamed(value) && (quoted || k.human || !isIdentifier(value))
}
