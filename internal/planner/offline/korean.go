package offline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/planner"
)

// A Korean clause ends with its verb: a stem and an ending that goes on (-고, -한 뒤), asks (-해줘) or closes.
var verbal = regexp.MustCompile(`^(하|해|한|할|합|했|되|고|며|아|어|여|려|줘|주|기|자$|서|쳐|[^가-힣]|$)`)

// korean parts a sentence after each verb.
func (l *library) korean(sentence string) []planner.Clause {
	tokens := strings.Fields(sentence)
	var out []planner.Clause
	var begun []string
	for i, w := range tokens {
		verb := l.koreanVerb(w, i == len(tokens)-1)
		if verb == "" {
			if len(begun) > 0 || !slices.Contains(l.terms.Fillers, plain(w)) {
				begun = append(begun, w)
			}
			continue
		}
		if strings.Contains(w, "해야") || len(begun) > 0 || len(out) == 0 {
			object := phrase(begun)
			out = append(out, planner.Clause{Text: strings.TrimSpace(object + " " + verb), Verb: verb, Object: object})
			begun = nil
		}
	}
	rest := phrase(begun)
	switch {
	case rest == "" || isHelping(rest):
	case len(out) == 0:
		out = append(out, planner.Clause{Text: rest, Object: rest})
	default: // words after the last verb belong to it
		last := &out[len(out)-1]
		last.Object = strings.TrimSpace(last.Object + " " + rest)
	}
	return out
}

// koreanVerb finds the stem that a word begins with. A bare stem is a noun unless it ends the sentence.
func (l *library) koreanVerb(w string, last bool) string {
	w = strings.Trim(w, ".,!?")
	r := []rune(w)
	for n := min(len(r), 6); n > 0; n-- {
		stem := string(r[:n])
		rest := string(r[n:])
		if !l.verbs[stem] || !planner.IsHangul(r[0]) {
			continue
		}
		if rest == "" && !last || !verbal.MatchString(rest) {
			continue
		}
		return stem
	}
	return ""
}

// isHelping reports whether words only ask for what the verb before said.
func isHelping(s string) bool {
	return slices.ContainsFunc([]string{"줘", "주세요", "싶", "필요", "해야", "부탁", "바람", "합니다", "하자", "뒤", "후", "다음"}, func(h string) bool { return strings.HasPrefix(s, h) })
}

// phrase joins the words of an object and takes the particle off the last.
func phrase(tokens []string) string {
	if len(tokens) == 0 {
		return ""
	}
	words := slices.Clone(tokens)
	last := strings.Trim(words[len(words)-1], ".,!?")
	if r := []rune(last); len(r) > 1 && planner.IsHangul(r[len(r)-1]) {
		last = planner.Stem(last)
	}
	for _, p := range []string{"을", "를"} { // after what is not Korean: API를
		last = strings.TrimSuffix(last, p)
	}
	words[len(words)-1] = last
	return tidy(strings.Join(words, " "))
}

// particle picks the form of a particle that fits the end of a word: 을 after a consonant, 를 after a vowel.
func particle(word, pair string) string {
	forms := map[string][2]string{"을": {"을", "를"}, "은": {"은", "는"}, "이": {"이", "가"}, "과": {"과", "와"}, "으로": {"으로", "로"}}[pair]
	r := []rune(word)
	if len(r) == 0 || !planner.IsHangul(r[len(r)-1]) {
		return forms[0] + "(" + forms[1] + ")"
	}
	end := (r[len(r)-1] - 0xAC00) % 28
	if end == 0 || pair == "으로" && end == 8 {
		return forms[1]
	}
	return forms[0]
}
