// Package lifecycle is the law of a run: which facts may follow which, what each of them makes of
// the state, and what must happen next because of it.
//
// A run is a fold. Facts come from outside (a submission, an outcome, a decision, a timer); from each
// the law derives, at once and in a fixed order, everything that follows: starts, retries, routes,
// endings. It has no clock, no I/O and no chance, so feeding the same facts again derives the same
// records, byte for byte; that is what replay proves. Expressions are not evaluated here: the engine
// evaluates them and reports the results as facts, so an old history never depends on a library.
//
// State belongs to whoever folds it and changes in place; one fact costs O(degree of its task). A fact
// that the present state does not allow is refused with an error that says where we stand, and changes nothing.
package lifecycle

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
)

// The kinds of record. Names and meanings are forever; see docs/journal-format.md.
const (
	PlanSubmitted   journal.Kind = "plan.submitted"   // fact: a revision was handed in
	PlanRevised     journal.Kind = "plan.revised"     // fact: the run goes on under another revision
	PlanArchived    journal.Kind = "plan.archived"    // fact: a plan that is over was put away
	TaskCarried     journal.Kind = "task.carried"     // fact: a fork begins with what another run had done
	PlanStarted     journal.Kind = "plan.started"     // fact: an engine began to carry it out
	PlanResumed     journal.Kind = "plan.resumed"     // fact: an engine took it up again, or a person ended a pause
	PlanLeft        journal.Kind = "plan.left"        // fact: no engine carries it out for now
	PlanPaused      journal.Kind = "plan.paused"      // fact: nothing new starts
	PlanCancelled   journal.Kind = "plan.cancelled"   // fact: everything unfinished is abandoned
	PlanRetried     journal.Kind = "plan.retried"     // fact: what failed shall be tried again
	PlanEnded       journal.Kind = "plan.ended"       // derived: nothing is left to do
	TaskAssessed    journal.Kind = "task.assessed"    // fact: when, each and checks were evaluated
	TaskStarted     journal.Kind = "task.started"     // derived: an attempt may begin
	TaskSpawned     journal.Kind = "task.spawned"     // fact: the attempt has a process
	TaskSaved       journal.Kind = "task.saved"       // fact: what the attempt is about to change was kept
	TaskEnded       journal.Kind = "task.ended"       // fact: an attempt has an outcome
	TaskInterrupted journal.Kind = "task.interrupted" // fact: an attempt was cut off
	TaskJudged      journal.Kind = "task.judged"      // fact: somebody judged the prose criteria
	TaskWaiting     journal.Kind = "task.waiting"     // derived: a person has to act
	TaskRetried     journal.Kind = "task.retried"     // derived: another attempt is due at a time
	TaskRecovering  journal.Kind = "task.recovering"  // derived: a recovery task runs first
	TaskReopened    journal.Kind = "task.reopened"    // derived: a route led back here
	TaskSettled     journal.Kind = "task.settled"     // derived: a status that no outcome says by itself
	RollbackAsked   journal.Kind = "rollback.asked"   // fact: what was done after a checkpoint shall be undone
	TaskUndoing     journal.Kind = "task.undoing"     // derived: a task may be undone
	TaskUndone      journal.Kind = "task.undone"      // fact: it was, or could not be
	RollbackEnded   journal.Kind = "rollback.ended"   // derived: all was undone, or one could not be
	GoalAssessed    journal.Kind = "goal.assessed"    // fact: the criteria of the goal were evaluated
	GoalJudged      journal.Kind = "goal.judged"      // fact: somebody judged those that are prose
	TimerFired      journal.Kind = "timer.fired"      // fact: a due time has come
	GateOpened      journal.Kind = "gate.opened"      // derived: a gate asks for a decision
	GateEscalated   journal.Kind = "gate.escalated"   // derived: its time was up, and more people may decide
	GateDelegated   journal.Kind = "gate.delegated"   // fact: somebody who may decide handed that right to another
	GateDecided     journal.Kind = "gate.decided"     // fact: somebody decided
	ArtifactPut     journal.Kind = "artifact.put"     // fact: content was stored while a task was under way
	ArtifactExpired journal.Kind = "artifact.expired" // fact: content was dropped by its retention
)

// bodies makes an empty body for each fact; a kind without one here is derived.
var bodies = map[journal.Kind]func() any{
	ReplanProposed: func() any { return new(Proposed) }, ReplanDecided: func() any { return new(ReplanVerdict) },
	GoalAssessed: func() any { return new(GoalVerdict) }, GoalJudged: func() any { return new(Judged) },
	PlanRevised: func() any { return new(Revised) }, TaskCarried: func() any { return new(Carried) }, PlanArchived: func() any { return new(Archived) },
	PlanSubmitted: func() any { return new(Submitted) }, PlanStarted: func() any { return new(Session) },
	PlanResumed: func() any { return new(Session) }, PlanLeft: func() any { return new(Reason) }, PlanPaused: func() any { return new(Reason) },
	PlanCancelled: func() any { return new(Reason) }, PlanRetried: func() any { return new(Reason) },
	TaskAssessed: func() any { return new(Assessed) }, TaskSpawned: func() any { return new(Spawned) },
	TaskEnded: func() any { return new(Ended) }, TaskInterrupted: func() any { return new(Interrupted) },
	TaskSaved: func() any { return new(Saved) }, RollbackAsked: func() any { return new(Asked) }, TaskUndone: func() any { return new(Undone) },
	TaskJudged: func() any { return new(Judged) }, TimerFired: func() any { return new(Fired) },
	GateDecided: func() any { return new(Decided) }, GateDelegated: func() any { return new(Delegated) }, ArtifactPut: func() any { return new(Stored) },
	ArtifactExpired: func() any { return new(Expired) }, BudgetDrawn: func() any { return new(Drawn) }, BudgetRead: func() any { return new(Read) },
	BudgetRaised: func() any { return new(Raised) }, BudgetDenied: func() any { return new(Denied) },
}

// IsFact reports whether records of a kind come from outside; all others are derived.
func IsFact(k journal.Kind) bool { return bodies[k] != nil }

// Fact is something that happened. Body is a pointer to the body type of its kind.
type Fact struct {
	Kind    journal.Kind
	Task    string
	Attempt int
	Time    time.Time
	Actor   string
	Body    any
}

// Derived is a record that the law makes. Its time, and its cause, are those of the fact before it.
type Derived struct {
	Kind    journal.Kind
	Task    string
	Attempt int
	Body    []byte
}

// By names who brought a fact about, and who acted under that name where it was another.
func (f *Fact) By(actor, claimer string, trusted bool) {
	f.Actor = actor
	if claimer == "" {
		return
	}
	switch b := f.Body.(type) {
	case *Submitted:
		b.Claimer, b.Trusted = claimer, trusted
	case *Revised:
		b.Claimer, b.Trusted = claimer, trusted
	case *Decided:
		b.Claimer, b.Trusted = claimer, trusted
	case *Delegated:
		b.Claimer, b.Trusted = claimer, trusted
	case *ReplanVerdict:
		b.Claimer, b.Trusted = claimer, trusted
	case *Archived:
		b.Claimer = claimer
	case *Reason:
		b.Claimer = claimer
	case *Judged:
		b.Claimer = claimer
	case *Ended:
		b.Claimer = claimer
	case *Asked:
		b.Claimer = claimer
	}
}

// FactOf reads the fact out of a record.
func FactOf(r journal.Record) (Fact, error) {
	mk := bodies[r.Kind]
	if mk == nil {
		return Fact{}, fault.New(fault.Tampered, "record %s#%d is of kind %q, which is no fact", r.Plan, r.Seq, r.Kind)
	}
	f := Fact{Kind: r.Kind, Task: r.Task, Attempt: r.Attempt, Time: r.Time, Actor: r.Actor, Body: mk()}
	if len(r.Body) > 2 {
		if err := json.Unmarshal(r.Body, f.Body); err != nil {
			return Fact{}, fault.Wrap(fault.Tampered, err, "record %s#%d has a body that %s does not", r.Plan, r.Seq, r.Kind)
		}
	}
	return f, nil
}

// Encode writes the body of a fact in its canonical form.
func (f Fact) Encode() ([]byte, error) {
	if e, ok := f.Body.(*Ended); ok && e.plain() {
		b := append(make([]byte, 0, 64), `{"outcome":`...)
		b = digest.AppendString(b, e.Outcome)
		if e.Took > 0 {
			b = strconv.AppendInt(append(b, `,"took":`...), int64(e.Took), 10)
		}
		return append(b, '}'), nil
	}
	return digest.Canonical(f.Body)
}

// Law is the edition of the law that new runs are under. What an edition derives from the same facts never changes, so a
// rule that would have derived something else from an old journal holds only for runs of its edition or a later one.
const Law = 2

// Submitted is the body of plan.submitted.
type Submitted struct {
	Spec         digest.ID            `json:"spec"` // canonical JSON of the plan, in the artifact store
	Size         int64                `json:"size"`
	Title        string               `json:"title,omitempty"`
	Tasks        int                  `json:"tasks"`
	Law          int                  `json:"law,omitempty"`          // edition of the law that the run is under
	Source       string               `json:"source,omitempty"`       // file it was read from
	Capabilities map[string]Installed `json:"capabilities,omitempty"` // those the plan uses
	Fork         *Origin              `json:"fork,omitempty"`         // the checkpoint of another run that it begins at
	Guarded      []string             `json:"guarded,omitempty"`      // tasks that a policy may hold, as authored: parent/child
	Budget       budget.Amount        `json:"budget,omitzero"`        // what the project and the home let any plan spend
	Claimer      string               `json:"claimer,omitempty"`      // who acted under the actor's name, where it was another
	Trusted      bool                 `json:"trusted,omitempty"`      // the policy takes their word for it
}

// Installed is what was known of a capability when the plan was submitted. Whether it is pure decides
// which starts are recorded, so it must come from the journal and not from today's registry.
type Installed struct {
	Version string           `json:"version"`
	Repeat  capability.Class `json:"repeat"`
	Spends  budget.Amount    `json:"spends,omitzero"` // what a call is known to spend, beside itself
}

// Session is the body of plan.started and plan.resumed: who carries the plan out from here on.
type Session struct {
	Epoch   int    `json:"epoch"`
	Engine  string `json:"engine,omitempty"` // version
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Workers int    `json:"workers,omitempty"` // overrides the policy

	Guarded []string `json:"guarded,omitempty"` // tasks that a policy may hold by now
}

// Reason is the body of facts that only say why.
type Reason struct {
	Why     string `json:"why,omitempty"`
	Claimer string `json:"claimer,omitempty"`
}

// Assessed is the body of task.assessed.
type Assessed struct {
	Run    bool      `json:"run"`
	Why    string    `json:"why,omitempty"`
	Failed bool      `json:"failed,omitempty"` // the expression itself could not be evaluated
	Count  *int      `json:"count,omitempty"`  // of items, for each
	Items  digest.ID `json:"items,omitzero"`   // JSON array, in the artifact store
	Checks []Verdict `json:"checks,omitempty"`

	Mode    string        `json:"mode,omitempty"`    // failure mode that was recognised in the checks that do not hold
	Demands []gate.Demand `json:"demands,omitempty"` // what holds the task, by itself and by policy
	Subject digest.ID     `json:"subject,omitzero"`  // of what is to be approved
	Denied  string        `json:"denied,omitempty"`  // the rule that forbids it
}

// Verdict is how one criterion turned out.
type Verdict struct {
	Says  string `json:"says"`
	OK    bool   `json:"ok"`
	Judge bool   `json:"judge,omitempty"` // prose: OK only once somebody said so
	Why   string `json:"why,omitempty"`
}

// Spawned is the body of task.spawned.
type Spawned struct {
	capability.Process
}

// Saved is the body of task.saved.
type Saved struct {
	Backup json.RawMessage `json:"backup"` // as the capability wants it back
}

// Asked is the body of rollback.asked.
type Asked struct {
	To      string `json:"to,omitempty"` // the task whose end is the checkpoint; empty: everything is undone
	Why     string `json:"why,omitempty"`
	Claimer string `json:"claimer,omitempty"`
}

// Undone is the body of task.undone.
type Undone struct {
	How   []string `json:"how,omitempty"`   // in words: what was run or put back
	Error string   `json:"error,omitempty"` // why it could not be undone
}

// Outcomes of an attempt.
const (
	Succeeded = "completed"
	Failed    = "failed"
)

// Ended is the body of task.ended. Outputs are inline where small, else among the artifacts.
type Ended struct {
	Outcome   string                     `json:"outcome"`
	Outputs   map[string]json.RawMessage `json:"outputs,omitempty"`
	Artifacts []capability.Ref           `json:"artifacts,omitempty"`
	Exit      *int                       `json:"exit,omitempty"`
	Error     string                     `json:"error,omitempty"`
	Stderr    string                     `json:"stderr,omitempty"` // last line or so, of a failure
	Mode      string                     `json:"mode,omitempty"`   // failure mode that was recognised
	Final     bool                       `json:"final,omitempty"`  // trying again cannot help
	Criteria  []Verdict                  `json:"criteria,omitempty"`
	Took      time.Duration              `json:"took,omitempty"`
	Inputs    digest.ID                  `json:"inputs,omitzero"` // hash of the resolved inputs
	Versions  map[string]string          `json:"versions,omitempty"`
	Dir       string                     `json:"dir,omitempty"`
	Env       []string                   `json:"env,omitempty"` // names only
	Probed    bool                       `json:"probed,omitempty"`
	Claimer   string                     `json:"claimer,omitempty"` // of a person's word
	Tree      *Tree                      `json:"tree,omitempty"`
	Memo      bool                       `json:"memo,omitempty"`  // nothing was computed: the same was, before a revision
	Spent     *budget.Amount             `json:"spent,omitempty"` // beside its own call and its time
	Short     budget.Unit                `json:"short,omitempty"` // what a budget ran out of while it ran
}

// Tree is what a task did to the files of its workspace.
type Tree struct {
	Before string   `json:"before"`           // the state it found
	After  string   `json:"after"`            // the state it left
	Files  int      `json:"files"`            // how many changed
	Left   []string `json:"left,omitempty"`   // files that were not kept, each with why
	Merged bool     `json:"merged,omitempty"` // it was joined with what others did meanwhile
}

// plain reports whether e says nothing but its outcome, as most ends of pure work do.
func (e *Ended) plain() bool {
	return e.Outputs == nil && e.Artifacts == nil && e.Exit == nil && e.Error == "" && e.Stderr == "" && e.Mode == "" && !e.Final &&
		e.Criteria == nil && e.Inputs.IsZero() && e.Versions == nil && e.Dir == "" && e.Env == nil && !e.Probed && !e.Memo && e.Tree == nil && e.Claimer == "" && e.Spent == nil && e.Short == ""
}

// unjudged reports whether prose criteria still wait for somebody.
func (e *Ended) unjudged() bool {
	for _, v := range e.Criteria {
		if v.Judge && !v.OK {
			return true
		}
	}
	return false
}

// What becomes of an attempt that was cut off.
const (
	Repeat = "repeat"
	Ask    = "ask"
)

// Interrupted is the body of task.interrupted.
type Interrupted struct {
	Then string `json:"then"`
	Why  string `json:"why,omitempty"`
}

// Judged is the body of task.judged.
type Judged struct {
	Accepted bool   `json:"accepted"`
	Why      string `json:"why,omitempty"`
	Claimer  string `json:"claimer,omitempty"`
}

// GoalVerdict is the body of goal.assessed.
type GoalVerdict struct {
	Criteria []Verdict `json:"criteria"`
}

// Fired is the body of timer.fired.
type Fired struct {
	For string `json:"for,omitempty"` // what the time was set for; absent: the next attempt
}

// What a timer may be for, beside the next attempt.
const (
	TimerGate     = "gate"     // a decision is due
	TimerDeadline = "deadline" // the task itself is
)

// Decided is the body of gate.decided.
type Decided struct {
	Approved bool     `json:"approved"`
	Why      string   `json:"why,omitempty"`
	Roles    []string `json:"roles,omitempty"`   // that the actor had
	Claimer  string   `json:"claimer,omitempty"` // who acted under the actor's name, where it was another
	Trusted  bool     `json:"trusted,omitempty"` // the policy takes their word for it

	Subject  digest.ID                  `json:"subject,omitzero"`   // what was seen
	Override bool                       `json:"override,omitempty"` // in spite of checks that do not hold
	Late     bool                       `json:"late,omitempty"`     // somebody else was first: kept, and changes nothing
	Back     string                     `json:"back,omitempty"`     // pushed back: the task to go on from
	Answers  map[string]json.RawMessage `json:"answers,omitempty"`  // become inputs
	Evidence []capability.Ref           `json:"evidence,omitempty"`
}

// Delegated is the body of gate.delegated.
type Delegated struct {
	To      string   `json:"to"` // an actor
	Why     string   `json:"why,omitempty"`
	Roles   []string `json:"roles,omitempty"` // that the giver had
	Claimer string   `json:"claimer,omitempty"`
	Trusted bool     `json:"trusted,omitempty"`
}

// Stored is the body of artifact.put.
type Stored struct {
	capability.Ref
	Partial   bool   `json:"partial,omitempty"`
	Retention string `json:"retention,omitempty"`
}

// Expired is the body of artifact.expired.
type Expired struct {
	Hash digest.ID `json:"hash"`
	Why  string    `json:"why,omitempty"`
}

// Bodies of derived records.
type (
	waitingBody struct {
		For string `json:"for"`
		Why string `json:"why,omitempty"`
	}
	retriedBody struct {
		At    string `json:"at"`
		Retry int    `json:"retry"`
		Why   string `json:"why,omitempty"`
	}
	recoveringBody struct {
		By   string `json:"by"`
		Mode string `json:"mode"`
		Why  string `json:"why,omitempty"`
	}
	reopenedBody struct {
		By        string `json:"by"`
		Execution int    `json:"execution"`
		Why       string `json:"why,omitempty"`
	}
	openedBody struct {
		Demands []gate.Demand `json:"demands,omitempty"`
		Subject digest.ID     `json:"subject,omitzero"`
		Failing []string      `json:"failing,omitempty"` // checks that do not hold
		Due     string        `json:"due,omitempty"`
	}
	escalatedBody struct {
		To  []string `json:"to"`
		Due string   `json:"due,omitempty"`
	}
	settledBody struct {
		Status Status   `json:"status"`
		Why    string   `json:"why,omitempty"`
		Routed []string `json:"routed,omitempty"`
	}
	rollbackBody struct {
		Failed string `json:"failed,omitempty"` // the task that could not be undone
		Left   int    `json:"left"`             // how many are still to be undone
		Undone int    `json:"undone"`
		Why    string `json:"why,omitempty"`
	}
	endedBody struct {
		Hash  digest.ID `json:"hash"` // of the state
		State PlanState `json:"state"`
		Why   string    `json:"why,omitempty"`
	}
)
