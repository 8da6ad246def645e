package experience

import (
	"strings"
	"unicode"
)

// token is one word of a text, in the form in which words are compared.
type token struct {
	form string
	text string // as it was written, for people
	at   int    // its place, in words from the start
	end  bool   // a clause ends after it
}

// read splits a text into words. Numbers all become #, for no plan hangs on which one it was; quoted names become "".
// Hangul, Han and Kana have no spaces to rely on, so they are read in overlapping pairs of letters.
func read(text string) []token {
	r := &reader{}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case isOpening(c, runes, i):
			if n := closing(runes, i); n > 0 {
				r.flush()
				r.add(`""`, string(runes[i:i+n+1]))
				i += n
			}
		case unicode.IsLetter(c) || unicode.IsDigit(c) || isJoint(runes, i):
			r.word = append(r.word, c)
		default:
			r.flush()
			if strings.ContainsRune(".,;:!?\n。、，；", c) {
				r.endClause()
			}
		}
	}
	r.flush()
	r.endClause()
	return r.tokens
}

type reader struct {
	word   []rune
	tokens []token
}

func (r *reader) add(form, text string) {
	r.tokens = append(r.tokens, token{form: form, text: text, at: len(r.tokens)})
}

func (r *reader) endClause() {
	if n := len(r.tokens); n > 0 {
		r.tokens[n-1].end = true
	}
}

func (r *reader) flush() {
	word := r.word
	r.word = r.word[:0]
	switch {
	case len(word) == 0:
	case hasDigit(word):
		r.add("#", string(word))
	case isDense(word[0]):
		if len(word) == 1 {
			r.add(string(word), string(word))
		}
		for i := 0; i+1 < len(word); i++ {
			r.add(string(word[i:i+2]), string(word))
		}
	default:
		for _, part := range parts(string(word)) {
			r.add(stem(strings.ToLower(part)), part)
		}
	}
}

// parts splits camelCase; snake_case and kebab-case are split by read.
func parts(word string) []string {
	var all []string
	start := 0
	runes := []rune(word)
	for i := 1; i < len(runes); i++ {
		turns := unicode.IsUpper(runes[i]) && unicode.IsLower(runes[i-1]) ||
			i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i]) && unicode.IsLower(runes[i+1])
		if turns {
			all = append(all, string(runes[start:i]))
			start = i
		}
	}
	return append(all, string(runes[start:]))
}

func isDense(c rune) bool {
	return unicode.In(c, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func hasDigit(word []rune) bool {
	for _, c := range word {
		if unicode.IsDigit(c) {
			return true
		}
	}
	return false
}

// isJoint reports a mark that stands inside a number or a word and does not part it: 1,000 and 7:15 and don't.
func isJoint(runes []rune, i int) bool {
	if i == 0 || i+1 >= len(runes) {
		return false
	}
	before, after := runes[i-1], runes[i+1]
	switch runes[i] {
	case ',', '.', ':':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	case '@':
		return true
	case '\'', '’':
		return unicode.IsLetter(before) && unicode.IsLetter(after)
	}
	return false
}

const longestQuote = 80

// isOpening reports a quotation mark that begins a quoted name.
func isOpening(c rune, runes []rune, i int) bool {
	switch c {
	case '"', '“', '‘', '「', '`':
		return true
	case '\'':
		return i == 0 || !unicode.IsLetter(runes[i-1]) && !unicode.IsDigit(runes[i-1])
	}
	return false
}

// closing counts the letters up to the mark that closes the one at i, 0 when none does.
func closing(runes []rune, i int) int {
	want := map[rune]rune{'"': '"', '“': '”', '‘': '’', '「': '」', '`': '`', '\'': '\''}[runes[i]]
	for n := 1; n <= longestQuote && i+n < len(runes); n++ {
		inside := i+n+1 < len(runes) && unicode.IsLetter(runes[i+n+1])
		if runes[i+n] == want && !inside {
			return n
		}
	}
	return 0
}

// stem cuts the common endings of English, so that booking, booked and books meet. It is rough on purpose: both sides
// of every comparison are cut alike.
func stem(w string) string {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	if len(w) <= 3 {
		return w
	}
	for _, s := range [...][2]string{
		{"ications", "y"}, {"ication", "y"}, {"ations", ""}, {"ation", ""}, {"ellings", "el"}, {"elling", "el"}, {"elled", "el"}, {"ellation", "el"},
		{"ements", ""}, {"ement", ""}, {"ings", ""}, {"ing", ""},
		{"ies", "y"}, {"ied", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"},
		{"ions", ""}, {"ion", ""}, {"ers", ""}, {"er", ""}, {"ed", ""}, {"ly", ""}, {"es", ""}, {"s", ""},
	} {
		if strings.HasSuffix(w, s[0]) && len(w)-len(s[0]) >= 3 && w != "ss" && !(s[0] == "s" && strings.HasSuffix(w, "ss")) {
			return undouble(strings.TrimSuffix(w, s[0])) + s[1]
		}
	}
	return strings.TrimSuffix(w, "e")
}

// undouble turns plann into plan and leaves call and miss alone, and cuts the e that reserve keeps and reserving lost.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	if n > 3 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}
