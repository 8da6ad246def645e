package lifecycle

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
)

// hold is what keeps a task from beginning, or a gate from opening. It outlives the decision: what was approved
// once is asked again only when it has become another.
type hold struct {
	gate.Hold
	subject  digest.ID
	failing  []string // checks that do not hold
	due      time.Time
	opened   time.Time
	approved digest.ID // the subject that was approved last
	closed   bool
	expired  bool
	begin    *Assessed // what the task goes on with
}

// guard notes which tasks a policy may hold. Ids are as authored, so every instance of an each has that of its task.
func (s *State) guard(ids []string) {
	if len(ids) == 0 {
		return
	}
	if s.guarded == nil {
		s.guarded = make(map[*plan.Task]bool, len(ids))
	}
	for _, id := range ids {
		if i, ok := s.ids[id]; ok {
			s.guarded[s.nodes[i].spec] = true
		} else if t := authored(s.Plan.Tasks, id); t != nil { // inside of an each
			s.guarded[t] = true
		}
	}
}

// authored finds a task by the path of ids that leads to it.
func authored(tasks []plan.Task, path string) *plan.Task {
	id, rest, deeper := strings.Cut(path, "/")
	k := slices.IndexFunc(tasks, func(t plan.Task) bool { return t.ID == id })
	switch {
	case k < 0:
		return nil
	case !deeper:
		return &tasks[k]
	case tasks[k].Subplan == nil:
		return nil
	}
	return authored(tasks[k].Subplan.Tasks, rest)
}

// wrote notes an author of the plan. Who acts under another name has written it too, unless their word is taken.
func (s *State) wrote(actor, claimer string, trusted bool) {
	for _, name := range []string{actor, claimer} {
		if name != "" && !(name == claimer && trusted) && !slices.Contains(s.authors, name) {
			s.authors = append(slices.Clip(s.authors), name)
		}
	}
}

func whoIs(actor, claimer string, trusted bool, roles []string) gate.Who {
	if trusted {
		claimer = ""
	}
	return gate.Who{Actor: actor, Claimer: claimer, Roles: roles}
}

// held reports whether somebody may have to agree before a task goes on. A gate with work of its own does that first.
func (s *State) held(n *node) bool {
	switch {
	case s.law < 2 || n.item > 0:
		return false
	case n.spec.Kind == plan.Gate && (n.spec.Uses == "" || n.tested):
		return wantsPeople(n.spec)
	case n.spec.Kind != plan.Gate && n.spec.Approve != nil:
		return true
	}
	return s.guarded[n.spec]
}

// wantsPeople is needsDecision for a gate that may have work of its own, which is something to go by.
func wantsPeople(t *plan.Task) bool {
	return needsDecision(t) && (t.Uses == "" || t.Approve != nil || len(t.Checks) > 0)
}

// detain keeps an assessed task where it is, if something does. It reports whether it did.
func (s *State) detain(i int32, b *Assessed) bool {
	n := &s.nodes[i]
	if b.Denied != "" {
		n.rejected = true
		s.calm(i)
		s.fail(i, &Ended{Outcome: Failed, Error: "not allowed by " + b.Denied, Final: true})
		return true
	}
	failing := failingOf(b)
	if len(failing) > 0 {
		s.calm(i)
		bad := &Ended{Outcome: Failed, Error: "check does not hold: " + failing[0], Mode: b.Mode, Final: true}
		n.lastFail = bad
		if s.recover(i, bad) {
			return true
		}
		if n.spec.Approve == nil {
			s.failFor(i, bad)
			return true
		}
		s.stir(i)
	}
	if len(failing) == 0 && len(b.Demands) == 0 && !(n.spec.Kind == plan.Gate && wantsPeople(n.spec)) {
		return false
	}
	return s.open(i, b, failing)
}

// failingOf lists the checks that do not hold, with why where that is known.
func failingOf(b *Assessed) (all []string) {
	for _, c := range b.Checks {
		if !c.OK && !c.Judge {
			all = append(all, c.Says+because(c.Why))
		}
	}
	return all
}

// open asks for a decision, unless this was approved before. It reports whether the task waits.
func (s *State) open(i int32, b *Assessed, failing []string) bool {
	n := &s.nodes[i]
	old := s.holds[n.id]
	h := &hold{Hold: gate.Hold{Demands: b.Demands, Authors: s.authors}, subject: b.Subject, failing: failing, begin: b, opened: s.now}
	if old != nil {
		h.approved = old.approved
	}
	if s.holds == nil {
		s.holds = map[string]*hold{}
	}
	s.holds[n.id] = h
	if !b.Subject.IsZero() && h.approved == b.Subject && len(failing) == 0 {
		h.closed = true
		if n.spec.Kind != plan.Gate {
			return false
		}
		s.calm(i)
		s.settle(i, Completed, "the same was approved before")
		return true
	}
	s.wait(i, ForDecision)
	s.announce(i, h)
	return true
}

// announce records that a gate is open, and sets its time.
func (s *State) announce(i int32, h *hold) {
	body := openedBody{Demands: h.Demands, Subject: h.subject, Failing: h.failing}
	if w := h.Within(); w > 0 {
		h.due = s.now.Add(w)
		body.Due = stamp(h.due)
	}
	s.emit(Derived{Kind: GateOpened, Task: s.nodes[i].id}, body)
	s.armGate(i)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// armGate has the time of an open gate watched. It keeps nobody from leaving: a decision that is due waits for a person.
func (s *State) armGate(i int32) {
	h := s.holds[s.nodes[i].id]
	if h == nil || h.due.IsZero() {
		return
	}
	s.effect(Arm, i)
	e := &s.effects[len(s.effects)-1]
	e.Due, e.For = h.due, TimerGate
}

// reopenGate asks anew for what has become another while it waited. Votes for the old one do not count.
func (s *State) reopenGate(i int32, b *Assessed) error {
	n := &s.nodes[i]
	old := s.holds[n.id]
	if !b.Run || b.Failed || b.Denied != "" || b.Subject == old.subject {
		return fault.New(fault.Conflict, "gate %s asks for the same as before", n.id)
	}
	h := &hold{Hold: gate.Hold{Demands: b.Demands, Authors: s.authors}, subject: b.Subject, failing: failingOf(b), begin: b, opened: s.now, approved: old.approved}
	s.holds[n.id] = h
	s.announce(i, h)
	return nil
}

// vote takes a decision. It changes nothing before it is known that it may be taken.
func (s *State) vote(i int32, f Fact, b *Decided) error {
	n := &s.nodes[i]
	h := s.holds[n.id]
	if h == nil || b.Late != h.closed {
		return fault.New(fault.Conflict, "task %s is %s, so %s cannot follow", n.id, s.where(n), f.Kind)
	}
	who := whoIs(f.Actor, b.Claimer, b.Trusted, b.Roles)
	if err := h.May(who, b.Approved); err != nil {
		return err
	}
	if b.Late {
		return nil
	}
	if err := s.sound(i, h, b); err != nil {
		return err
	}
	if b.Approved && h.Voted(who) {
		return fault.New(fault.Conflict, "%s has agreed to this already", gate.Name(f.Actor)).Remedy("it still waits for %s", h.Lacks())
	}
	h.Votes = append(h.Votes, gate.Vote{Who: who, Approved: b.Approved, Why: b.Why, Time: f.Time})
	switch h.Verdict() {
	case gate.Approved:
		h.closed, h.approved = true, h.subject
		s.stopWaiting(i)
		if n.spec.Kind == plan.Gate && (n.spec.Uses == "" || n.tested) {
			s.decided(i, true, b.Why)
			return nil
		}
		s.goOn(i, h.begin)
	case gate.Rejected:
		h.closed = true
		s.stopWaiting(i)
		if b.Back == "" {
			s.decided(i, false, b.Why)
			return nil
		}
		s.pushBack(i, b)
	}
	return nil
}

// sound refuses a decision that does not fit what is to be decided.
func (s *State) sound(i int32, h *hold, b *Decided) error {
	n := &s.nodes[i]
	if !b.Subject.IsZero() && b.Subject != h.subject {
		return fault.New(fault.Conflict, "what %s is to let through has changed since it was seen", n.id).
			Remedy("look at it again: cairn show %s %s", s.Name, n.id)
	}
	if b.Approved && len(h.failing) > 0 && !b.Override {
		return fault.New(fault.Denied, "gate %s has checks that do not hold: %s", n.id, strings.Join(h.failing, "; ")).
			Remedy("reject it, or approve in spite of them with --override")
	}
	if b.Back == "" {
		return nil
	}
	to, ok := s.sibling(i, b.Back)
	switch {
	case b.Approved:
		return fault.New(fault.Invalid, "gate %s cannot be approved and pushed back at once", n.id)
	case !ok || to == i || !s.downstream(to)[i]:
		return fault.New(fault.Invalid, "gate %s cannot be pushed back to %s, which it does not follow from", n.id, b.Back).
			Remedy("name a task that the gate needs, directly or through others")
	case int(s.nodes[to].execution-s.nodes[to].granted) >= maxExecutions:
		return fault.New(fault.Denied, "%s has run %d times already; it is not sent back again", b.Back, maxExecutions).
			Remedy("reject the gate, or change the plan: cairn replan %s", s.Name)
	}
	return nil
}

// pushBack goes on from an earlier task, with what was answered among the inputs.
func (s *State) pushBack(i int32, b *Decided) {
	s.calm(i)
	if s.answers == nil {
		s.answers = map[string]json.RawMessage{}
	}
	for k, v := range b.Answers {
		s.answers[k] = v
	}
	to, _ := s.sibling(i, b.Back)
	s.reopen(to, i, s.nodes[i].id)
}

// lend hands the right to decide to somebody else, for this gate.
func (s *State) lend(i int32, f Fact, b *Delegated) error {
	h := s.holds[s.nodes[i].id]
	giver := whoIs(f.Actor, b.Claimer, b.Trusted, b.Roles)
	if err := h.May(giver, true); err != nil {
		return err
	}
	roles := append(slices.Clone(b.Roles), h.Lent[f.Actor]...)
	trial := h.Hold
	trial.Lent = map[string][]string{b.To: roles}
	if err := trial.May(gate.Who{Actor: b.To}, true); err != nil {
		return err
	}
	if h.Lent == nil {
		h.Lent = map[string][]string{}
	}
	h.Lent[b.To] = append(h.Lent[b.To], roles...)
	return nil
}

// overdue lets more people decide what was not decided in time, or gives it up when there is nobody left to ask.
func (s *State) overdue(i int32) error {
	n := &s.nodes[i]
	h := s.holds[n.id]
	if h == nil || h.due.IsZero() || s.now.Before(h.due) {
		return fault.New(fault.Conflict, "gate %s is not due yet", n.id)
	}
	to := h.Next()
	if len(to) == 0 {
		h.closed, h.expired = true, true
		s.stopWaiting(i)
		s.calm(i)
		s.fail(i, &Ended{Outcome: Failed, Error: "nobody decided within " + plan.Duration(h.Within()).String(), Final: true})
		return nil
	}
	h.Round++
	h.due = s.now.Add(h.Within())
	s.emit(Derived{Kind: GateEscalated, Task: n.id}, escalatedBody{To: to, Due: stamp(h.due)})
	s.armGate(i)
	return nil
}

// Gate is what a reader sees of a hold.
type Gate struct {
	gate.Hold
	Subject digest.ID
	Failing []string
	Opened  time.Time
	Due     time.Time
	Closed  bool
	Expired bool
}

// Gate shows what holds a task, or held it last.
func (s *State) Gate(task string) (Gate, bool) {
	h := s.holds[task]
	if h == nil {
		return Gate{}, false
	}
	return Gate{Hold: h.Hold, Subject: h.subject, Failing: h.failing, Opened: h.opened, Due: h.due, Closed: h.closed, Expired: h.expired}, true
}

// Releases lists the tasks that follow from a gate at once, and the task itself where it has work to do.
func (s *State) Releases(task string) []*plan.Task {
	i, ok := s.ids[task]
	if !ok {
		return nil
	}
	n := &s.nodes[i]
	out := []*plan.Task{n.spec}
	if n.spec.Kind == plan.Gate {
		for _, d := range n.dependents {
			out = append(out, s.nodes[d].spec)
		}
	}
	return out
}

// Path is a task's id as authored: that of an instance is its each's.
func (s *State) Path(task string) string {
	i, ok := s.ids[task]
	if !ok {
		return task
	}
	n := &s.nodes[i]
	switch {
	case n.item > 0:
		return s.Path(s.nodes[n.parent].id)
	case n.parent <= 0:
		return n.id
	}
	return s.Path(s.nodes[n.parent].id) + "/" + n.spec.ID
}

// IsGuarded reports whether it is known already that a policy may hold a task, by its authored id.
func (s *State) IsGuarded(path string) bool {
	if i, ok := s.ids[path]; ok {
		return s.guarded[s.nodes[i].spec]
	}
	t := authored(s.Plan.Tasks, path)
	return t != nil && s.guarded[t]
}

// Answers are the inputs that people gave when they pushed a gate back; they stand over the plan's own.
func (s *State) Answers() map[string]json.RawMessage { return s.answers }

// Trees are the states of the files before the first task that changed some, and after the last. They are empty
// where none was kept.
func (s *State) Trees() (from, to string) { return s.trees[0], s.trees[1] }

// Authors are those who wrote the plan or a revision of it.
func (s *State) Authors() []string { return s.authors }
