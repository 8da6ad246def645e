package expr

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Pipeline is a chain of capability calls: search(query="x", n=3) -> links; fetch(links) -> docs.
type Pipeline struct{ Calls []PipeCall }

// PipeCall is one call. Into names what it gives for the calls after it; it may be empty.
type PipeCall struct {
	Name string
	Args []Arg
	Into string
}

// Arg is one argument, by name or by position (Name empty): a variable or a literal.
type Arg struct {
	Name    string
	Var     string
	Literal json.RawMessage // when Var is empty
}

// Bounds of a pipeline.
const (
	maxCalls = 64
	maxArgs  = 64
)

// ParsePipeline reads a pipeline. Anything that is not one from end to end, such as prose with an
// arrow in it or a shell command, is not taken for one.
func ParsePipeline(run string) (Pipeline, bool) {
	if len(run) > 16*MaxSource || !strings.Contains(run, "(") || !utf8.ValidString(run) {
		return Pipeline{}, false
	}
	r := pipeReader{s: run}
	var p Pipeline
	for {
		r.skip(" \t\r\n;")
		if r.at == len(run) {
			return p, len(p.Calls) > 0
		}
		call, ok := r.call()
		if !ok || len(p.Calls) == maxCalls {
			return Pipeline{}, false
		}
		p.Calls = append(p.Calls, call)
		r.skip(" \t\r")
		if r.at < len(run) && run[r.at] != ';' && run[r.at] != '\n' {
			return Pipeline{}, false
		}
	}
}

// Names lists the capabilities that it calls, each once, in order.
func (p Pipeline) Names() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range p.Calls {
		if !seen[c.Name] {
			names, seen[c.Name] = append(names, c.Name), true
		}
	}
	return names
}

// Free lists the variables that no call before them makes: they have to come from outside.
func (p Pipeline) Free() []string {
	var free []string
	made := map[string]bool{}
	for _, c := range p.Calls {
		for _, a := range c.Args {
			if a.Var != "" && !made[a.Var] {
				free, made[a.Var] = append(free, a.Var), true
			}
		}
		made[c.Into] = true
	}
	return free
}

// String writes the pipeline so that it reads back the same.
func (p Pipeline) String() string {
	calls := make([]string, len(p.Calls))
	for i, c := range p.Calls {
		calls[i] = c.String()
	}
	return strings.Join(calls, "; ")
}

func (c PipeCall) String() string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		if a.Name != "" {
			args[i] = a.Name + "="
		}
		args[i] += a.Var + string(a.Literal)
	}
	s := c.Name + "(" + strings.Join(args, ", ") + ")"
	if c.Into != "" {
		s += " -> " + c.Into
	}
	return s
}

type pipeReader struct {
	s  string
	at int
}

func (r *pipeReader) skip(set string) {
	for r.at < len(r.s) && strings.IndexByte(set, r.s[r.at]) >= 0 {
		r.at++
	}
}

func (r *pipeReader) take(lit string) bool {
	if strings.HasPrefix(r.s[r.at:], lit) {
		r.at += len(lit)
		return true
	}
	return false
}

// name reads a word; with dotted, words joined by dots, dashes allowed after the first letter.
func (r *pipeReader) name(dotted bool) string {
	start := r.at
	for r.at < len(r.s) && (isName(r.s[r.at]) || dotted && r.at > start && (r.s[r.at] == '.' || r.s[r.at] == '-')) {
		r.at++
	}
	name := r.s[start:r.at]
	if name == "" || !isLetter(name[0]) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, "-") || strings.Contains(name, "..") {
		r.at = start
		return ""
	}
	return name
}

func (r *pipeReader) call() (PipeCall, bool) {
	c := PipeCall{Name: r.name(true)}
	if c.Name == "" || !r.take("(") {
		return c, false
	}
	const inside = " \t\r\n"
	for r.skip(inside); !r.take(")"); r.skip(inside) {
		if len(c.Args) > 0 && !r.take(",") || len(c.Args) == maxArgs {
			return c, false
		}
		r.skip(inside)
		a, ok := r.arg()
		if !ok || a.Name == "" && len(c.Args) > 0 && c.Args[len(c.Args)-1].Name != "" {
			return c, false // a positional argument after a named one has no place
		}
		c.Args = append(c.Args, a)
	}
	before := r.at
	r.skip(" \t\r")
	if !r.take("->") {
		r.at = before
		return c, true
	}
	r.skip(" \t\r")
	c.Into = r.name(false)
	return c, c.Into != "" && literalWord(c.Into) == nil
}

func (r *pipeReader) arg() (Arg, bool) {
	start := r.at
	if name := r.name(false); name != "" {
		r.skip(" \t")
		if r.take("=") {
			r.skip(" \t")
			a, ok := r.value()
			a.Name = name
			return a, ok
		}
		r.at = start
	}
	return r.value()
}

// value reads a variable, or a JSON literal; text may stand in single quotes too.
func (r *pipeReader) value() (Arg, bool) {
	if name := r.name(true); name != "" {
		if lit := literalWord(name); lit != nil {
			return Arg{Literal: lit}, true
		}
		return Arg{Var: name}, !strings.Contains(name, "-")
	}
	if r.at < len(r.s) && r.s[r.at] == '\'' {
		return r.single()
	}
	d := json.NewDecoder(strings.NewReader(r.s[r.at:]))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return Arg{}, false
	}
	r.at += int(d.InputOffset())
	lit, err := encode(v)
	return Arg{Literal: lit}, err == nil
}

func (r *pipeReader) single() (Arg, bool) {
	end := endOfString(r.s, r.at, true)
	if end < r.at+2 || r.s[end-1] != '\'' || strings.HasPrefix(r.s[r.at:], "'''") {
		return Arg{}, false
	}
	lit, err := encode(r.s[r.at+1 : end-1])
	r.at = end
	return Arg{Literal: lit}, err == nil
}

func literalWord(s string) json.RawMessage {
	switch s {
	case "true", "false", "null":
		return json.RawMessage(s)
	}
	return nil
}
