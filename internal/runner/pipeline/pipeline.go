// Package pipeline performs the capability `pipeline`: a chain of other capabilities,
// search(query) -> links; fetch(links) -> docs, whose results are handed on by name.
//
// The calls run one after the other in one attempt, each with an effect key of its own that is the
// same over retries. The first that fails ends the chain, and its error names it; what was found
// out before is kept. A chain is as harmful to repeat as the worst of its parts.
package pipeline

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

// ID is the capability's id.
const ID = "pipeline"

// Registry is where the parts of a chain are found.
type Registry interface {
	Lookup(id string) (capability.Contract, capability.Runner, bool)
	Check(id string, with json.RawMessage) error
}

// Runner runs chains over a registry.
type Runner struct{ parts Registry }

var (
	_ capability.Runner     = (*Runner)(nil)
	_ capability.Classifier = (*Runner)(nil)
)

// New makes a Runner.
func New(parts Registry) *Runner { return &Runner{parts} }

// Contract is what `pipeline` promises. Its class is the worst that its parts can have.
func Contract() capability.Contract {
	return capability.Contract{
		ID:      ID,
		Version: "1.0.0",
		Summary: "Run a chain of capabilities, each reading what those before it gave",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {"run": {"type": "string", "minLength": 1, "description": "The chain: f(x, n=3) -> y; g(y) -> z. Other inputs are variables of it"}},
  "required": ["run"]
}`),
		Outputs:     json.RawMessage(`{"type": "object", "description": "What each -> names; of a last call that names nothing, its outputs"}`),
		Positional:  []string{"run"},
		Needs:       capability.Needs{Network: true, Write: true},
		Repeat:      capability.Once,
		Criticality: "moderate",
		CostTier:    1,
		Provider:    "builtin",
		Examples: []capability.Example{
			{Says: "Hand a result on", With: json.RawMessage(`{"run": "noop(outputs=start) -> first; noop(outputs=first) -> second", "start": {"found": {"n": 1}}}`)},
		},
	}
}

func parse(with json.RawMessage) (expr.Pipeline, map[string]json.RawMessage, error) {
	var vars map[string]json.RawMessage
	var run string
	if err := json.Unmarshal(with, &vars); err == nil {
		_ = json.Unmarshal(vars["run"], &run) // what is no text is no chain, and told below
	}
	p, ok := expr.ParsePipeline(run)
	if !ok {
		return p, nil, fault.New(fault.Invalid, "%q is no chain of calls", run).Remedy("write it like f(x, n=3) -> y; g(y) -> z")
	}
	delete(vars, "run")
	return p, vars, nil
}

// Class implements capability.Classifier.
func (r *Runner) Class(with json.RawMessage) capability.Class {
	p, _, err := parse(with)
	if err != nil {
		return capability.Once
	}
	worst := capability.Pure
	for _, c := range p.Calls {
		contract, _, ok := r.parts.Lookup(c.Name)
		if !ok {
			return capability.Once
		}
		worst = worst.Worse(contract.Repeat)
	}
	return worst
}

// Run implements capability.Runner.
func (r *Runner) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	p, vars, err := parse(call.With)
	if err != nil {
		return capability.Result{}, err
	}
	sum := capability.Result{Outputs: map[string]json.RawMessage{}, Versions: map[string]string{}}
	for i, c := range p.Calls {
		if ctx.Err() != nil {
			return sum, context.Cause(ctx)
		}
		res, given, err := r.part(ctx, call, c, i, vars)
		sum.Artifacts = append(sum.Artifacts, res.Artifacts...)
		sum.Exit, sum.Stdout, sum.Stderr = res.Exit, res.Stdout, res.Stderr
		for tool, version := range res.Versions {
			sum.Versions[tool] = version
		}
		if err != nil {
			return sum, fault.Wrap(fault.CodeOf(err), err, "call %d of the chain, %s", i+1, c.Name).Remedy("%s", fault.HintOf(err))
		}
		switch {
		case c.Into != "":
			vars[c.Into] = value(given)
			sum.Outputs[c.Into] = vars[c.Into]
		case i == len(p.Calls)-1:
			for name, v := range given {
				sum.Outputs[name] = v
			}
		}
	}
	return sum, nil
}

// part carries out one call and returns what it gave, artifacts included, by name.
func (r *Runner) part(ctx context.Context, whole capability.Call, c expr.PipeCall, i int, vars map[string]json.RawMessage) (
	capability.Result, map[string]json.RawMessage, error) {
	contract, runner, ok := r.parts.Lookup(c.Name)
	if !ok || c.Name == ID {
		return capability.Result{}, nil, fault.New(fault.Failed, "it is not installed").Remedy("see what there is with: cairn capability list")
	}
	with, err := bind(contract, c, vars)
	if err != nil {
		return capability.Result{}, nil, err
	}
	if err := r.parts.Check(c.Name, with); err != nil {
		return capability.Result{}, nil, err
	}
	host := &keeper{Host: whole.Host, prefix: prefix(c, i)}
	call := whole
	call.With, call.Host, call.Want = with, host, nil
	call.Key = digest.Sum([]byte(whole.Key.String() + "/" + strconv.Itoa(i) + "/" + c.Name))
	if err := whole.Queue(ctx, c.Name, with); err != nil {
		return capability.Result{}, nil, err
	}
	settle, err := pay(ctx, whole, c.Name)
	if err != nil {
		return capability.Result{}, nil, err
	}
	res, err := runner.Run(ctx, call)
	settle(res.Spent.Plus(budget.Amount{Calls: 1}))
	given := host.texts()
	for name, v := range res.Outputs {
		given[name] = v
	}
	return res, given, err
}

// pay reserves one call of the chain, before it is made. Doing nothing costs nothing.
func pay(ctx context.Context, whole capability.Call, name string) (func(budget.Amount), error) {
	if name == "noop" {
		return func(budget.Amount) {}, nil
	}
	return whole.Reserve(ctx, budget.Amount{Calls: 1})
}

// prefix begins the names of what a call stores: two calls of a chain may use one name.
func prefix(c expr.PipeCall, i int) string {
	if c.Into != "" {
		return c.Into + "."
	}
	return strconv.Itoa(i+1) + "."
}

// value is what a result variable holds: the sole output, or all of them.
func value(given map[string]json.RawMessage) json.RawMessage {
	if len(given) == 1 {
		for _, v := range given {
			return v
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return json.RawMessage("null") // outputs are JSON, or the runner broke its word
	}
	return raw
}
