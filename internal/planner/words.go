package planner

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are the words of a text in lower case, endings taken off, without those that say nothing.
func Words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if w = Stem(w); !silent[w] {
			out = append(out, w)
		}
	}
	return out
}

// Stem takes the commonest endings off an English word and the particle off a Korean one.
func Stem(w string) string {
	if last, _ := utf8.DecodeLastRuneInString(w); IsHangul(last) {
		return bare([]rune(w))
	}
	for _, end := range endings {
		if head, ok := strings.CutSuffix(w, end); ok && len(head) >= 3 && !strings.HasSuffix(w, "ss") {
			switch {
			case end == "ies":
				return head + "y"
			case end == "es" && !strings.ContainsAny(head[len(head)-1:], "sxzh"):
				return strings.TrimSuffix(w, "s")
			case len(head) > 3 && head[len(head)-1] == head[len(head)-2] && end != "s" && end != "es" && !strings.HasSuffix(head, "ss"):
				return head[:len(head)-1]
			}
			return head
		}
	}
	return w
}

var endings = []string{"ing", "ies", "ed", "es", "s"}

// particles follow a Korean noun, the longest first.
var particles = []string{"에서는", "으로는", "에게서", "까지", "부터", "에서", "에게", "으로", "처럼", "보다", "마다", "이나", "하고", "을", "를", "이", "가", "은", "는", "에", "로", "의", "도", "만", "과", "와"}

func bare(r []rune) string {
	for _, p := range particles {
		n := len([]rune(p))
		if len(r) > n+1 && string(r[len(r)-n:]) == p {
			return string(r[:len(r)-n])
		}
	}
	return string(r)
}

// IsHangul reports whether a rune is a Korean syllable.
func IsHangul(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }

var silent = map[string]bool{"a": true, "an": true, "the": true, "of": true, "to": true, "and": true, "or": true, "in": true, "on": true, "for": true, "with": true,
	"by": true, "at": true, "from": true, "it": true, "is": true, "are": true, "be": true, "that": true, "this": true, "our": true, "my": true, "we": true,
	"i": true, "you": true, "please": true, "so": true, "as": true, "into": true, "its": true, "their": true, "your": true, "was": true}
