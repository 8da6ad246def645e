package expr

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
)

// Bounds of one expression. They are far above what a plan needs and far below what hurts: the
// dearest expression that they allow ends in well under a second.
const (
	MaxSource = 4096      // bytes of source
	maxNodes  = 4096      // nodes of the syntax tree, macros expanded
	maxDepth  = 64        // nesting
	maxCost   = 2_000_000 // CEL's own units, about one an operation or ten characters
	maxValues = 1_000_000 // elements alive at once, or handed out
	maxRegexp = 512       // instructions of a compiled pattern
)

// unbounded are functions of the strings extension whose result, or whose work, is the product of
// the sizes of their arguments, and is charged only when the memory or the time is gone.
var unbounded = []string{"replace", "join", "format", "indexOf", "lastIndexOf"}

const outputsOf = "outputs_of"

// Variables are the names that an expression may use; Scope says which of them have a value where.
var Variables = []string{"outputs", outputsOf, "inputs", "item", "index", "exit", "stdout", "stderr", "error",
	"attempt", "env", "network", "disk", "memory", "plan", "task", "now"}

func typeOf(name string) *cel.Type {
	switch name {
	case "item":
		return cel.DynType
	case "index", "exit", "attempt":
		return cel.IntType
	case "stdout", "stderr", "error":
		return cel.StringType
	case "now":
		return cel.TimestampType
	case "env":
		return cel.MapType(cel.StringType, cel.StringType)
	}
	return cel.MapType(cel.StringType, cel.DynType)
}

// environment is built on first use: a command that meets no expression does not pay for it.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	opts := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(2 * MaxSource), // sizes grow when they are written out
		cel.ParserRecursionLimit(maxDepth),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegexp),
		cel.ASTValidators(cel.ValidateRegexLiterals()),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		ext.Strings(),
	}
	for _, name := range Variables {
		opts = append(opts, cel.Variable(name, typeOf(name)))
	}
	return cel.NewEnv(opts...)
})
