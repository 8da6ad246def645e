package expr

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// reader collects what an expression reads. Names that a macro binds, as x in all(x, ...), hide
// the variables of the same name.
type reader struct {
	vars, tasks map[string]bool
	all         bool
	unbounded   string // a call that is not allowed
}

func read(e ast.Expr) *reader {
	r := &reader{vars: map[string]bool{}, tasks: map[string]bool{}}
	r.read(e, nil)
	return r
}

func (r *reader) sorted() (vars, tasks []string) {
	for _, name := range Variables {
		if r.vars[name] {
			vars = append(vars, name)
		}
	}
	for id := range r.tasks {
		tasks = append(tasks, id)
	}
	slices.Sort(tasks)
	return vars, tasks
}

func (r *reader) read(e ast.Expr, bound []string) {
	if r.task(e, bound) {
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		if name := e.AsIdent(); !slices.Contains(bound, name) {
			r.vars[name] = true
			r.all = r.all || name == outputsOf
		}
	case ast.SelectKind:
		r.read(e.AsSelect().Operand(), bound)
	case ast.CallKind:
		c := e.AsCall()
		r.bounded(c)
		if c.IsMemberFunction() {
			r.read(c.Target(), bound)
		}
		for _, a := range c.Args() {
			r.read(a, bound)
		}
	case ast.ListKind:
		for _, x := range e.AsList().Elements() {
			r.read(x, bound)
		}
	case ast.MapKind:
		for _, x := range e.AsMap().Entries() {
			r.read(x.AsMapEntry().Key(), bound)
			r.read(x.AsMapEntry().Value(), bound)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		r.read(c.IterRange(), bound)
		r.read(c.AccuInit(), bound)
		inner := append(slices.Clip(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
		r.read(c.LoopCondition(), inner)
		r.read(c.LoopStep(), inner)
		r.read(c.Result(), inner)
	}
}

// bounded notes a call whose result, or whose work, nothing limits: a pattern that is made at run
// time would be compiled anew at each turn of a loop.
func (r *reader) bounded(c ast.CallExpr) {
	args, name := c.Args(), c.FunctionName()
	if slices.Contains(unbounded, name) || name == "matches" && len(args) > 0 && args[len(args)-1].Kind() != ast.LiteralKind {
		r.unbounded = name
	}
}

// task recognises outputs_of.id, outputs_of["id"] and "id" in outputs_of.
func (r *reader) task(e ast.Expr, bound []string) bool {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return r.named(s.Operand(), types.String(s.FieldName()), bound)
	case ast.CallKind:
		args := e.AsCall().Args()
		if len(args) != 2 {
			return false
		}
		switch e.AsCall().FunctionName() {
		case operators.Index:
			return args[1].Kind() == ast.LiteralKind && r.named(args[0], args[1].AsLiteral(), bound)
		case operators.In:
			return args[0].Kind() == ast.LiteralKind && r.named(args[1], args[0].AsLiteral(), bound)
		}
	}
	return false
}

func (r *reader) named(operand ast.Expr, id any, bound []string) bool {
	name, ok := id.(types.String)
	if !ok || operand.Kind() != ast.IdentKind || operand.AsIdent() != outputsOf || slices.Contains(bound, outputsOf) {
		return false
	}
	r.vars[outputsOf], r.tasks[string(name)] = true, true
	return true
}
