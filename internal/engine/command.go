package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Command is what a person can ask of a plan, whichever process holds it.
type Command struct {
	Name      string                     `json:"name"`
	Task      string                     `json:"task,omitempty"`
	Why       string                     `json:"why,omitempty"`
	Outputs   map[string]json.RawMessage `json:"outputs,omitempty"`
	Artifacts []capability.Ref           `json:"artifacts,omitempty"`

	Seen     string            `json:"seen,omitempty"`     // hash, or the beginning of it, of what was looked at
	Override bool              `json:"override,omitempty"` // approve in spite of checks that do not hold
	Back     string            `json:"back,omitempty"`     // the task to go on from
	Answers  map[string]string `json:"answers,omitempty"`  // to the form of a gate that is pushed back
	To       string            `json:"to,omitempty"`       // who is handed the decision
	Budget   *budget.Amount    `json:"budget,omitempty"`   // by how much to raise
	Day      string            `json:"day,omitempty"`      // whose budget it is
	Text     string            `json:"text,omitempty"`     // the answer to a question

	Revision *Revision `json:"revision,omitempty"` // of replan
}

// The commands.
const (
	Pause       = "pause"
	Resume      = "resume" // ends a pause
	Cancel      = "cancel"
	Retry       = "retry"    // what failed; or, with a task, a cut-off attempt that is known not to have happened
	Complete    = "complete" // a task that waits for a person: done, or good enough
	Fail        = "fail"
	Approve     = "approve"
	Reject      = "reject"
	Delegate    = "delegate"
	PutArtifact = "put"
	Archive     = "archive"
	Replan      = "replan" // go on under another revision
)

// heldWait is how long a command waits for the process that holds the plan.
const heldWait = 10 * time.Second

// Do carries a command out: at once when nobody holds the plan, else through the mailbox of whoever does.
func (e *Engine) Do(ctx context.Context, name, actor string, c Command) error {
	r, err := e.open(ctx, name)
	if fault.Is(err, fault.Conflict) {
		return e.post(ctx, name, actor, c)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return r.obey(ctx, c, actor)
}

// obey takes one command with no driver at hand.
func (r *Run) obey(ctx context.Context, c Command, actor string) error {
	f, err := r.FactFor(c, actor)
	if err != nil {
		return err
	}
	if f.Kind == lifecycle.PlanResumed {
		return fault.New(fault.Conflict, "nobody carries plan %s out", r.State.Name).Remedy("go on with: cairn resume %s", r.State.Name)
	}
	// Whoever held the plan is gone. Nothing may start that nobody would carry out.
	if r.State.Tended && !r.State.Phase.Over() {
		if _, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.PlanLeft, Body: &lifecycle.Reason{}}); err != nil {
			return err
		}
	}
	if f.Kind == lifecycle.PlanRevised {
		if err := r.forsake(ctx); err != nil {
			return err
		}
	}
	if _, _, err := r.Step(f); err != nil {
		return err
	}
	if err := r.engine.Journal.Append(ctx, r.TakePending()); err != nil {
		return err
	}
	return r.Outcome(f)
}

// post leaves a command in the mailbox and waits for its answer. The holder may be gone before it looks; then
// this process takes the commands that wait, its own among them.
func (e *Engine) post(ctx context.Context, name, actor string, c Command) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	id, err := e.Mailbox.Post(ctx, journal.Command{Plan: name, Time: e.Now().UTC(), Actor: actor, Name: c.Name, Body: body})
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(heldWait); ; {
		got, err := e.Mailbox.Result(ctx, id)
		switch {
		case err != nil:
			return err
		case got.Done && got.Code != "":
			return fault.New(fault.Code(got.Code), "%s", got.Result)
		case got.Done:
			return nil
		case time.Now().After(deadline):
			return fault.New(fault.Conflict, "the process that holds plan %s has not taken the command yet", name).
				Remedy("it is kept and will be taken; see: cairn log %s", name)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if r, err := e.open(ctx, name); err == nil {
			err = r.empty(ctx)
			r.Close()
			if err != nil {
				return err
			}
		}
	}
}

// empty takes every command that waits.
func (r *Run) empty(ctx context.Context) error {
	box := r.engine.Mailbox
	cmds, err := box.Pending(ctx, r.State.Name)
	if err != nil {
		return err
	}
	for _, m := range cmds {
		var c Command
		err := json.Unmarshal(m.Body, &c)
		if err == nil {
			err = r.obey(ctx, c, m.Actor)
		}
		if err := Answer(ctx, box, m.ID, err); err != nil {
			return err
		}
	}
	return nil
}

// Answer tells whoever posted a command what became of it.
func Answer(ctx context.Context, box journal.Mailbox, id int64, err error) error {
	if err == nil {
		return box.Resolve(ctx, id, "", "ok")
	}
	return box.Resolve(ctx, id, string(fault.CodeOf(err)), err.Error())
}

// FactFor makes the fact that a command comes to where the plan stands now.
func (r *Run) FactFor(c Command, actor string) (lifecycle.Fact, error) {
	actor, claimer := gate.Claimed(actor)
	f, err := r.factFor(c, actor)
	f.By(actor, claimer, r.engine.trusts())
	return f, err
}

func (r *Run) factFor(c Command, actor string) (lifecycle.Fact, error) {
	f := lifecycle.Fact{Task: c.Task, Actor: actor, Body: &lifecycle.Reason{Why: c.Why}}
	switch c.Name {
	case Pause:
		f.Kind = lifecycle.PlanPaused
	case Resume:
		f.Kind = lifecycle.PlanResumed
		f.Body = &lifecycle.Session{Epoch: r.State.Epoch, Engine: r.engine.Version, Host: r.engine.Host, PID: r.engine.PID}
	case Cancel:
		f.Kind = lifecycle.PlanCancelled
	case Retry:
		if c.Task == "" {
			f.Kind = lifecycle.PlanRetried
			return f, nil
		}
		f.Kind, f.Body = lifecycle.TaskInterrupted, &lifecycle.Interrupted{Then: lifecycle.Repeat, Why: c.Why}
	case PutArtifact:
		f.Kind, f.Body = lifecycle.ArtifactPut, &lifecycle.Stored{Ref: c.Artifacts[0], Partial: true}
	case Approve, Reject:
		if r.aboutReplan(c) {
			return r.decideReplan(f, c, actor)
		}
		return r.decision(f, c, actor)
	case Delegate:
		return r.delegation(f, c, actor)
	case Raise, Deny:
		return r.spending(f, c, actor)
	case Reply:
		return r.reply(f, c, actor)
	case Complete, Fail:
		return r.finish(f, c, actor)
	case Archive:
		f.Kind, f.Body = lifecycle.PlanArchived, &lifecycle.Archived{Why: c.Why, Artifacts: c.Artifacts}
	case Replan:
		return r.revision(f, c)
	default:
		return f, fault.New(fault.Invalid, "%q is no command", c.Name)
	}
	return f, nil
}

func (r *Run) task(id string) (lifecycle.Task, error) {
	t, ok := r.State.Task(id)
	if !ok {
		return t, fault.New(fault.NotFound, "plan %s has no task %s", r.State.Name, id).
			Remedy("see its tasks with: cairn show %s", r.State.Name)
	}
	return t, nil
}

// finish ends a task by a person's word.
func (r *Run) finish(f lifecycle.Fact, c Command, actor string) (lifecycle.Fact, error) {
	if f, ok := r.judgeGoal(f, c); ok {
		return f, nil
	}
	t, err := r.task(c.Task)
	if err != nil {
		return f, err
	}
	f.Attempt = t.Attempt
	if t.Wait == lifecycle.ForJudge {
		f.Kind, f.Body = lifecycle.TaskJudged, &lifecycle.Judged{Accepted: c.Name == Complete, Why: c.Why}
		return f, nil
	}
	if !t.Wait.NeedsPerson() {
		return f, fault.New(fault.Conflict, "task %s is %s: it does not wait for a person", t.ID, t.Status).
			Remedy("see where it stands with: cairn why %s %s", r.State.Name, t.ID)
	}
	if t.Wait == lifecycle.ForBudget {
		return f, r.forMore(t.ID)
	}
	if t.Wait == lifecycle.ForDecision {
		return f, fault.New(fault.Conflict, "task %s is a gate", t.ID).
			Remedy("decide it with: cairn approve %s %s --why TEXT, or cairn reject", r.State.Name, t.ID)
	}
	if t.Wait == lifecycle.ForPerson && lifecycle.IsQuestion(t.Spec) {
		return r.answerBy(f, c, t, actor)
	}
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Outputs: c.Outputs, Artifacts: c.Artifacts}
	f.Kind, f.Body = lifecycle.TaskEnded, e
	if c.Name == Fail {
		e.Outcome, e.Error, e.Final = lifecycle.Failed, clip(c.Why), true
		return f, nil
	}
	return f, r.acceptable(t, e, actor)
}

// acceptable checks what a person hands in as it would be checked of a capability, except that their word settles prose.
func (r *Run) acceptable(t lifecycle.Task, e *lifecycle.Ended, actor string) error {
	if err := missing(t.Spec, e); err != nil {
		return fault.New(fault.Invalid, "task %s: %s", t.ID, err).
			Remedy("give it: cairn complete %s %s --output NAME=VALUE, or --output NAME=@FILE", r.State.Name, t.ID)
	}
	w := Work{Effect: lifecycle.Effect{Kind: lifecycle.Start, Task: t.ID, Spec: t.Spec}}
	w.scope = r.gather(w.Effect)
	if err := r.criteria(context.Background(), w, e, capability.Result{Outputs: e.Outputs}); err != nil {
		return fault.New(fault.Invalid, "task %s: %s", t.ID, err).Remedy("hand in what it asks for, or: cairn fail %s %s --why TEXT", r.State.Name, t.ID)
	}
	for i := range e.Criteria {
		if v := &e.Criteria[i]; v.Judge {
			v.OK, v.Why = true, "accepted by "+actor
		}
	}
	return nil
}

// Yes answers for a person what may be answered without looking: it completes a task that declares no outputs,
// accepts prose criteria, and approves a gate that the author wrote without asking for somebody.
func (r *Run) Yes(task, actor string) (lifecycle.Fact, bool) {
	c := Command{Task: task, Why: "--yes"}
	if _, waits := r.State.Goal(); task == "" && waits {
		c.Name, c.Task = Complete, lifecycle.GoalTask
		f, err := r.FactFor(c, actor)
		return f, err == nil
	}
	t, ok := r.State.Task(task)
	if !ok {
		return lifecycle.Fact{}, false
	}
	switch {
	case t.Wait == lifecycle.ForJudge, t.Wait == lifecycle.ForPerson && len(t.Spec.Outputs) == 0 && !t.Twice:
		c.Name = Complete
	case t.Wait == lifecycle.ForDecision && r.mayNod(t):
		c.Name = Approve
	default:
		return lifecycle.Fact{}, false
	}
	f, err := r.FactFor(c, actor)
	return f, err == nil
}
