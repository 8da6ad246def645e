package engine

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// maxInline is how much of a task's outputs is kept in its record; the rest is stored by hash.
const maxInline = 4096

// Reporter takes facts that an attempt has to tell while it runs. Report returns when the fact is durable.
type Reporter interface {
	Report(f lifecycle.Fact) error
}

// ErrStopped is the cause of a context that was cancelled because the engine is going down or the plan was given up:
// what the attempt says then is not an outcome.
var ErrStopped = errors.New("stopped")

// Perform does a piece of work and returns the fact that it came to. ok is false when it was stopped before it came
// to anything; the journal then shows it as begun and not ended.
func (r *Run) Perform(ctx context.Context, w Work, rep Reporter) (f lifecycle.Fact, ok bool) {
	switch w.Kind {
	case lifecycle.Assess:
		if w.Task == "" {
			f = r.assessGoal(ctx, w)
			break
		}
		f = r.assess(ctx, w)
	case lifecycle.Undo:
		f = r.undo(ctx, w, rep)
	default:
		f = r.attempt(ctx, w, rep)
	}
	return f, !errors.Is(context.Cause(ctx), ErrStopped)
}

func (r *Run) attempt(ctx context.Context, w Work, rep Reporter) lifecycle.Fact {
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded}
	full, err := r.admit(ctx, w, w.Want, 0)
	if full != nil {
		return lifecycle.Fact{Kind: lifecycle.BudgetRead, Task: w.Task, Attempt: w.Attempt, Body: full}
	}
	began := time.Now()
	var res capability.Result
	if err == nil {
		res, err = r.carryOut(ctx, w, rep, e)
	}
	if err == nil {
		res.Outputs, err = r.passedOn(ctx, w, res.Outputs)
	}
	res, err = r.clean(res, err)
	r.judge(ctx, w, e, res, err)
	e.Took += time.Since(began) // less what it waited for its turn
	own := res.Spent.Plus(budget.Amount{Calls: 1})
	own.Time = e.Took
	r.dismiss(ctx, w, own, 0)
	return lifecycle.Fact{Kind: lifecycle.TaskEnded, Task: w.Task, Attempt: w.Attempt, Body: e}
}

// passedOn adds the outputs that a task only passes on from others.
func (r *Run) passedOn(ctx context.Context, w Work, outputs map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	for _, o := range w.Spec.Outputs {
		if !strings.HasPrefix(o.From, "${") {
			continue
		}
		v, err := r.resolve(ctx, w, o.From)
		if err != nil {
			return outputs, err
		}
		if outputs == nil {
			outputs = map[string]json.RawMessage{}
		}
		outputs[o.Name] = mustJSON(v)
	}
	return outputs, nil
}

// carryOut runs the capability under the task's timeout and heartbeat.
func (r *Run) carryOut(ctx context.Context, w Work, rep Reporter, e *lifecycle.Ended) (capability.Result, error) {
	for _, src := range w.Spec.Pre {
		if isCEL, _ := expr.Kind(src); !isCEL {
			continue
		}
		if ok, err := r.holds(ctx, w, src, nil); err != nil {
			return capability.Result{}, fault.Wrap(fault.Failed, err, "precondition %s", src)
		} else if !ok {
			return capability.Result{}, fault.New(fault.Failed, "precondition does not hold: %s", src)
		}
	}
	call, runner, err := r.call(ctx, w)
	if err != nil {
		e.Final = true
		return capability.Result{}, err
	}
	if len(call.With) > 2 {
		e.Inputs = digest.Sum(r.vault.redactor().JSON(call.With))
	}
	if res, ok := reused(w, e.Inputs, call.With); ok {
		e.Memo = true
		return res, nil
	}
	h := &host{run: r, work: w, rep: rep}
	call.Host = h
	defer func() { e.Took -= h.waited }()
	if err := h.Queue(ctx, w.Spec.Uses, call.With); err != nil {
		return capability.Result{}, err
	}
	ctx, inTime := h.within(ctx)
	defer inTime()
	ctx, stop := h.watch(ctx, w.Spec)
	defer stop()
	res, err := r.inPlace(ctx, w, runner, call, e)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	h.account(ctx, e, res, err)
	return res, err
}

// call resolves what a task hands to its capability.
func (r *Run) call(ctx context.Context, w Work) (capability.Call, capability.Runner, error) {
	t := w.Spec
	contract, runner, ok := r.engine.Capabilities.Lookup(t.Uses)
	if !ok {
		return capability.Call{}, nil, fault.New(fault.Failed, "capability %s is not installed", t.Uses).
			Remedy("see what there is with: cairn capability list")
	}
	call := capability.Call{Plan: r.State.Name, Task: w.Task, Execution: w.Execution, Attempt: w.Attempt, Key: w.key, Dir: r.engine.Root, Secret: r.secret, Limits: r.limits()}
	dir, err := r.text(ctx, w, t.Dir)
	if err != nil {
		return call, nil, err
	}
	if dir != "" && !filepath.IsLocal(dir) {
		return call, nil, fault.New(fault.Invalid, "task %s: dir %s leaves the project", w.Task, dir)
	}
	call.Dir = filepath.Join(call.Dir, dir)
	if call.Env, err = r.env(ctx, w); err != nil {
		return call, nil, err
	}
	if call.With, err = r.inputs(ctx, w, call.Env); err != nil {
		return call, nil, err
	}
	if len(call.With) > 0 || len(contract.Inputs) > 0 {
		if err := r.engine.Capabilities.Check(t.Uses, call.With); err != nil {
			return call, nil, err
		}
	}
	if len(call.With) == 0 {
		call.With = json.RawMessage("{}") // runners are promised an object
	}
	for _, o := range t.Outputs {
		if strings.HasPrefix(o.From, "${") {
			continue // another task made it
		}
		call.Want = append(call.Want, capability.Want{Name: o.Name, Type: o.Type, From: o.From, Path: o.Path})
	}
	if len(w.scope.carried.labels) > 0 {
		call.May, err = r.mayGo(w, contract.ID, call.With)
	}
	return call, runner, err
}

// inputs are the task's, with every reference replaced; a command becomes the input `run`, and the secrets it names go
// into the environment.
func (r *Run) inputs(ctx context.Context, w Work, env map[string]string) (json.RawMessage, error) {
	t := w.Spec
	with, err := expr.Resolve(t.With, r.lookup(ctx, w.scope))
	if err != nil || t.Run == "" {
		return with, err
	}
	run := t.Run
	if t.Uses != Pipeline {
		if run, err = expr.Text(t.Run, w.scope.inner != "", r.commandLine(ctx, w.scope, env)); err != nil {
			return nil, err
		}
	}
	m := map[string]json.RawMessage{}
	if len(with) > 0 {
		if err := json.Unmarshal(with, &m); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "task %s: with is no object", w.Task)
		}
	}
	m["run"] = mustJSON(run)
	return json.Marshal(m)
}

func (r *Run) env(ctx context.Context, w Work) (map[string]string, error) {
	env := mergedEnv(r.State.Plan, w.Spec)
	for k, v := range env {
		var err error
		if env[k], err = r.text(ctx, w, v); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// text replaces the references in a text by the text of their values.
func (r *Run) text(ctx context.Context, w Work, s string) (string, error) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	v, err := r.resolve(ctx, w, s)
	if err != nil {
		return "", err
	}
	return expr.Plain(v)
}

// resolve gives the value of a text that may be a reference, with its type.
func (r *Run) resolve(ctx context.Context, w Work, s string) (any, error) {
	raw, err := expr.Resolve(mustJSON(s), r.lookup(ctx, w.scope))
	if err != nil {
		return nil, err
	}
	return expr.Value(raw)
}

// judge turns what the capability answered into an outcome: outputs are put where they belong, criteria are
// evaluated, and a failure is matched against the modes that were foreseen.
func (r *Run) judge(ctx context.Context, w Work, e *lifecycle.Ended, res capability.Result, err error) {
	e.Exit, e.Versions, e.Dir, e.Env = res.Exit, res.Versions, res.Dir, res.EnvNames
	if kerr := r.keep(ctx, w.Spec, e, res); err == nil {
		err = kerr
	}
	t := w.Spec
	if err == nil && len(t.Expect) > 0 {
		err = r.criteria(ctx, w, e, res)
	}
	if err == nil {
		return
	}
	e.Outcome, e.Error, e.Stderr = lifecycle.Failed, told(err), clip(res.Stderr)
	if fault.Is(err, fault.Invalid) {
		e.Final = true
	}
	for _, m := range t.Failure {
		if isCEL, _ := expr.Kind(m.Detect); m.Detect != "" && !isCEL {
			continue
		}
		if m.Detect != "" {
			if ok, derr := r.holds(context.WithoutCancel(ctx), w, m.Detect, after(e, res)); derr != nil || !ok {
				continue
			}
		}
		e.Mode = m.Name
		return
	}
}

// after is what expressions know once a task has run.
func after(e *lifecycle.Ended, res capability.Result) map[string]any {
	exit := 0
	if e.Exit != nil {
		exit = *e.Exit
	} else if e.Outcome == lifecycle.Failed {
		exit = 1
	}
	outputs := res.Outputs
	if outputs == nil {
		outputs = map[string]json.RawMessage{}
	}
	return map[string]any{"outputs": outputs, "exit": exit, "stdout": res.Stdout, "stderr": res.Stderr, "error": e.Error}
}

func (r *Run) criteria(ctx context.Context, w Work, e *lifecycle.Ended, res capability.Result) error {
	var first error
	vars := after(e, res)
	if len(e.Artifacts) > 0 {
		all, err := r.all(ctx, seen{result: &lifecycle.Result{Outputs: res.Outputs, Artifacts: e.Artifacts}})
		if err != nil {
			return err
		}
		vars["outputs"] = all
	}
	for _, c := range w.Spec.Expect {
		v := lifecycle.Verdict{Says: c.Says, Judge: c.Judge}
		if !c.Judge {
			ok, err := r.holds(ctx, w, c.Says, vars)
			switch v.OK = ok; {
			case err != nil:
				v.Why = clip(err.Error())
				err = fault.New(fault.Failed, "%s", v.Why)
			case !ok:
				err = fault.New(fault.Failed, "expected %s, which does not hold", c.Says)
			}
			if first == nil {
				first = err
			}
		}
		e.Criteria = append(e.Criteria, v)
	}
	return first
}

// keep decides what stays in the record and what is stored by hash.
func (r *Run) keep(ctx context.Context, t *plan.Task, e *lifecycle.Ended, res capability.Result) error {
	e.Artifacts = res.Artifacts
	room := maxInline
	for _, name := range sortedKeys(res.Outputs) {
		raw := res.Outputs[name]
		canon, err := digest.Canonicalize(raw)
		if err != nil {
			return fault.Wrap(fault.Failed, err, "output %s", name)
		}
		if len(canon) <= room {
			room -= len(canon)
			if e.Outputs == nil {
				e.Outputs = make(map[string]json.RawMessage, len(res.Outputs))
			}
			e.Outputs[name] = canon
			continue
		}
		typ, content := "json", canon
		var text string
		if json.Unmarshal(raw, &text) == nil {
			typ, content = "text", []byte(text)
		}
		blob, err := artifact.PutBytes(ctx, r.engine.Artifacts, content)
		if err != nil {
			return err
		}
		e.Artifacts = append(e.Artifacts, capability.Ref{Name: name, Hash: blob.ID, Size: blob.Size, Type: typ})
	}
	return missing(t, e)
}

// missing names a declared output that was never produced.
func missing(t *plan.Task, e *lifecycle.Ended) error {
	for _, o := range t.Outputs {
		_, ok := e.Outputs[o.Name]
		for _, a := range e.Artifacts {
			ok = ok || a.Name == o.Name
		}
		if !ok {
			return fault.New(fault.Failed, "output %s was declared but never produced", o.Name).
				Remedy("write it to $CAIRN_OUTPUT as %s=VALUE, give it a path or from: stdout, or take it out of outputs", o.Name)
		}
	}
	return nil
}

func sortedKeys(m map[string]json.RawMessage) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return sorted(keys)
}
