package memory

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Terms cuts a text into what recall compares. A word is folded to small letters and to its stem; one in camelCase counts
// as a whole and in its parts. Korean glues particles to words and has many words of two syllables, so Hangul is cut into
// overlapping pairs of syllables, which are kept apart from words: they have lengths and frequencies of their own.
func Terms(text string) (words, pairs []string) {
	c := cutter{}
	for _, r := range norm.NFKC.String(text) {
		switch {
		case unicode.Is(unicode.Hangul, r):
			c.endWord()
			c.hangul = append(c.hangul, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			c.endHangul()
			c.word = append(c.word, r)
		default:
			c.endWord()
			c.endHangul()
		}
	}
	c.endWord()
	c.endHangul()
	return c.words, c.pairs
}

// cutter collects terms of one text.
type cutter struct {
	words, pairs []string
	word, hangul []rune
}

func (c *cutter) endHangul() {
	if len(c.hangul) == 1 {
		c.pairs = append(c.pairs, string(c.hangul))
	}
	for i := range max(len(c.hangul)-1, 0) {
		c.pairs = append(c.pairs, string(c.hangul[i:i+2]))
	}
	c.hangul = c.hangul[:0]
}

func (c *cutter) endWord() {
	if len(c.word) == 0 {
		return
	}
	c.add(string(c.word))
	from := 0
	for i := 1; i < len(c.word); i++ {
		if unicode.IsUpper(c.word[i]) && unicode.IsLower(c.word[i-1]) {
			c.add(string(c.word[from:i]))
			from = i
		}
	}
	if from > 0 {
		c.add(string(c.word[from:]))
	}
	c.word = c.word[:0]
}

func (c *cutter) add(w string) {
	if w = strings.ToLower(w); !empty[w] {
		c.words = append(c.words, stem(w))
	}
}

// empty lists words that are in every text and say nothing about it.
var empty = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an and are as at be but by can do does for from had has have how i if in into is it
		its me my no not of on or our should so that the their them then there these they this to was we were what when where
		which who why will with you your`) {
		m[w] = true
	}
	return m
}()

// stem drops the endings that make an English word another form of itself. It is no dictionary: two words that come to the
// same stem are compared as one, and that is all it is for.
func stem(w string) string {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	w = singular(w)
	for _, end := range []string{"ing", "ed"} {
		head, ok := strings.CutSuffix(w, end)
		if !ok || len(head) < 3 || !strings.ContainsAny(head, "aeiouy") {
			continue
		}
		if n := len(head); head[n-1] == head[n-2] && !strings.ContainsRune("lsz", rune(head[n-1])) {
			head = head[:n-1]
		}
		return strings.TrimSuffix(head, "e")
	}
	if len(w) > 4 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}

func singular(w string) string {
	switch {
	case len(w) < 4 || !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	}
	return w[:len(w)-1]
}

// Text is what a value says, for reading by people and for Terms: its strings, keys and numbers in order.
func Text(value json.RawMessage) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return ""
	}
	var b strings.Builder
	say(&b, v)
	return strings.TrimSpace(b.String())
}

func say(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v + " ")
	case json.Number:
		b.WriteString(v.String() + " ")
	case bool:
		if v {
			b.WriteString("true ")
		} else {
			b.WriteString("false ")
		}
	case []any:
		for _, e := range v {
			say(b, e)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			b.WriteString(k + " ")
			say(b, v[k])
		}
	}
}
