package git

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// BranchContract is what git.branch promises.
func BranchContract() capability.Contract {
	c := builtin("git.branch", "Make a branch, and switch to it when asked; changed files are kept")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 1},
    "from": {"type": "string", "minLength": 1, "description": "A branch, tag or commit; the last commit when absent"},
    "switch": {"type": "boolean", "default": false, "description": "Check it out"},
    "existing": {"type": "boolean", "default": false, "description": "Take a branch of that name as it is, wherever it is"}
  },
  "required": ["name"],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "branch": {"type": "string"},
    "commit": {"type": "string", "description": "Empty before the first"},
    "created": {"type": "boolean", "description": "False when it was there already"},
    "current": {"type": "boolean", "description": "It is checked out"}
  },
  "required": ["branch", "commit", "created", "current"]
}`)
	c.Positional = []string{"name"}
	c.Needs.Write = true
	c.Repeat, c.Criticality = capability.Repeatable, "moderate"
	c.Examples = []capability.Example{
		{Says: "Begin to work on a branch", With: json.RawMessage(`{"name": "plan/retries", "switch": true}`)},
		{Says: "Mark where we are", With: json.RawMessage(`{"name": "before-migration", "from": "HEAD"}`)},
	}
	return c
}

// Branch performs git.branch.
type Branch struct{}

var (
	_ capability.Runner    = Branch{}
	_ capability.Previewer = Branch{}
)

type branching struct {
	Name     string `json:"name"`
	From     string `json:"from"`
	Switch   bool   `json:"switch"`
	Existing bool   `json:"existing"`
}

// fork is a branch that is to be, and where things stand.
type fork struct {
	branching
	repo
	now   head
	start string // where it begins; empty before the first commit
	tip   string // where it is already; empty when it is not
}

func beginBranch(ctx context.Context, call capability.Call) (f fork, err error) {
	if err = decode(call, "git.branch", &f.branching); err != nil {
		return f, err
	}
	if f.repo, err = open(ctx, call); err != nil {
		return f, err
	}
	if err := f.named(ctx, f.Name); err != nil {
		return f, err
	}
	if f.now, err = f.repo.head(ctx); err != nil {
		return f, err
	}
	f.start = f.now.commit
	if f.From != "" {
		if f.start, err = f.commit(ctx, f.From); err != nil {
			return f, err
		}
	}
	a, err := f.run(ctx, "", "rev-parse", "--verify", "--quiet", "refs/heads/"+f.Name)
	if err != nil {
		return f, err
	}
	if f.tip = strings.TrimSpace(string(a.out)); f.tip == "" || f.tip == f.start || f.Existing {
		return f, nil
	}
	return f, fault.New(fault.Conflict, "there is a branch %s already, at %.12s and not at %.12s", f.Name, f.tip, f.start).
		Remedy("take another name, or existing: true to go on with it as it is")
}

// named refuses what can be no branch.
func (r repo) named(ctx context.Context, name string) error {
	a, err := r.run(ctx, "", "check-ref-format", "refs/heads/"+name)
	if err != nil {
		return err
	}
	if a.exit != 0 || strings.HasPrefix(name, "-") || name == "HEAD" {
		return fault.New(fault.Invalid, "%q is no name for a branch", name).
			Remedy("use letters, digits, - and /, without blanks, .., ~, ^, : and a leading -")
	}
	return nil
}

// Run implements capability.Runner.
func (Branch) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	f, err := beginBranch(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	created := f.tip == ""
	switch {
	case f.start == "" && !f.Switch:
		_, err = f.born(ctx, "begin a branch at")
		return capability.Result{}, err
	case f.start == "": // before the first commit a branch is only where the head points
		_, err = f.ask(ctx, "symbolic-ref", "HEAD", "refs/heads/"+f.Name)
	case f.tip == "":
		f.tip = f.start
		_, err = f.ask(ctx, "update-ref", "-m", "branch: made", "refs/heads/"+f.Name, f.start, strings.Repeat("0", len(f.start)))
	}
	if err == nil && f.Switch && f.tip != "" && f.now.branch != f.Name {
		_, err = f.ask(ctx, "switch", "--quiet", "--no-guess", f.Name)
	}
	if err != nil {
		return capability.Result{}, err
	}
	return capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"branch": asJSON(f.Name), "commit": asJSON(f.tip),
		"created": asJSON(created), "current": asJSON(f.Switch || f.now.branch == f.Name)}}, nil
}

// Preview implements capability.Previewer.
func (Branch) Preview(ctx context.Context, call capability.Call) (capability.Preview, error) {
	f, err := beginBranch(ctx, call)
	if err != nil {
		return capability.Preview{}, err
	}
	var p capability.Preview
	if f.tip == "" {
		p.Commands = append(p.Commands, strings.TrimSpace(fmt.Sprintf("git branch %s %.12s", f.Name, f.start)))
	}
	if f.Switch && f.now.branch != f.Name {
		p.Commands = append(p.Commands, "git switch "+f.Name)
		at := f.tip
		if at == "" {
			at = f.start
		}
		if at != f.now.commit {
			p.Diff, err = f.ask(ctx, append(append([]string{"diff", "--stat"}, plain...), f.now.commit, at)...)
		}
	}
	return p, err
}
