package lifecycle

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// move is a run on its way to another revision: the state it would have, and what becomes of each task.
//
// A task is renewed when its work changed, when something that it follows from is renewed or new, or when the group
// around it is. What is not renewed keeps its status and its result; what is and was done runs again.
type move struct {
	old, next *State
	once      map[string]bool
	inputs    []string // of the plan, that changed
	env       bool     // the plan's environment changed
	fates     []fate   // by index in next
	err       error
}

// fate is what a revision makes of one task.
type fate struct {
	from    int32 // its index in the old state; 0: it is new
	judged  bool
	renewed bool
	moved   int8   // whether what follows from it is renewed: 0 not known yet, 1 no, 2 yes
	why     string // it is renewed
	own     bool   // because it itself is another, and not what it follows from
	asked   bool   // for a decision alone: what it released before stays as it is
	again   bool   // it was done, and runs again
}

func (m *move) transplant() error {
	for i := int32(1); i < int32(len(m.next.nodes)); i++ { // fan-outs that are kept grow it
		m.spreads(i)
	}
	if m.err != nil {
		return m.err
	}
	if err := m.refuses(); err != nil {
		return err
	}
	for i := int32(1); i < int32(len(m.next.nodes)); i++ {
		m.carry(i)
	}
	for i := int32(len(m.next.nodes)) - 1; i > 0; i-- { // a group after what it holds
		m.carryGroup(i)
	}
	m.next.nodes[0].status = m.old.nodes[0].status
	if m.old.Phase.Over() {
		m.next.nodes[0].status = Running
	}
	m.purses()
	m.recoveries()
	m.routers()
	m.forgotten()
	m.count()
	return nil
}

func (m *move) fate(i int32) *fate {
	for len(m.fates) < len(m.next.nodes) {
		m.fates = append(m.fates, fate{from: m.old.ids[m.next.nodes[len(m.fates)].id]})
	}
	return &m.fates[i]
}

// renewed reports whether a task has to be done as if it never had been.
func (m *move) renewed(i int32) bool {
	f := m.fate(i)
	if f.judged || i == 0 {
		return f.renewed
	}
	f.judged = true
	why := m.changed(i)
	f.own = why != ""
	n := &m.next.nodes[i]
	if why == "" && m.renewed(n.parent) {
		why = "it is in " + m.next.nodes[n.parent].id
	}
	for _, k := range m.follows(i) {
		if why == "" && m.spreads(k) {
			why = "it follows from " + m.next.nodes[k].id
		}
	}
	f = m.fate(i)
	if why == "" && m.askedAgain(i) {
		f.asked, why = true, "what it releases changed"
	}
	f.renewed, f.why = why != "", why
	if o := &m.old.nodes[f.from]; why == "" && o.expanded {
		m.expand(i, f.from)
	}
	return why != ""
}

// follows lists what a task follows from: its needs, and what it reads.
func (m *move) follows(i int32) []int32 {
	n := &m.next.nodes[i]
	if n.item > 0 {
		return nil // its each does
	}
	all := n.needs
	for _, id := range n.spec.Reads() {
		if k, ok := m.next.find(i, id); ok && k != i && !slices.Contains(all, k) {
			all = append(all[:len(all):len(all)], k)
		}
	}
	return all
}

// spreads reports whether what follows from a task is renewed with it: the task is, or something that it holds.
func (m *move) spreads(i int32) bool {
	if f := m.fate(i); f.moved != 0 {
		return f.moved == 2
	}
	m.fate(i).moved = 1
	moved := m.renewed(i) && !m.fate(i).asked && !m.idle(i)
	for k := 0; k < len(m.next.nodes[i].children); k++ {
		if m.spreads(m.next.nodes[i].children[k]) {
			moved = true
		}
	}
	if o := &m.old.nodes[m.fate(i).from]; !moved && m.fate(i).from > 0 && o.status.Terminal() {
		for _, c := range o.children {
			if _, there := m.next.ids[m.old.nodes[c].id]; !there {
				moved = true // what it held is not there any more
			}
		}
	}
	if moved {
		m.fate(i).moved = 2
	}
	return moved
}

// idle reports whether a task is one that nothing routed to, then and now: it made nothing that anybody follows from.
func (m *move) idle(i int32) bool {
	f := m.fate(i)
	o := &m.old.nodes[f.from]
	return f.from > 0 && m.next.nodes[i].dormant && neverNeeded(o)
}

func neverNeeded(n *node) bool {
	return n.dormant && !n.activated && (n.status == Skipped || n.status == Pending)
}

// changed says in what a task differs from the one of its id in the old revision.
func (m *move) changed(i int32) string {
	n, o := &m.next.nodes[i], &m.old.nodes[m.fate(i).from]
	switch {
	case m.fate(i).from == 0:
		return "it is new"
	case n.item > 0:
		return ""
	case !plan.SameWork(n.spec, o.spec):
		return "its work changed"
	case n.spec.ReadsInput(m.inputs):
		return "an input that it reads changed"
	case m.env && n.spec.Uses != "":
		return "the plan's environment changed"
	case o.status == RolledBack:
		return "it was undone"
	case o.status == FailedTask && !m.old.isGroup(o) && !plan.SameTerms(n.spec, o.spec):
		return "it failed, and its terms changed"
	case o.status == Skipped && neverNeeded(o) && !n.dormant:
		return "nothing has to lead to it any more"
	}
	return ""
}

// askedAgain reports whether a gate that somebody decided holds back other work now than was seen then.
func (m *move) askedAgain(i int32) bool {
	n, o := &m.next.nodes[i], &m.old.nodes[m.fate(i).from]
	if n.spec.Kind != plan.Gate || !needsDecision(n.spec) || !o.status.Terminal() || o.status == Skipped {
		return false
	}
	for _, d := range n.dependents {
		from := m.fate(d).from
		if from == 0 || !plan.SameWork(m.next.nodes[d].spec, m.old.nodes[from].spec) {
			return true
		}
	}
	return false
}

// expand gives a fan-out that is kept the items that it had.
func (m *move) expand(i, from int32) {
	name := m.next.nodes[i].id + "-"
	count := len(m.old.nodes[from].children)
	for k := 1; k <= count; k++ {
		if _, taken := m.next.ids[name+itoa(k)]; taken {
			if m.err == nil {
				m.err = fault.New(fault.Conflict, "task %s has the id of an item of %s", name+itoa(k), m.next.nodes[i].id).Remedy("give the task another id")
			}
			return
		}
	}
	m.next.instances(i, count)
}

// refuses says which task under way stands against the revision.
func (m *move) refuses() error {
	for i := 1; i < len(m.old.nodes); i++ {
		o := &m.old.nodes[i]
		if o.gone || !m.underWay(o) {
			continue
		}
		var what string
		switch k, there := m.next.ids[o.id]; {
		case !there:
			what = "drops it"
		case m.renewed(k):
			what = "has it run again: " + m.fate(k).why
		case !slices.Equal(m.next.nodes[k].spec.Locks, o.spec.Locks):
			what = "changes its locks"
		default:
			continue
		}
		if o.wait == ForUnknown {
			return fault.New(fault.Conflict, "it is not known what became of task %s, and the revision %s", o.id, what).
				Remedy("say first whether it happened: cairn complete %s %s, or cairn retry %s %s", m.old.Name, o.id, m.old.Name, o.id)
		}
		return fault.New(fault.Conflict, "task %s is running, and the revision %s", o.id, what).
			Remedy("wait until it is over (cairn watch %s), or interrupt what carries the plan out; then revise it", m.old.Name)
	}
	return nil
}

// underWay reports whether an attempt may have its effect at this moment, or may have had it.
func (m *move) underWay(o *node) bool {
	if o.wait == ForUnknown {
		return true
	}
	return o.status == Running && !m.old.isGroup(o) && (m.old.Tended || !o.pure)
}
