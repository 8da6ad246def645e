package lifecycle

import (
	"encoding/json"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Status is where a task stands.
type Status string

// The statuses. Blocked is not among them: it is what a reader is shown for a pending task that
// cannot come to run any more (see State.Blocked).
const (
	Pending    Status = "pending"
	Ready      Status = "ready"
	Running    Status = "running"
	Waiting    Status = "waiting"
	Completed  Status = "completed"
	FailedTask Status = "failed"
	Skipped    Status = "skipped"
	Abandoned  Status = "abandoned"
	RolledBack Status = "rolled_back"
)

// Terminal reports whether a task is over.
func (s Status) Terminal() bool {
	return s == Completed || s == FailedTask || s == Skipped || s == Abandoned || s == RolledBack
}

// PlanState is where a plan stands.
type PlanState string

// The plan states that the law moves through.
const (
	NoPlan        PlanState = ""
	PlanPending   PlanState = "pending"
	PlanRunning   PlanState = "running"
	PlanIsPaused  PlanState = "paused"
	PlanBlocked   PlanState = "blocked" // shown while something failed and the rest waits for people
	PlanCompleted PlanState = "completed"
	PlanFailed    PlanState = "failed"
	PlanAbandoned PlanState = "abandoned"
)

// Over reports whether nothing will happen any more by itself.
func (p PlanState) Over() bool { return p == PlanCompleted || p == PlanFailed || p == PlanAbandoned }

// Wait says what a waiting task waits for.
type Wait string

// What a task may wait for.
const (
	ForNothing  Wait = ""
	ForPerson   Wait = "person"   // to do it, or to say how it went
	ForJudge    Wait = "judge"    // to judge prose criteria
	ForDecision Wait = "decision" // a gate
	ForUnknown  Wait = "unknown"  // whether a cut-off `once` took effect
	ForTimer    Wait = "timer"
	ForRecovery Wait = "recovery" // of its failure mode
	ForBudget   Wait = "budget"   // to be raised
)

// NeedsPerson reports whether only a person can end the wait.
func (w Wait) NeedsPerson() bool {
	return w == ForPerson || w == ForJudge || w == ForDecision || w == ForUnknown || w == ForBudget
}

// maxExecutions bounds how often routes and recoveries may lead back to one task.
const maxExecutions = 3

// node is a task in the running DAG. Index 0 is the plan itself: the group that holds all others.
type node struct {
	id         string
	spec       *plan.Task
	status     Status
	wait       Wait
	parent     int32
	item       int32 // 1-based number among the instances of an each; 0: none
	missing    int32 // needs, and the parent, that are not done
	routers    int32 // unfinished tasks that may yet route here; only while dormant
	active     int32 // descendants that are ready, running, waiting or being assessed
	execution  int32
	attempt    int32
	retries    int32 // used in this execution, or since the last recovery
	rank       int32
	order      int32 // place among the ends of tasks; 0: it has not ended
	weight     int64 // length of the critical path from here, in nanoseconds
	children   []int32
	needs      []int32 // what it follows from: its needs, and the tasks whose success routes to it
	dependents []int32
	wakes      []int32 // dormant tasks that this one may route to
	dormant    bool    // runs only when routed to
	activated  bool    // was routed to
	assessing  bool
	expanded   bool // each was expanded
	routed     bool // its failure was routed: handled
	pure       bool
	rejected   bool  // somebody said no: trying again does not ask again
	tested     bool  // a gate whose own work is done
	twice      bool  // it must not run twice and is about to: a person is asked first
	stale      bool  // an assessment of what it was before a revision is still to come
	granted    int32 // executions that revisions gave it, which do not count against routes
	gone       bool  // an instance of an expansion that was taken back
	due        time.Time
	lastFail   *Ended
	result     *Result
	waiters    []int32 // tasks that recover by this one
	items      digest.ID
	purse      *purse // nil: nothing was spent
	late       string // the deadline that it missed, as it was written
}

// Result is what a task left behind.
type Result struct {
	Outputs   map[string]json.RawMessage
	Artifacts []capability.Ref
	Exit      *int
	Inputs    digest.ID // of the resolved inputs
	Hash      digest.ID // over names, values and content hashes; zero when there is nothing
}

// State is a run folded so far.
type State struct {
	Name    string
	Plan    *plan.Plan
	Spec    digest.ID // of the plan's canonical text
	Phase   PlanState
	Author  string
	Epoch   int
	Workers int
	Rev     int
	// Revisions are all there were, the first included.
	Revisions []Revision
	Archived  bool    // it was put away
	Forked    *Origin // the checkpoint of another run that this one began at
	Tended    bool    // an engine carries it out: what becomes ready starts

	law     int // edition
	nodes   []node
	ids     map[string]int32
	ready   heap
	running int32 // attempts that hold a worker
	locks   map[string]*lock
	classes map[string]Installed
	people  int // tasks that wait for a person
	timers  int // tasks that wait for a timer
	asking  int // tasks that are being assessed
	ends    int32
	undo    *undo
	expired map[digest.ID]bool
	aside   []int32 // ready tasks for which a budget may have room when others settle

	askedDay bool                       // somebody was asked to raise the budget of the day
	house    budget.Amount              // what the project and the home let any plan spend
	guarded  map[*plan.Task]bool        // what a policy may hold
	holds    map[string]*hold           // by task: what is held, or was
	trees    [2]string                  // of the files: before the first task that changed some, after the last
	goal     []Verdict                  // how its criteria turned out
	goalAsks int32                      // how often they were looked at
	authors  []string                   // of all revisions
	answers  map[string]json.RawMessage // of people who pushed back; they stand over the plan's inputs
	past     map[string]past            // tasks that a revision dropped
	memos    map[digest.ID]*Result

	proposals proposals

	// Filled by one Take and handed out by it.
	now     time.Time
	out     []Derived
	effects []Effect
	dirty   []int32 // groups whose last active descendant may be over
}

// EffectKind says what the engine has to do.
type EffectKind uint8

// What the law may ask of the engine.
const (
	Start  EffectKind = iota // begin an attempt; recorded unless the work is pure
	Assess                   // evaluate when, each and checks, and report task.assessed
	Arm                      // report timer.fired at Due
	Stop                     // end the attempt under way; nobody waits for its outcome
	Undo                     // undo what a task did, and report task.undone
)

// Effect is something the engine has to do because of a fact.
type Effect struct {
	Kind      EffectKind
	Task      string
	Spec      *plan.Task
	Execution int
	Attempt   int
	Pure      bool
	Due       time.Time
	For       string        // of Arm: what the time is for
	Hold      bool          // of Assess: somebody may have to agree
	Tested    bool          // of Assess: the gate's own work is done
	Want      budget.Amount // of Start: what it reserves
	Room      time.Duration // of Start: how long budgets let it take; 0: no bound
	Metered   bool          // of Start: some budget bounds it
}

// New is the state before the first fact.
func New(name string) *State {
	return &State{Name: name, ids: map[string]int32{}, locks: map[string]*lock{}, Rev: 1}
}

// Key is the effect key of a task's execution: the same over attempts, new on a re-run.
func (s *State) Key(task string, execution int) digest.ID {
	return digest.Parts("cairn effect", s.Name, task, itoa(execution))
}

// emit records a derived event.
func (s *State) emit(d Derived, body any) {
	if body != nil {
		b, err := digest.Canonical(body)
		if err != nil {
			panic("lifecycle: a derived body cannot be encoded: " + err.Error())
		}
		d.Body = b
	}
	s.out = append(s.out, d)
}

func (s *State) effect(k EffectKind, i int32) {
	n := &s.nodes[i]
	s.effects = append(s.effects, Effect{Kind: k, Task: n.id, Spec: n.spec, Execution: int(n.execution),
		Attempt: int(n.attempt), Pure: n.pure, Due: n.due})
	if k == Start {
		e := &s.effects[len(s.effects)-1]
		e.Want, e.Room, e.Metered = s.want(i), s.room(i), s.metered(n.parent, n.spec)
	}
}

// Effects are what the last Take asks for. They are valid until the next one.
func (s *State) Effects() []Effect { return s.effects }

// Outstanding lists every effect that the state still waits for: what an engine has to take up when it
// loads a run that another one left. Attempts that were recorded as started are not among them: what
// became of those has to be found out first (see Unfinished).
func (s *State) Outstanding() []Effect {
	s.effects = s.effects[:0]
	if s.nodes[0].assessing {
		s.effectAssess(0)
	}
	if s.undo != nil && s.undo.now > 0 {
		s.effect(Undo, s.undo.now)
	}
	for i := 1; i < len(s.nodes); i++ {
		n := &s.nodes[i]
		switch {
		case n.gone:
		case n.assessing:
			s.effectAssess(int32(i))
		case n.wait == ForTimer:
			s.effect(Arm, int32(i))
		case n.wait == ForDecision:
			s.armGate(int32(i))
		case n.status == Running && n.pure && !s.isGroup(n):
			s.effect(Start, int32(i))
		}
	}
	s.armDeadlines(0)
	return s.effects
}

// Unfinished lists the attempts that were recorded as started and have no outcome.
func (s *State) Unfinished() []Effect {
	s.effects = s.effects[:0]
	for i := 1; i < len(s.nodes); i++ {
		if n := &s.nodes[i]; n.status == Running && !n.pure && !n.gone && !s.isGroup(n) {
			s.effect(Start, int32(i))
		}
	}
	return s.effects
}

// isGroup reports whether a node holds others instead of doing something itself.
func (s *State) isGroup(n *node) bool {
	return n.parent < 0 || n.expanded || (n.spec.Each == "" || n.item > 0) && n.spec.IsGroup()
}
