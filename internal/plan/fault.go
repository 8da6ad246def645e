package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Severity says whether a plan with the fault may run.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Fault is one thing wrong with a plan file: where, what, and what to do.
type Fault struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line"`
	Col      int      `json:"column"`
	Msg      string   `json:"message"`
	Remedy   string   `json:"remedy,omitempty"`
}

// The codes of errors that the language itself gives; those of the text are in package source.
const (
	CodeCycle      = "E_CYCLE"
	CodeUnknown    = "E_UNKNOWN_TASK"
	CodeDuplicate  = "E_DUPLICATE"
	CodeKey        = "E_UNKNOWN_KEY"
	CodeType       = "E_TYPE"
	CodeEnum       = "E_ENUM"
	CodeKind       = "E_KIND"
	CodeCEL        = "E_CEL"
	CodeCapability = "E_CAPABILITY"
	CodeInput      = "E_INPUT"
	CodeDuration   = "E_DURATION"
	CodeMoney      = "E_MONEY"
	CodeSize       = "E_SIZE"
	CodeTime       = "E_TIME"
	CodeNumber     = "E_NUMBER"
	CodeID         = "E_ID"
	CodeEmpty      = "E_EMPTY"
	CodeRef        = "E_REF"
	CodeEach       = "E_EACH"
	CodeFile       = "E_FILE"
	CodeTooBig     = "E_TOO_BIG"
	CodeMore       = "E_MORE"
	CodeAllow      = "E_ALLOW"
	CodeCommand    = "E_COMMAND"
	CodeLabel      = "E_LABEL"
	CodeRate       = "E_RATE"

	WarnDangling   = "W_DANGLING"
	WarnOpen       = "W_OPEN"
	WarnProse      = "W_PROSE"
	WarnPerson     = "W_PERSON"
	WarnWildcard   = "W_WILDCARD"
	WarnCapability = "W_CAPABILITY"
	WarnStatus     = "W_STATUS"
	WarnKind       = "W_KIND"
	WarnName       = "W_NAME"
	WarnFile       = "W_FILE"
	WarnRef        = "W_REF"
	WarnSandbox    = "W_SANDBOX"
	WarnLabel      = "W_LABEL"
	WarnKey        = "W_KEY"
)

// String is the fault on one line: file:line:column: code: what. What to do.
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	fmt.Fprintf(&b, "%d:%d: %s: %s", f.Line, f.Col, f.Code, f.Msg)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Faults are all that was found, in the order of their places.
type Faults []Fault

// Errors are the faults that keep a plan from running.
func (fs Faults) Errors() Faults { return fs.of(Error) }

// Warnings are the faults that do not.
func (fs Faults) Warnings() Faults { return fs.of(Warning) }

func (fs Faults) of(s Severity) (out Faults) {
	for _, f := range fs {
		if f.Severity == s {
			out = append(out, f)
		}
	}
	return out
}

// Err is nil unless there are errors; then it tells the first and counts the rest.
func (fs Faults) Err() error {
	errs := fs.Errors()
	if len(errs) == 0 {
		return nil
	}
	first := errs[0]
	place := fmt.Sprintf("%d:%d", first.Line, first.Col)
	if first.File != "" {
		place = first.File + ":" + place
	}
	e := fault.New(fault.Invalid, "%s: %s: %s", place, first.Code, first.Msg)
	if len(errs) > 1 {
		e = fault.New(fault.Invalid, "%s (and %d more)", e.Msg, len(errs)-1)
	}
	if first.Remedy != "" {
		return e.Remedy("%s", first.Remedy)
	}
	return e
}

func (fs Faults) String() string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// maxFaults bounds what a hopeless file can cost; what is left out is counted.
const maxFaults = 10_000

// sorted puts faults in the order of their places and drops what was found twice, as an alias
// shows the same fault wherever it stands.
func (fs Faults) sorted() Faults {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Msg, b.Msg))
	})
	return slices.Compact(fs)
}
