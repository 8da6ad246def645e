package risk

import (
	"slices"
	"strings"
)

// builtins are what a shell does by itself, words of its grammar included.
var builtins = set(`. : [ [[ alias bg break builtin case cd command continue declare dirs disown echo enable eval exec exit export false fc
	fg for function getopts hash help history if in jobs kill let local logout mapfile popd printf pushd pwd read readonly return select set
	shift shopt source suspend test time times trap true type typeset ulimit umask unalias unset until wait while`)

// Programs lists the programs that a command line shows that it starts, each once, in the order of the text, as they are
// written. What a variable will hold, and what a program starts in its turn, does not show.
func Programs(text string) (names []string) {
	p := parse(script{text: text}, map[string]bool{}, false)
	functions := map[string]bool{}
	for _, c := range p.commands {
		functions[c.inside] = true
	}
	for _, c := range p.commands {
		if len(c.words) == 0 {
			continue
		}
		name := c.words[0].text
		hidden := name == "" || strings.ContainsAny(name, "$`*?{}")
		if !hidden && !builtins[name] && !functions[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
