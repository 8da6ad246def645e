package risk

import "strings"

// script is text to be read as shell, with where each byte of it stands in the text that was given:
// a script inside quotes has lost its quotes and escapes, and still its findings must point into the
// original.
type script struct {
	text string
	base int   // where it begins, when it stands there unchanged
	pos  []int // where each byte stands; nil when unchanged
}

func (s script) origin(i int) int {
	switch {
	case s.pos == nil:
		return s.base + i
	case i < len(s.pos):
		return s.pos[i]
	case len(s.pos) > 0:
		return s.pos[len(s.pos)-1] + 1
	}
	return s.base
}

func (s script) slice(i, j int) script {
	if s.pos == nil {
		return script{text: s.text[i:j], base: s.base + i}
	}
	return script{text: s.text[i:j], base: s.origin(i), pos: s.pos[i:j]}
}

// word is one word as the command will see it: quotes and escapes are gone, and what only the run
// can tell stays as it is written ($X), a substitution as $().
type word struct {
	script
	stop    int  // where it ends in the original, its closing quote included
	start   int  // where it begins there, its opening quote included
	quoted  bool // some of it was in quotes or escaped
	fetched bool // some of it is what a download will print
}

// splice is a script made of pieces.
type splice struct {
	buf []byte
	pos []int
}

func (s *splice) add(c byte, at int) {
	s.buf = append(s.buf, c)
	s.pos = append(s.pos, at)
}

func (s *splice) addAll(from script) {
	s.buf = append(s.buf, from.text...)
	for i := range len(from.text) {
		s.pos = append(s.pos, from.origin(i))
	}
}

func (s *splice) script(base int) script {
	if s.pos == nil {
		s.pos = []int{}
	}
	return script{text: string(s.buf), base: base, pos: s.pos}
}

// joined is the script that eval or ssh make of their words.
func joined(words []word) script {
	switch len(words) {
	case 0:
		return script{}
	case 1:
		return words[0].script
	}
	var s splice
	for i, w := range words {
		if i > 0 {
			s.add(' ', w.start)
		}
		s.addAll(w.script)
	}
	return s.script(words[0].start)
}

// command is one simple command with what belongs to it.
type command struct {
	words     []word
	redirects []redirect
	documents []*document
	source    int      // the command whose output it reads; -1 for none
	reads     *command // the same, once all are read
	fetched   bool     // what it reads comes from a download
	inside    string   // the function that it is the body of
	end       int      // where it ends in the original
	pipeline  int      // where its pipeline begins there
}

// redirect is > file and its kin.
type redirect struct {
	op string
	to word
}

func (r redirect) writes() bool { return strings.Contains(r.op, ">") }

// document is a here-document, or the one word of <<<.
type document struct {
	delimiter string
	tabs      bool // <<- takes leading tabs away
	plain     bool // its delimiter was quoted: nothing in it is substituted
	body      script
}
