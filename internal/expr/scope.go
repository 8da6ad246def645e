package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Result is what an expression must come to.
type Result int

// The results that a place in a plan can ask for.
const (
	Truth Result = iota // true or false
	List                // a list, to range over
	Any
)

// Scope is a place in a plan where an expression may stand: which variables have a value there,
// and what it must come to.
type Scope struct {
	Gives Result
	Vars  []string             // nil: all
	Task  func(id string) bool // whether a task exists; nil: not asked
}

// Before is what is known when a task has not run yet; After knows how it went as well.
var (
	Before = []string{outputsOf, "inputs", "item", "index", "attempt", "env", "network", "disk", "memory", "plan"}
	After  = append([]string{"outputs", "exit", "stdout", "stderr", "error"}, Before...)
	Policy = []string{"task", "now"} // what a rule of a policy knows
)

// Check reports what is wrong with an expression in its place, nil when nothing is.
func Check(src string, scope Scope) error {
	p, err := Compile(src)
	if err != nil {
		return err
	}
	switch kind := p.typ.Kind(); {
	case scope.Gives == Truth && !truthful(p.typ):
		return notTruth(p)
	case scope.Gives == List && kind != types.ListKind && kind != types.DynKind:
		return fault.New(fault.Invalid, "the expression %q gives %s, not a list", src, p.typ).
			Remedy("range over a list: a reference such as ${task.output}, or an expression that gives one")
	}
	for _, name := range p.vars {
		if scope.Vars != nil && !slices.Contains(scope.Vars, name) {
			return fault.New(fault.Invalid, "the expression %q reads %s, which has no value yet where it stands", src, name).
				Remedy("what is known here: %s", strings.Join(scope.Vars, ", "))
		}
	}
	for _, id := range p.tasks {
		if scope.Task != nil && !scope.Task(id) {
			return fault.New(fault.Invalid, "the expression %q reads the outputs of %q, and there is no such task", src, id).
				Remedy("name a task of the plan: outputs_of.TASK.NAME, or outputs_of[\"TASK\"].NAME")
		}
	}
	return nil
}
