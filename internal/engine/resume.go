package engine

import (
	"context"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Pipeline is the capability that runs a chain of others.
const Pipeline = "pipeline"

// isPipeline reports whether a command is a pipeline of capabilities that are all installed.
func (e *Engine) isPipeline(run string) bool {
	p, ok := expr.ParsePipeline(run)
	if !ok {
		return false
	}
	if _, _, ok := e.Capabilities.Lookup(Pipeline); !ok {
		return false
	}
	for _, name := range p.Names() {
		if _, _, ok := e.Capabilities.Lookup(name); !ok {
			return false
		}
	}
	return true
}

// spawned finds the processes that were recorded for attempts without an outcome.
func (r *Run) spawned(ctx context.Context, cutOff []lifecycle.Effect) (map[string]capability.Process, error) {
	if len(cutOff) == 0 {
		return nil, nil
	}
	attempt := make(map[string]int, len(cutOff))
	for _, ef := range cutOff {
		attempt[ef.Task] = ef.Attempt
	}
	found := map[string]capability.Process{}
	for rec, err := range r.engine.Records(ctx, r.State.Name, 0) {
		if err != nil {
			return nil, err
		}
		if rec.Kind != lifecycle.TaskSpawned || attempt[rec.Task] != rec.Attempt {
			continue
		}
		f, err := lifecycle.FactOf(rec)
		if err != nil {
			return nil, err
		}
		found[rec.Task] = f.Body.(*lifecycle.Spawned).Process
	}
	return found, nil
}

// clear ends what a dead engine left running and records what became of its attempts.
func (r *Run) clear(ctx context.Context, cutOff []lifecycle.Effect) (out []Work, err error) {
	spawned, err := r.spawned(ctx, cutOff)
	if err != nil {
		return nil, err
	}
	for _, ef := range cutOff {
		if p, ok := spawned[ef.Task]; ok && r.engine.End != nil {
			r.engine.End(p)
		}
		w, _, err := r.Step(r.cutOff(ctx, ef))
		if err != nil {
			return nil, err
		}
		out = append(out, w...)
	}
	return out, nil
}

// cutOff finds out what became of an attempt that a dead engine had begun. Only what must not happen twice is
// asked after; everything else is simply done again.
func (r *Run) cutOff(ctx context.Context, ef lifecycle.Effect) lifecycle.Fact {
	f := lifecycle.Fact{Kind: lifecycle.TaskInterrupted, Task: ef.Task, Attempt: ef.Attempt,
		Body: &lifecycle.Interrupted{Then: lifecycle.Repeat, Why: "the engine stopped"}}
	w := Work{Effect: ef, key: r.State.Key(ef.Task, ef.Execution), scope: r.gather(ef)}
	call, runner, err := r.call(ctx, w)
	if err != nil || r.Class(ef, call, runner) != capability.Once {
		return f
	}
	ask := func(why string) lifecycle.Fact {
		f.Body = &lifecycle.Interrupted{Then: lifecycle.Ask, Why: clip(why)}
		return f
	}
	prober, ok := runner.(capability.Prober)
	if !ok {
		return ask("the engine stopped while it ran; it must not run twice, and nothing here can tell whether it took effect")
	}
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Probed: true}
	// What the attempt did to files and was not kept is gone where it had a folder of its own: the last state tells.
	if call.Dir, err = r.dirOf(ctx, w, call.Dir); err != nil {
		return ask("the engine stopped while it ran, and its files cannot be looked at: " + err.Error())
	}
	call.Host = &host{run: r, work: w, rep: refuseReports{}}
	res, done, err := prober.Probe(ctx, call)
	switch {
	case fault.Is(err, fault.NotFound):
		return ask("the engine stopped while it ran; it must not run twice, and it has no probe that could tell whether it took effect")
	case err != nil:
		return ask("the engine stopped while it ran, and its probe failed: " + err.Error())
	case !done:
		f.Body = &lifecycle.Interrupted{Then: lifecycle.Repeat, Why: "the engine stopped; its probe says that it took no effect"}
		return f
	}
	r.judge(ctx, w, e, res, nil)
	return lifecycle.Fact{Kind: lifecycle.TaskEnded, Task: ef.Task, Attempt: ef.Attempt, Body: e}
}

// refuseReports is the reporter of a probe, which has nothing to report.
type refuseReports struct{}

func (refuseReports) Report(lifecycle.Fact) error { return nil }

// Class says what repeating a call would do: as the task declares, else as the capability does.
func (r *Run) Class(ef lifecycle.Effect, call capability.Call, runner capability.Runner) capability.Class {
	if ef.Spec.Repeat != "" {
		return capability.Class(ef.Spec.Repeat)
	}
	if c, ok := runner.(capability.Classifier); ok {
		return c.Class(call.With)
	}
	contract, _, _ := r.engine.Capabilities.Lookup(ef.Spec.Uses)
	return contract.Repeat
}

// MustFinish reports whether a piece of work should be let finish rather than cut off: it must not run twice.
func (r *Run) MustFinish(w Work) bool {
	if w.Kind != lifecycle.Start {
		return false
	}
	with, err := r.inputs(context.Background(), w, map[string]string{})
	_, runner, ok := r.engine.Capabilities.Lookup(w.Spec.Uses)
	return err == nil && ok && r.Class(w.Effect, capability.Call{With: with}, runner) == capability.Once
}
