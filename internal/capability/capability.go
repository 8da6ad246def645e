// Package capability is the contract between a plan and the tools that carry it out: what a tool
// takes and gives, what it may touch, what repeating it costs, and the port behind which a runner
// performs it.
//
// A registry is filled by hand at assembly; what manifests add is exchanged later, as a whole, while
// others read. A runner never sees the journal: it is handed a Call and a Host, and answers with a
// Result; whether that ends, retries or blocks a task is not its business.
package capability

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/digest"
)

// Class says what carrying a call out twice would do.
type Class string

// The classes, from harmless to harmful.
const (
	Pure       Class = "pure"       // no effect: may run before its intent is on disk, may be reused
	Repeatable Class = "repeatable" // running it again gives the same world
	Keyed      Class = "keyed"      // running it again with the same key gives the same world
	Once       Class = "once"       // must not run again unless it is known not to have happened
)

// Classes lists them from harmless to harmful.
var Classes = []Class{Pure, Repeatable, Keyed, Once}

// Worse returns the more harmful of two classes.
func (c Class) Worse(d Class) Class {
	for i := len(Classes) - 1; i >= 0; i-- {
		if c == Classes[i] || d == Classes[i] {
			return Classes[i]
		}
	}
	return Once
}

// Contract is what a capability promises.
type Contract struct {
	ID          string          `json:"id"` // noun.verb
	Version     string          `json:"version"`
	Summary     string          `json:"summary"`
	Inputs      json.RawMessage `json:"inputs,omitempty"`  // JSON Schema of an object
	Outputs     json.RawMessage `json:"outputs,omitempty"` // JSON Schema of an object
	Positional  []string        `json:"positional,omitempty"`
	Needs       Needs           `json:"needs,omitzero"`
	Repeat      Class           `json:"repeat"`
	Criticality string          `json:"criticality,omitempty"` // safe, moderate, critical, dangerous
	CostTier    int             `json:"costTier,omitempty"`    // 1-5
	Estimate    time.Duration   `json:"estimate,omitempty"`
	Spends      budget.Amount   `json:"spends,omitzero"` // what a call is known to spend, beside itself
	Examples    []Example       `json:"examples,omitempty"`
	Provider    string          `json:"provider,omitempty"` // builtin, or the manifest's file
	// To is where data goes, for policy.labels: names of inputs that hold an address, NAME=ADDRESS where one that is left
	// out means that address, addresses themselves, AnyHost.
	To []string `json:"to,omitempty"`
}

// Needs is what a capability must be allowed to touch.
type Needs struct {
	Network bool     `json:"network,omitempty"`
	Write   bool     `json:"write,omitempty"`
	Secrets []string `json:"secrets,omitempty"`
}

// Example is a call that works.
type Example struct {
	Says string          `json:"says"`
	With json.RawMessage `json:"with"`
}

// Call is one attempt handed to a runner. Everything in it is resolved: no reference is left.
type Call struct {
	Plan      string
	Task      string
	Execution int
	Attempt   int
	Key       digest.ID         // effect key: the same over retries, new on a re-run
	With      json.RawMessage   // an object that fits the contract's input schema
	Env       map[string]string // what the plan and the task declare
	Dir       string            // absolute working directory
	Want      []Want            // outputs that the plan declares
	Limits    Limits            // what the policy lets it touch
	Host      Host

	// Secret finds a secret that the contract needs, and sees to it that it is never written down; nil: there are none.
	Secret func(ctx context.Context, name string) (string, error)
	// May refuses a host that the data may not reach, for whoever learns of one late, as by a redirect; nil: any.
	May func(host string) error
}

// Want is one output that a plan declares for a task.
type Want struct {
	Name string
	Type string
	From string // stdout, stderr, or empty
	Path string // relative to Dir
}

// Host is what an attempt may ask of the engine while it runs.
type Host interface {
	// Spawned records a process before it does anything. A runner starts a child held at a gate,
	// calls Spawned, and releases the child only when it returns nil.
	Spawned(Process) error
	// Beat tells the watchdog that the attempt is alive.
	Beat()
	// Put stores content under a name of this task, streaming; it can be read before the task ends.
	Put(ctx context.Context, name, typ string, r io.Reader) (Ref, error)
}

// Opener is a Host that gives back what an attempt stored, as a Keeper needs it to restore.
type Opener interface {
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
}

// Process is a child of the engine, known well enough to be found and ended after a crash.
type Process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"` // kernel start time: a reused pid has another
	Host    string `json:"host,omitempty"`
}

// Ref names content that an attempt stored.
type Ref struct {
	Name      string    `json:"name"`
	Hash      digest.ID `json:"hash"`
	Size      int64     `json:"size"`
	Type      string    `json:"type,omitempty"`
	Truncated int64     `json:"truncated,omitempty"` // bytes that a cap left out
}

// Result is how an attempt ended. A failure is an error beside it; what was found out is kept.
type Result struct {
	Outputs   map[string]json.RawMessage
	Artifacts []Ref
	Exit      *int              // exit status of a process, HTTP status of a request
	Stdout    string            // the last 4 KiB at most: what expressions see
	Stderr    string            // likewise
	Versions  map[string]string // tools and their versions
	Dir       string            // where it ran, relative to the project root
	EnvNames  []string          // which variables it was given
	Spent     budget.Amount     // money, tokens and calls of its own, as far as it knows; time is measured
}

// Runner performs one capability. It must return soon after ctx is done.
type Runner interface {
	Run(ctx context.Context, call Call) (Result, error)
}

// Classifier is a Runner whose class depends on the inputs. Its contract states the usual one.
type Classifier interface {
	Class(with json.RawMessage) Class
}

// Prober is a Runner that can find out whether an attempt which was cut off took effect.
type Prober interface {
	Probe(ctx context.Context, call Call) (r Result, done bool, err error)
}

// RunnerFunc makes a function a Runner.
type RunnerFunc func(ctx context.Context, call Call) (Result, error)

// Run implements Runner.
func (f RunnerFunc) Run(ctx context.Context, call Call) (Result, error) { return f(ctx, call) }

// Preview is what a call would do, as far as that can be told without doing it.
type Preview struct {
	Commands   []string `json:"commands,omitempty"`   // what would be run or sent
	Diff       string   `json:"diff,omitempty"`       // unified, of files or rows
	Unforeseen []string `json:"unforeseen,omitempty"` // what could not be told, in words
}

// Previewer is a Runner that can show what a call would do. It leaves no trace.
type Previewer interface {
	Preview(ctx context.Context, call Call) (Preview, error)
}

// Keeper is a Runner that keeps a copy of what a call is about to change, and can put it back. A backup is small JSON;
// what is large is stored through the Host and named in it. Restore may be tried again after it failed half way.
type Keeper interface {
	Backup(ctx context.Context, call Call) (json.RawMessage, error)
	Restore(ctx context.Context, call Call, backup json.RawMessage) error
}
