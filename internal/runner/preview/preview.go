// Package preview carries a plan out without doing it: every capability is replaced by one that shows what it would do.
//
// Pure work runs. A command runs for real, but in a throwaway copy of the project, which is all that it can write, and
// without a network; what it changes there is shown as a diff. One that is seen to do something for good elsewhere is
// shown and not tried: where the sandbox lacks something, a push from the copy would be a push. Whatever can preview
// itself does. The rest is not called: its declared outputs become placeholders, and the steps that read them are told
// apart from those that could be foreseen.
package preview

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/risk"
)

// Step is what one attempt would do.
type Step struct {
	Task  string `json:"task"`
	Uses  string `json:"uses"`
	Ran   bool   `json:"ran,omitempty"`   // it was really carried out, in the copy
	Error string `json:"error,omitempty"` // how it failed there
	capability.Preview
}

// Trial is the throwaway copy of the project.
type Trial interface {
	Diff(ctx context.Context) (diff []byte, left []string, err error)
}

// Capabilities stands in for a registry.
type Capabilities struct {
	real  engine.Capabilities
	trial Trial
	from  string

	mu    sync.Mutex
	steps []Step
	last  string // the copy's diff after the step before
}

var _ engine.Capabilities = (*Capabilities)(nil)

// New wraps a registry. Commands run in the copy that trial shows the diff of, one at a time; they can read the project
// that it is a copy of, whose history it borrows.
func New(caps engine.Capabilities, trial Trial, project string) *Capabilities {
	return &Capabilities{real: caps, trial: trial, from: project}
}

// Steps are what was shown so far, in order.
func (c *Capabilities) Steps() []Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.steps)
}

// Check implements engine.Capabilities. Placeholders stand where values would: they are not judged.
func (c *Capabilities) Check(id string, with json.RawMessage) error {
	if strings.Contains(string(with), placeholder) {
		return nil
	}
	return c.real.Check(id, with)
}

// Lookup implements engine.Capabilities.
func (c *Capabilities) Lookup(id string) (capability.Contract, capability.Runner, bool) {
	contract, runner, ok := c.real.Lookup(id)
	if !ok || contract.Repeat == capability.Pure {
		return contract, runner, ok
	}
	return contract, capability.RunnerFunc(func(ctx context.Context, call capability.Call) (capability.Result, error) {
		return c.show(ctx, contract, runner, call)
	}), true
}

// runsInCopy lists what may be carried out in the copy: it touches nothing but its folder.
var runsInCopy = []string{"shell", "file.read", "file.write", "file.patch", "git.status", "git.diff"}

func (c *Capabilities) show(ctx context.Context, contract capability.Contract, runner capability.Runner, call capability.Call) (capability.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step := Step{Task: call.Task, Uses: contract.ID}
	if strings.Contains(string(call.With), placeholder) {
		step.Unforeseen = append(step.Unforeseen, "it reads what another step would have brought, which is not known")
		c.steps = append(c.steps, step)
		return unknown(call), nil
	}
	if slices.Contains(runsInCopy, contract.ID) {
		if says := forGood(contract.ID, call); says != "" {
			step.Commands = command(call)
			step.Unforeseen = append(step.Unforeseen, "it is not tried, even in a copy: it "+says)
			c.steps = append(c.steps, step)
			return unknown(call), nil
		}
		return c.try(ctx, step, runner, call)
	}
	if p, ok := runner.(capability.Previewer); ok {
		shown, err := p.Preview(ctx, call)
		if step.Preview = shown; err != nil {
			step.Unforeseen = append(step.Unforeseen, err.Error())
		}
	} else {
		step.Unforeseen = append(step.Unforeseen, "what "+contract.ID+" would do cannot be shown")
	}
	c.steps = append(c.steps, step)
	return unknown(call), nil
}

// try carries a step out in the copy and takes the difference it made.
func (c *Capabilities) try(ctx context.Context, step Step, runner capability.Runner, call capability.Call) (capability.Result, error) {
	step.Ran = true
	step.Commands = command(call)
	call.Limits.Trial = true
	if c.from != "" {
		call.Limits.Read = append(slices.Clip(call.Limits.Read), c.from)
	}
	res, err := runner.Run(ctx, call)
	if err != nil {
		step.Error = err.Error()
	}
	diff, left, derr := c.trial.Diff(ctx)
	if derr != nil {
		step.Unforeseen = append(step.Unforeseen, "what it changed: "+derr.Error())
	}
	step.Unforeseen = append(step.Unforeseen, left...)
	if now := string(diff); now != c.last {
		step.Diff, c.last = since(c.last, now), now
	}
	c.steps = append(c.steps, step)
	return res, err
}

// forGood says what a command line does that cannot be taken back and does not stay in the folder that it runs in; empty
// when none of it is seen to.
func forGood(id string, call capability.Call) string {
	var in struct{ Run string }
	if id != "shell" || json.Unmarshal(call.With, &in) != nil {
		return ""
	}
	for _, f := range risk.Shell(in.Run) {
		if f.Once() && reachesOut(f) {
			return f.Says
		}
	}
	return ""
}

// reachesOut reports whether a command acts on more than the folder that it runs in. Deleting and opening up do only where
// they name another place.
func reachesOut(f risk.Finding) bool {
	if f.Effect != risk.Deletion && f.Effect != risk.Exposure {
		return true
	}
	for _, word := range strings.Fields(f.Text) {
		if word = strings.Trim(word, `"'`); strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || strings.HasPrefix(word, "$") || strings.Contains(word, "..") {
			return true
		}
	}
	return false
}

// command is what a call names to be run or touched.
func command(call capability.Call) []string {
	var in struct{ Run, Path string }
	if json.Unmarshal(call.With, &in) != nil {
		return nil
	}
	return slices.DeleteFunc([]string{in.Run, in.Path}, func(s string) bool { return s == "" })
}

// since leaves out of a diff the files that show the same as before.
func since(before, now string) string {
	old := map[string]bool{}
	for _, f := range files(before) {
		old[f] = true
	}
	var b strings.Builder
	for _, f := range files(now) {
		if !old[f] {
			b.WriteString(f)
		}
	}
	return b.String()
}

func files(diff string) []string {
	const head = "diff --git "
	var out []string
	for _, part := range strings.Split("\n"+diff, "\n"+head)[1:] {
		out = append(out, head+strings.TrimSuffix(part, "\n")+"\n")
	}
	return out
}

// placeholder begins what stands for a value that is not known.
const placeholder = "(not known in a dry run: "

// unknown makes the declared outputs of a call that was not carried out.
func unknown(call capability.Call) capability.Result {
	res := capability.Result{Outputs: map[string]json.RawMessage{}}
	for _, w := range call.Want {
		text, err := json.Marshal(placeholder + call.Task + "." + w.Name + ")")
		if err != nil {
			continue
		}
		switch {
		case w.Type == "list" || strings.HasPrefix(w.Type, "list["):
			text = append(append([]byte{'['}, text...), ']')
		case w.Type == "number":
			text = []byte("0")
		case w.Type == "bool":
			text = []byte("false")
		}
		res.Outputs[w.Name] = text
	}
	return res
}
