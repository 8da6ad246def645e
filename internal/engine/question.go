package engine

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Reply is the command that answers a question, or decides between options.
const Reply = "answer"

// Question reads what a task of a folded plan asks, whoever holds the plan. What it refers to is there by the time it
// asks, and never changes, so that everybody reads the same.
func (e *Engine) Question(ctx context.Context, st *lifecycle.State, task string) (lifecycle.Question, error) {
	r := newRun(e, st, journal.Head{}, func() {})
	t, err := r.task(task)
	if err != nil {
		return lifecycle.Question{}, err
	}
	return r.question(ctx, t)
}

func (r *Run) question(ctx context.Context, t lifecycle.Task) (lifecycle.Question, error) {
	w := Work{Effect: lifecycle.Effect{Kind: lifecycle.Start, Task: t.ID, Spec: t.Spec}}
	w.scope = r.gather(w.Effect)
	with, _, err := r.foreseen(ctx, w)
	if err != nil {
		return lifecycle.Question{}, err
	}
	return lifecycle.ReadQuestion(t.Spec, with)
}

// reply makes the fact of an answer.
func (r *Run) reply(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	t, err := r.task(c.Task)
	if err != nil {
		return f, err
	}
	name := r.State.Name
	switch {
	case !lifecycle.IsQuestion(t.Spec):
		return f, fault.New(fault.Invalid, "task %s asks no question", t.ID).Remedy("see what waits, and how to answer it: cairn inbox")
	case t.Status == lifecycle.Completed:
		return f, fault.New(fault.Conflict, "question %s is answered already: %s", t.ID, said(t)).Remedy("see by whom: cairn why %s %s", name, t.ID)
	case t.Wait != lifecycle.ForPerson:
		return f, fault.New(fault.Conflict, "question %s is not asked: it is %s", t.ID, t.Status).Remedy("see why: cairn why %s %s", name, t.ID)
	}
	return r.answerBy(f, c, t, actor)
}

// answerBy ends a question by somebody's word, whichever command brought it. One rule says who may, for questions and
// gates alike.
func (r *Run) answerBy(f lifecycle.Fact, c Command, t lifecycle.Task, actor string) (lifecycle.Fact, error) {
	f.Attempt = t.Attempt
	q, asked := r.question(context.Background(), t)
	hold := q.Hold(r.State.Authors())
	if err := hold.May(gate.Who{Actor: actor, Roles: r.engine.roles(actor)}, c.Name != Fail); err != nil {
		return f, err
	}
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Inputs: q.Inputs}
	f.Kind, f.Body = lifecycle.TaskEnded, e
	if c.Name == Fail {
		e.Outcome, e.Error, e.Final = lifecycle.Failed, clip(c.Why), true
		return f, nil
	}
	if asked != nil {
		return f, asked
	}
	var err error
	if e.Outputs, err = q.Answer(c.words()); err != nil {
		return f, err
	}
	return f, r.acceptable(t, e, actor)
}

// words are the answer that a command carries: as text, or as the output that it becomes.
func (c Command) words() string {
	for _, name := range []string{lifecycle.AnswerOutput, lifecycle.ChoiceOutput} {
		var s string
		if json.Unmarshal(c.Outputs[name], &s) == nil && s != "" {
			return s
		}
	}
	return c.Text
}

// said is how a question was answered.
func said(t lifecycle.Task) string {
	if t.Result != nil {
		for _, name := range []string{lifecycle.AnswerOutput, lifecycle.ChoiceOutput} {
			if v, ok := t.Result.Outputs[name]; ok {
				return clip(string(v))
			}
		}
	}
	return string(t.Status)
}
