package expr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Ref is one ${...} in a plan. Root is a task, or one of inputs, item, index and secret; Path leads
// from there: the output's name first, then keys and list indices.
type Ref struct {
	Root   string
	Path   []string
	Text   string // as written, ${ and } included
	Offset int    // where it starts, in bytes
}

// Roots that are not tasks.
const (
	Inputs = "inputs"
	Item   = "item"
	Index  = "index"
	Secret = "secret"
)

// IsTask reports whether the reference reads the output of a task.
func (r Ref) IsTask() bool {
	switch r.Root {
	case Inputs, Item, Index, Secret:
		return false
	}
	return true
}

func (r Ref) String() string { return r.Text }

// Refs lists the references in s, in order. A reference has a dot, or is ${item}, ${index} or
// ${secret:NAME}; ${HOME} and whatever else a shell reads in braces are none. $${ is an escaped ${.
func Refs(s string) []Ref {
	var refs []Ref
	for i := 0; i < len(s); {
		r, ok, end := refAt(s, i)
		if ok && (len(r.Path) > 0 || r.Root == Item || r.Root == Index) {
			refs = append(refs, r)
		}
		i = end
	}
	return refs
}

// Bare lists each ${name} in s that has the form of a task or a variable but reads nothing from it.
// It is no reference; where no shell will read s, it was probably meant to be one.
func Bare(s string) []Ref {
	var refs []Ref
	for i := 0; i < len(s); {
		r, ok, end := refAt(s, i)
		if ok && len(r.Path) == 0 && r.Root != Item && r.Root != Index {
			refs = append(refs, r)
		}
		i = end
	}
	return refs
}

// refAt looks for the first ${ at or after i, and returns where to look on.
func refAt(s string, i int) (r Ref, ok bool, end int) {
	n := strings.Index(s[i:], "${")
	if n < 0 {
		return Ref{}, false, len(s)
	}
	i += n
	if i > 0 && s[i-1] == '$' {
		return Ref{}, false, i + 2
	}
	r, ok = parseRef(s, i)
	if !ok {
		return Ref{}, false, i + 2
	}
	return r, true, i + len(r.Text)
}

// maxRef is the length of the longest reference; looking no further keeps a text full of open ones
// linear.
const maxRef = 512

// parseRef reads the reference whose ${ is at i. The form is strict, so that nothing that a shell
// understands by braces is taken for ours.
func parseRef(s string, i int) (Ref, bool) {
	s = s[:min(len(s), i+maxRef)]
	p := span(s, i+2, func(c byte) bool { return c == ' ' })
	start := p
	p = span(s, p, isTaskName)
	r := Ref{Root: s[start:p], Offset: i}
	if r.Root == "" || !isLetter(r.Root[0]) && !isDigit(r.Root[0]) {
		return Ref{}, false
	}
	if r.Root == Secret && p < len(s) && s[p] == ':' {
		end := span(s, p+1, isName)
		r.Path, p = []string{s[p+1 : end]}, end
	}
	for p < len(s) && (s[p] == '.' || s[p] == '[') {
		step, end, ok := parseStep(s, p)
		if !ok {
			return Ref{}, false
		}
		r.Path, p = append(r.Path, step), end
	}
	p = span(s, p, func(c byte) bool { return c == ' ' })
	if p >= len(s) || s[p] != '}' || len(r.Path) > 0 && r.Path[0] == "" {
		return Ref{}, false
	}
	r.Text = s[i : p+1]
	return r, true
}

func isTaskName(c byte) bool { return isName(c) || c == '-' || c == '/' }

// parseStep reads .name, [0] or ["a key"].
func parseStep(s string, p int) (step string, end int, ok bool) {
	if s[p] == '.' {
		end = span(s, p+1, func(c byte) bool { return isName(c) || c == '-' })
		return s[p+1 : end], end, end > p+1
	}
	if end = span(s, p+1, isDigit); end > p+1 && end < len(s) && s[end] == ']' {
		return s[p+1 : end], end + 1, true
	}
	if p+1 >= len(s) || s[p+1] != '"' {
		return "", 0, false
	}
	end = endOfString(s, p+1, false)
	step, err := strconv.Unquote(s[p+1 : end])
	return step, end + 1, err == nil && end < len(s) && s[end] == ']'
}

// Walk follows a path into a value: keys of objects, indices of lists. Values may be JSON.
func Walk(v any, path []string) (any, error) {
	for i, step := range path {
		if raw, ok := v.(json.RawMessage); ok {
			var err error
			if v, err = Value(raw); err != nil {
				return nil, err
			}
		}
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[step]
			if !ok {
				return nil, missing(path[:i], step)
			}
			v = next
		case map[string]json.RawMessage:
			next, ok := x[step]
			if !ok {
				return nil, missing(path[:i], step)
			}
			v = next
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(x) {
				return nil, fault.New(fault.Failed, "%s is a list of %d, so it has no [%s]", place(path[:i]), len(x), step)
			}
			v = x[n]
		default:
			return nil, fault.New(fault.Failed, "%s is %s, so it has no %q", place(path[:i]), nameOf(v), step)
		}
	}
	return v, nil
}

func missing(path []string, step string) error {
	return fault.New(fault.Failed, "%s has no %q", place(path), step)
}

func place(path []string) string {
	if len(path) == 0 {
		return "it"
	}
	return fmt.Sprintf("%q", strings.Join(path, "."))
}
