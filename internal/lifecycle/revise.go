package lifecycle

import (
	"maps"
	"slices"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Revised is the body of plan.revised. From this record on, records carry the new revision.
type Revised struct {
	Spec         digest.ID            `json:"spec"` // canonical JSON of the revision, in the artifact store
	Size         int64                `json:"size"`
	Base         int                  `json:"base"` // the revision that it changes
	How          string               `json:"how,omitempty"`
	Why          string               `json:"why,omitempty"`
	Source       string               `json:"source,omitempty"` // file it was read from
	Tasks        int                  `json:"tasks"`
	Capabilities map[string]Installed `json:"capabilities,omitempty"`
	Once         []string             `json:"once,omitempty"`    // tasks that must not run twice, as authored: parent/child
	Guarded      []string             `json:"guarded,omitempty"` // tasks that a policy may hold, likewise
	Claimer      string               `json:"claimer,omitempty"` // who acted under the actor's name
	Trusted      bool                 `json:"trusted,omitempty"` // whose word is taken for that

	// Plan is what Spec names. Whoever hands the fact to the law has read it.
	Plan *plan.Plan `json:"-"`
}

// How a revision came about.
const (
	ByFile  = "file"
	ByMerge = "merge"
	ByHand  = "hand"
	ByRule  = "auto"
)

// Revision is one edition of the plan that a run is under or was.
type Revision struct {
	Rev    int
	Spec   digest.ID
	Author string
	How    string
	Why    string
}

// past is how often a task that is gone had been carried out: one that comes back under its id goes on counting, so that
// no effect key is ever used for two things.
type past struct{ execution, attempt int32 }

// memo names a pure computation, and is what its result can be used again by.
func (s *State) memo(uses string, inputs digest.ID) digest.ID {
	return digest.Parts("cairn memo", uses, s.classes[uses].Version, inputs.String())
}

// Reuse finds the result of a pure computation that a revision set aside, by the hash of its inputs. It is nil where there
// are none, and may be called away from the state.
func (s *State) Reuse(uses string) func(inputs digest.ID) *Result {
	if len(s.memos) == 0 {
		return nil
	}
	memos, version := s.memos, s.classes[uses].Version // a revision makes other maps and leaves these as they are
	return func(inputs digest.ID) *Result {
		return memos[digest.Parts("cairn memo", uses, version, inputs.String())]
	}
}

// revise puts the run onto another revision of its plan: tasks whose work and whose upstream are the same keep what they
// have, all others that were done run again, and what is no longer in the plan is dropped.
func (s *State) revise(f Fact, b *Revised) error {
	m, err := s.move(b)
	if err != nil {
		return err
	}
	next := m.next
	next.goal = nil
	next.now, next.out, next.effects, next.dirty = s.now, s.out, s.effects, s.dirty
	next.Revisions = append(slices.Clip(next.Revisions), Revision{next.Rev, b.Spec, f.Actor, b.How, b.Why})
	if next.Phase.Over() {
		// Nobody carries out a plan that was over.
		next.Phase, next.Tended = PlanRunning, false
	}
	next.wrote(f.Actor, b.Claimer, b.Trusted)
	*s = *next
	m.tell(s)
	m.goOn(s)
	s.armDeadlines(0)
	return nil
}

// Impact tells what a revision would do, without doing it.
func (s *State) Impact(b *Revised) (Impact, error) {
	m, err := s.move(b)
	if err != nil {
		return Impact{}, err
	}
	return m.impact(), nil
}

// revisable says why a run cannot be revised as it stands, if it cannot.
func (s *State) revisable(b *Revised) error {
	switch {
	case s.Phase == NoPlan || s.Phase == PlanAbandoned:
		return s.refuse(Fact{Kind: PlanRevised})
	case s.Archived:
		return s.closed(Fact{Kind: PlanRevised})
	case s.undo != nil:
		return fault.New(fault.Conflict, "a rollback of plan %s is under way", s.Name).Remedy("let it end first: cairn rollback %s", s.Name)
	case b.Base != s.Rev:
		return fault.New(fault.Conflict, "plan %s is at revision %d by now, and this one changes revision %d", s.Name, s.Rev, b.Base).
			Remedy("look at what changed: cairn diff %s %d %d; then revise it again", s.Name, b.Base, s.Rev)
	case b.Plan == nil:
		return fault.New(fault.Internal, "a revision of plan %s comes without its text", s.Name)
	}
	return nil
}

// move works out the run under another revision. Nothing of s is changed.
func (s *State) move(b *Revised) (*move, error) {
	if err := s.revisable(b); err != nil {
		return nil, err
	}
	next := *s
	next.Plan, next.Spec, next.Rev, next.classes = b.Plan, b.Spec, s.Rev+1, b.Capabilities
	next.ready, next.running, next.people, next.timers, next.asking = nil, 0, 0, 0, 0
	next.locks, next.past, next.memos = map[string]*lock{}, maps.Clone(s.past), maps.Clone(s.memos)
	if next.past == nil {
		next.past, next.memos = map[string]past{}, map[digest.ID]*Result{}
	}
	if b.Plan.Workers() != s.Plan.Workers() {
		next.Workers = b.Plan.Workers()
	}
	if err := next.build(b.Plan); err != nil {
		return nil, err
	}
	next.guarded, next.aside, next.askedDay = nil, nil, false
	next.guard(b.Guarded)
	m := &move{old: s, next: &next, once: map[string]bool{}, inputs: plan.ChangedInputs(s.Plan, b.Plan), env: !maps.Equal(s.Plan.Env, b.Plan.Env)}
	for _, id := range b.Once {
		m.once[id] = true
	}
	if err := m.transplant(); err != nil {
		return nil, err
	}
	return m, nil
}

// TakeRead takes a fact out of a journal: a revision is read by spec first.
func (s *State) TakeRead(f Fact, spec func(*Submitted) (*plan.Plan, error)) ([]Derived, error) {
	if b, ok := f.Body.(*Revised); ok && b.Plan == nil {
		p, err := spec(&Submitted{Spec: b.Spec, Size: b.Size})
		if err != nil {
			return nil, err
		}
		b.Plan = p
	}
	return s.Take(f)
}

// assessedBefore passes over an assessment that was under way when a revision changed the task, and asks for another. It
// reports whether it was one.
func (s *State) assessedBefore(i int32) bool {
	n := &s.nodes[i]
	if !n.stale {
		return false
	}
	if n.stale = false; n.assessing {
		s.effectAssess(i)
	}
	return true
}

// askTwice is what a person is asked before something happens a second time that must not.
const askTwice = "it was carried out already, must not run twice, and a revision has it run again: retry runs it, complete leaves it as it was done"
