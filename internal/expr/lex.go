package expr

import (
	"math"
	"strconv"
	"strings"
)

// Sorts of token. An operator is a single byte, so that >= is two of them: nothing here needs more.
const (
	word    = 'w'
	number  = 'n'
	text    = 's'
	blank   = ' '
	sign    = 'o'
	comment = 'c'
)

type token struct {
	sort    byte
	at, end int
}

// tokens cuts a source as CEL would, well enough to tell code from string literals. Every byte
// belongs to one token, whatever the source holds.
func tokens(src string) []token {
	var out []token
	for i := 0; i < len(src); {
		t := token{at: i}
		t.sort, t.end = next(src, i)
		out = append(out, t)
		i = t.end
	}
	return out
}

func next(src string, i int) (sort byte, end int) {
	c := src[i]
	switch {
	case isSpace(c):
		return blank, span(src, i, isSpace)
	case isDigit(c):
		return number, endOfNumber(src, i)
	case c == '"' || c == '\'':
		return text, endOfString(src, i, false)
	case isLetter(c):
		end = span(src, i, isName)
		if prefix := src[i:end]; end < len(src) && (src[end] == '"' || src[end] == '\'') && isPrefix(prefix) {
			return text, endOfString(src, end, strings.ContainsAny(prefix, "rR"))
		}
		return word, end
	case strings.HasPrefix(src[i:], "//"):
		if n := strings.IndexByte(src[i:], '\n'); n >= 0 {
			return comment, i + n
		}
		return comment, len(src)
	}
	return sign, i + 1
}

func isPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "b", "rb", "br":
		return true
	}
	return false
}

func endOfNumber(src string, i int) int {
	i = span(src, i, isDigit)
	if i+1 < len(src) && src[i] == '.' && isDigit(src[i+1]) {
		i = span(src, i+1, isDigit)
	}
	return i
}

// endOfString finds the end of the literal whose quote is at i; an open one ends with the source.
func endOfString(src string, i int, raw bool) int {
	quote := src[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(src[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(src); i++ {
		if src[i] == '\\' && !raw {
			i++
		} else if strings.HasPrefix(src[i:], quote) {
			return i + len(quote)
		}
	}
	return len(src)
}

func span(src string, i int, in func(byte) bool) int {
	for i < len(src) && in(src[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}
func isName(c byte) bool { return isLetter(c) || isDigit(c) }

// code is a source made ready for CEL, and the way back from its offsets to the author's.
type code struct {
	src   string
	edits []edit
}

type edit struct{ made, was int } // from here on, offset made in the code was offset was in the source

func (c code) origin(offset int) int {
	at := offset
	for _, e := range c.edits {
		if e.made <= offset {
			at = e.was + offset - e.made
		}
	}
	return at
}

// rewrite turns what people write into CEL: sizes such as 50MB into numbers, and a task id with a
// dash or a slash after outputs_of into an index, where subtraction could have no meaning.
func rewrite(src string, toks []token) code {
	var b strings.Builder
	var edits []edit
	put := func(made string, was int) {
		b.WriteString(made)
		edits = append(edits, edit{b.Len(), was})
	}
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if n, last := size(src, toks, i); last > i {
			put(n, toks[last].end)
			i = last
		} else if id, end := dashedTask(src, toks, i); end > 0 {
			put("outputs_of["+strconv.Quote(id)+"]", end)
			for i+1 < len(toks) && toks[i+1].at < end {
				i++
			}
		} else {
			b.WriteString(src[t.at:t.end])
		}
	}
	return code{b.String(), edits}
}

var units = map[string]float64{"B": 1, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// size reads a number with a unit that starts at token i and returns it in bytes with the index
// of its last token, or i when there is none.
func size(src string, toks []token, i int) (string, int) {
	unit := i + 1
	if unit < len(toks) && toks[unit].sort == blank {
		unit++
	}
	if toks[i].sort != number || unit >= len(toks) || toks[unit].sort != word ||
		i > 0 && toks[i-1].sort == word {
		return "", i
	}
	factor, ok := units[src[toks[unit].at:toks[unit].end]]
	if !ok {
		return "", i
	}
	f, err := strconv.ParseFloat(src[toks[i].at:toks[i].end], 64)
	n := f * factor
	if err != nil || n >= 1<<53 || n != math.Trunc(n) {
		return "", i
	}
	return strconv.FormatInt(int64(n), 10), unit
}

// dashedTask reads outputs_of.<id> at token i where the id holds a dash or a slash.
func dashedTask(src string, toks []token, i int) (id string, end int) {
	if i+2 >= len(toks) || src[toks[i].at:toks[i].end] != outputsOf || toks[i].sort != word ||
		src[toks[i+1].at:toks[i+1].end] != "." || toks[i+2].sort != word {
		return "", 0
	}
	at := toks[i+2].at
	end = toks[i+2].end
	for end+1 < len(src) && (src[end] == '-' || src[end] == '/') && isName(src[end+1]) {
		end = span(src, end+1, isName)
	}
	if end == toks[i+2].end {
		return "", 0
	}
	return src[at:end], end
}

// cannotParse reports whether two operands stand side by side, or a letter that CEL does not know
// stands outside a string: prose nearly always does, and is spared the parser.
func cannotParse(src string, toks []token) bool {
	ended, apart := false, false // an operand has just ended; blank came between
	for _, t := range toks {
		s := src[t.at:t.end]
		switch t.sort {
		case blank, comment:
			apart = true
			continue
		case word, number, text:
			if s == "in" {
				ended = false
			} else if ended && apart {
				return true
			} else {
				ended = true
			}
		case sign:
			if s[0] >= 0x80 {
				return true
			}
			ended = s == ")" || s == "]" || s == "}"
		}
		apart = false
	}
	return false
}
