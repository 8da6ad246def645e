package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/cairn-plan/cairn/internal/fault"
)

// telling are the names that nobody writes in prose by accident often enough to guess: a text with
// one of them was meant to be computed.
var telling = []string{"outputs", outputsOf, "exit", "stderr"}

// Kind tells an expression from prose. A string that type-checks to true or false, or to what only
// a run can tell, is CEL. Anything else is prose, for somebody to judge, unless it names outputs,
// outputs_of, exit or stderr, or misspells a variable: then broken says why it is no expression.
//
// A lone word is prose even where it is a variable ("memory", "plan"), except item, which may
// itself be true or false, and true and false.
func Kind(src string) (isCEL bool, broken error) {
	toks := tokens(src)
	lone := loneWord(src, toks)
	switch {
	case lone == "item" || lone == "true" || lone == "false":
		return true, nil
	case lone != "" && slices.Contains(telling, lone):
		return false, fault.New(fault.Invalid, "%q is neither true nor false by itself", lone).Remedy("%s", brokenHint)
	case lone != "" || strings.TrimSpace(src) == "":
		return false, nil
	}
	if c := rewrite(src, toks); cannotParse(c.src, tokens(c.src)) {
		return false, mentions(src, toks, nil)
	}
	p, err := Compile(src)
	if err != nil {
		return false, mentions(src, toks, err)
	}
	if !truthful(p.typ) {
		return false, mentions(src, toks, notTruth(p))
	}
	return true, nil
}

const brokenHint = "compare it, as in exit == 0 or size(outputs.list) > 0; for prose write {judge: ...}"

func loneWord(src string, toks []token) string {
	found := ""
	for _, t := range toks {
		switch {
		case t.sort == blank:
		case t.sort == word && found == "":
			found = src[t.at:t.end]
		default:
			return ""
		}
	}
	return found
}

// mentions decides whether a text that is no expression was meant to be one.
func mentions(src string, toks []token, why error) error {
	for i, t := range toks {
		name := src[t.at:t.end]
		if t.sort != word || hyphenated(src, t) {
			continue
		}
		if slices.Contains(telling, name) {
			if why != nil {
				return why
			}
			return fault.New(fault.Invalid, "%q names %s but is no expression", src, name).Remedy("%s", brokenHint)
		}
		// A near miss counts only where it is read from, as in outptus.list, and the rest parses.
		reads := i+2 < len(toks) && (src[toks[i+1].at] == '.' || src[toks[i+1].at] == '[') && toks[i+2].sort != blank
		inside := i > 0 && src[toks[i-1].at] == '.'
		if why != nil && reads && !inside && fault.Nearest(name, Variables) != "" && parses(src) {
			return why
		}
	}
	return nil
}

func hyphenated(src string, t token) bool {
	return t.at > 0 && src[t.at-1] == '-' || t.end < len(src) && src[t.end] == '-'
}

func parses(src string) bool {
	env, err := environment()
	if err != nil || len(src) > MaxSource {
		return false
	}
	_, issues := env.Parse(rewrite(src, tokens(src)).src)
	return issues.Err() == nil
}

func truthful(t *cel.Type) bool {
	return t.Kind() == types.BoolKind || t.Kind() == types.DynKind
}

func notTruth(p *Program) error {
	return fault.New(fault.Invalid, "the expression %q gives %s, not true or false", p.src, p.typ).Remedy("%s", brokenHint)
}
