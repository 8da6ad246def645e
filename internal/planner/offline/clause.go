package offline

import (
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/planner"
)

// clauses parts a goal, its constraints taken out, into what it asks for.
func (l *library) clauses(goal, lang string) []planner.Clause {
	var out []planner.Clause
	for _, sentence := range sentences(goal) {
		if lang == "ko" {
			out = append(out, l.korean(sentence)...)
		} else {
			out = append(out, l.english(sentence)...)
		}
	}
	for i := len(out) - 2; i >= 0; i-- { // "design and build the parser": the first does it to the same
		if out[i].Object == "" {
			out[i].Object = out[i+1].Object
			out[i].Text = strings.TrimSpace(out[i].Text + " " + out[i].Object)
		}
	}
	return out
}

// sentences parts a text at full stops that end a sentence, not at those in names of files.
func sentences(s string) []string {
	var out []string
	var begun []string
	for _, w := range strings.Fields(s) {
		begun = append(begun, w)
		if strings.HasSuffix(w, ";") || strings.HasSuffix(w, "!") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, ".") && len(w) > 3 && w != "etc." {
			out, begun = append(out, strings.Join(begun, " ")), nil
		}
	}
	if len(begun) > 0 {
		out = append(out, strings.Join(begun, " "))
	}
	return out
}

// english parts a sentence where a conjunction or a comma is followed by a verb.
func (l *library) english(sentence string) []planner.Clause {
	tokens := strings.Fields(sentence)
	var out []planner.Clause
	begin := 0
	for i := 1; i < len(tokens); i++ {
		joined := isJoint(tokens[i-1]) || strings.HasSuffix(tokens[i-1], ",") || strings.HasSuffix(tokens[i-1], ";")
		if !joined || isJoint(tokens[i]) || !l.opens(tokens, i, begin) {
			continue
		}
		out = append(out, l.clause(tokens[begin:i]))
		begin = i
	}
	return append(out, l.clause(tokens[begin:]))
}

func isJoint(w string) bool {
	return slices.Contains([]string{"and", "then", "&", "also", "afterwards", "finally", "next"}, strings.ToLower(strings.Trim(w, ",;")))
}

// opens reports whether a clause begins at tokens[i]: there is a verb, and not one that is meant as a noun.
func (l *library) opens(tokens []string, i, begin int) bool {
	verb, n := l.verbAt(tokens, i)
	if verb == "" {
		return false
	}
	if !slices.Contains(l.terms.Nouns, verb) {
		return true
	}
	if i+n >= len(tokens) { // "build and test", but not "write code and test"
		return l.clause(tokens[begin:i]).Object == ""
	}
	next := strings.ToLower(tokens[i+n])
	return slices.Contains([]string{"the", "a", "an", "all", "it", "its", "them", "our", "my", "their", "this", "that", "these", "every", "each", "how", "whether", "to", "with", "for", "new", "your"}, next)
}

// verbAt finds a verb, of two words or one, and how many words it has.
func (l *library) verbAt(tokens []string, i int) (string, int) {
	one := plain(tokens[i])
	if i+1 < len(tokens) {
		if two := one + " " + plain(tokens[i+1]); l.verbs[two] {
			return two, 2
		}
	}
	if l.verbs[one] {
		return one, 1
	}
	return "", 0
}

func plain(w string) string { return strings.Trim(strings.ToLower(w), ".,;:!?\"'()") }

// clause finds verb and object. A verb that comes late, after "the team must", still is one; without any, all is object.
func (l *library) clause(tokens []string) planner.Clause {
	for len(tokens) > 0 && isJoint(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
	}
	tokens = l.unfilled(tokens)
	whole := tidy(strings.Join(tokens, " "))
	for i := range min(len(tokens), 5) {
		verb, n := l.verbAt(tokens, i)
		if verb == "" || i > 0 && slices.Contains(l.terms.Nouns, verb) {
			continue
		}
		return planner.Clause{Text: tidy(strings.Join(tokens[i:], " ")), Verb: verb, Object: tidy(strings.Join(tokens[i+n:], " "))}
	}
	return planner.Clause{Text: whole, Object: whole}
}

// unfilled takes away what stands before the verb and says nothing.
func (l *library) unfilled(tokens []string) []string {
	for changed := true; changed && len(tokens) > 1; {
		changed = false
		head := strings.ToLower(strings.Join(tokens[:min(4, len(tokens))], " ")) + " "
		for _, f := range l.terms.Fillers {
			if n := len(strings.Fields(f)); n < len(tokens) && strings.HasPrefix(strings.ReplaceAll(head, ",", ""), f+" ") {
				tokens, changed = tokens[n:], true
				break
			}
		}
	}
	return tokens
}

// tidy takes off what hangs over at the ends.
func tidy(s string) string {
	for {
		t := strings.Trim(s, " .,;:!?")
		for _, end := range []string{" and", " then", " with", " for", " in", " by", " to", " of", " on", " so", " 그리고"} {
			t = strings.TrimSuffix(t, end)
		}
		if t == s {
			return t
		}
		s = t
	}
}

// shorten cuts a text at a word, to at most n characters.
func shorten(s string, n int) string {
	if len([]rune(s)) <= n {
		return s
	}
	cut := string([]rune(s)[:n-1])
	if i := strings.LastIndex(cut, " "); i > n/2 {
		cut = cut[:i]
	}
	return tidy(cut) + "…"
}
