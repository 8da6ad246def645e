// Package expr is the small languages inside a plan: CEL expressions that say what must hold,
// ${task.output} references that carry values from task to task, and the f(x) -> y pipelines that
// chain capabilities.
//
// It is pure: it reads no clock, file or network, and whoever evaluates hands in every value. All
// text comes from strangers, so each entry bounds its source, its work and its memory, and answers
// with a fault that says what to write instead; none panics.
package expr

import (
	"context"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Program is a compiled expression. It is immutable and may be evaluated by many at once.
type Program struct {
	src   string
	typ   *cel.Type
	vars  []string
	tasks []string
	all   bool

	plan func() (cel.Program, error) // made on first evaluation: checking a plan never needs it
}

// Compile reads an expression. Equal sources share one Program, and one error.
func Compile(src string) (*Program, error) { return programs.get(src) }

func compile(src string) (*Program, error) {
	if len(src) > MaxSource {
		return nil, fault.New(fault.Invalid, "the expression is %d bytes long, %d are allowed", len(src), MaxSource).
			Remedy("compute the value in a task and compare its output")
	}
	env, err := environment()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "build the expression environment")
	}
	c := rewrite(src, tokens(src))
	ast, issues := env.Compile(c.src)
	if err := issues.Err(); err != nil {
		return nil, explain(src, c, issues)
	}
	r := read(ast.NativeRep().Expr())
	switch r.unbounded {
	case "":
	case "matches":
		return nil, fault.New(fault.Invalid, "the expression %q matches a pattern that is not written out", src).
			Remedy("write the pattern as text, or use contains, startsWith or endsWith")
	default:
		return nil, fault.New(fault.Invalid, "the expression %q calls %s, which nothing bounds", src, r.unbounded).
			Remedy("make the text in a task and read its output")
	}
	p := &Program{src: src, typ: ast.OutputType(), all: r.all}
	p.vars, p.tasks = r.sorted()
	p.plan = sync.OnceValues(func() (cel.Program, error) {
		return env.Program(ast, cel.CostLimit(maxCost), cel.MemoryLimit(maxValues),
			cel.InterruptCheckFrequency(256), cel.EvalOptions(cel.OptOptimize))
	})
	return p, nil
}

// String is the source as it was written.
func (p *Program) String() string { return p.src }

// Vars lists the variables that the expression reads, in the order of Variables.
func (p *Program) Vars() []string { return p.vars }

// Tasks lists the tasks whose outputs it reads, sorted. all is true when it can read any, as
// outputs_of[item] can: then every task's outputs have to be there.
func (p *Program) Tasks() (ids []string, all bool) { return p.tasks, p.all }

// Eval computes the expression. Of vars only what it reads is looked at; values may be plain Go,
// or JSON as json.RawMessage. The answer is nil, bool, int64, uint64, float64, string, []any or
// map[string]any.
func (p *Program) Eval(ctx context.Context, vars map[string]any) (any, error) {
	prog, err := p.plan()
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the expression %q cannot be run", p.src)
	}
	in := make(map[string]any, len(p.vars))
	for _, name := range p.vars {
		v, ok := vars[name]
		if !ok {
			return nil, fault.New(fault.Failed, "the expression %q reads %s, which has no value here", p.src, name)
		}
		if in[name], err = plain(v); err != nil {
			return nil, fault.Wrap(fault.Failed, err, "the expression %q reads %s", p.src, name)
		}
	}
	out, _, err := prog.ContextEval(ctx, in)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, refused(p.src, err)
	}
	left := maxValues
	v, err := native(out, &left)
	if err != nil {
		return nil, refused(p.src, err)
	}
	return v, nil
}

// Bool computes an expression that must come to true or false.
func (p *Program) Bool(ctx context.Context, vars map[string]any) (bool, error) {
	v, err := p.Eval(ctx, vars)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fault.New(fault.Failed, "the expression %q gives %s, not true or false", p.src, nameOf(v)).
			Remedy("compare it with something, such as %s == ...", p.src)
	}
	return b, nil
}

func refused(src string, err error) error {
	f := fault.Wrap(fault.Failed, err, "the expression %q cannot be computed", src)
	switch msg := err.Error(); {
	case strings.Contains(msg, "no such overload"):
		return f.Remedy("the types do not fit: whole and decimal numbers do not mix (write 1.0, or double(x)), nor do numbers and text (int(x), string(x))")
	case strings.Contains(msg, "no such key"):
		return f.Remedy("ask first whether it is there: has(outputs.name) && ...")
	case strings.Contains(msg, "limit exceeded"):
		return f.Remedy("compute the value in a task and compare its output")
	}
	return f
}
