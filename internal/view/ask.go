package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// The sorts of thing that wait for people.
const (
	AskGate      = "gate"      // consent to what follows
	AskHeld      = "held"      // consent to a task, which it or a rule asks for
	AskQuestion  = "question"  // words
	AskDecision  = "decision"  // one of several options
	AskManual    = "manual"    // work
	AskJudgement = "judgement" // whether prose holds
	AskUnknown   = "unknown"   // whether something happened
	AskBudget    = "budget"    // more of it
)

// Ask is one thing that waits for a person, as every door shows it.
type Ask struct {
	Plan     string             `json:"plan"`
	Task     string             `json:"task"`
	Kind     string             `json:"kind"`
	Title    string             `json:"title,omitempty"`
	Asks     string             `json:"asks,omitempty"`
	By       []string           `json:"by,omitempty"`    // roles and people that may answer; none: anybody
	Lacks    string             `json:"lacks,omitempty"` // whose consent is still wanted, in words
	Votes    []Voice            `json:"votes,omitempty"` // consent so far
	Since    time.Time          `json:"since"`
	Age      int64              `json:"age"` // seconds
	Due      time.Time          `json:"due,omitzero"`
	Overdue  bool               `json:"overdue,omitempty"`
	Window   time.Time          `json:"window,omitzero"`   // when it is looked at together with others
	Lets     []string           `json:"lets,omitempty"`    // what goes on then
	Rules    []string           `json:"rules,omitempty"`   // of policies that hold it
	Failing  []string           `json:"failing,omitempty"` // checks that do not hold
	Evidence []string           `json:"evidence,omitempty"`
	Seen     string             `json:"seen,omitempty"` // hash of what is to be approved, for --seen
	Options  []lifecycle.Option `json:"options,omitempty"`
	Default  string             `json:"default,omitempty"`
	Answers  []string           `json:"answers"` // commands

	hold gate.Hold
}

// Voice is somebody's consent.
type Voice struct {
	Who  string    `json:"who"`
	Why  string    `json:"why,omitempty"`
	Time time.Time `json:"time"`
}

// Asking is what the asks of one plan are made from. Its clock and zone are those of Now.
type Asking struct {
	State    *lifecycle.State
	Since    Waits
	Question func(task string) (lifecycle.Question, error)
	Review   *plan.Review // of the project; the plan's own comes first
	Now      time.Time
}

// Waits is since when tasks wait for people: the law keeps no times.
type Waits map[string]time.Time

// Note takes the next record.
func (w Waits) Note(r journal.Record) {
	switch r.Kind {
	case lifecycle.TaskWaiting, lifecycle.GateOpened, lifecycle.BudgetRefused:
		w[r.Task] = r.Time
	case lifecycle.ReplanProposed:
		w[lifecycle.ReplanTask] = r.Time
	}
}

// Asks lists what waits for people in a plan, in the order of its tasks. Of tasks that wait for the same budget the first
// stands for all.
func Asks(a Asking) []Ask {
	var out []Ask
	if q, ok := a.replan(); ok {
		out = append(out, q)
	}
	if a.State.Phase.Over() {
		return out
	}
	if q, ok := goalAsk(a.State); ok {
		q.Since = a.Since[""].In(a.Now.Location())
		q.Age = int64(max(0, a.Now.Sub(q.Since)) / time.Second)
		out = append(out, q)
	}
	withheld := a.withheld()
	for t := range a.State.Tasks() {
		if !t.Wait.NeedsPerson() {
			continue
		}
		q := Ask{Plan: a.State.Name, Task: t.ID, Title: t.Spec.Title, Asks: strings.TrimSpace(t.Spec.Description), Since: a.Since[t.ID].In(a.Now.Location())}
		q.hold.Authors = a.State.Authors()
		switch t.Wait {
		case lifecycle.ForBudget:
			if w, first := withheld[t.ID]; !first || !a.budget(&q, w) {
				continue
			}
		case lifecycle.ForDecision:
			a.gate(&q, t)
		default:
			a.rest(&q, t)
		}
		q.By = answerers(&q.hold)
		q.Age = int64(max(0, a.Now.Sub(q.Since)) / time.Second)
		q.Overdue = !q.Due.IsZero() && !a.Now.Before(q.Due)
		out = append(out, q)
	}
	return out
}

// Overview sorts asks: what is due first, then what is looked at first, then what waits longest.
func Overview(asks []Ask) {
	slices.SortStableFunc(asks, func(a, b Ask) int {
		return cmp.Or(soonest(a.Due, b.Due), soonest(a.Window, b.Window), a.Since.Compare(b.Since), strings.Compare(a.Plan, b.Plan))
	})
}

// soonest puts what has no time last.
func soonest(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

// For reports whether somebody may act on it, by the rule that decides when they do.
func (q *Ask) For(w gate.Who) bool {
	return q.hold.May(w, true) == nil && !q.hold.Voted(w)
}

// answerers lists those that may answer by now.
func answerers(h *gate.Hold) []string {
	var out []string
	add := func(names ...string) {
		for _, n := range names {
			if n = gate.Name(n); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	for _, d := range h.Demands {
		add(d.Roles...)
		add(d.Escalate[:min(h.Round, len(d.Escalate))]...)
	}
	for _, name := range lent(h) {
		add(name)
	}
	return out
}

func lent(h *gate.Hold) []string {
	names := make([]string, 0, len(h.Lent))
	for name := range h.Lent {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// gate tells what a decision is about, and how far it has come.
func (a Asking) gate(q *Ask, t lifecycle.Task) {
	q.Kind = AskHeld
	if t.Spec.Kind == plan.Gate {
		q.Kind = AskGate
	}
	if prose := judged(t.Spec.Checks); prose != "" && q.Asks == "" {
		q.Asks = "does this hold: " + prose
	}
	if t.Spec.Approve != nil {
		q.Evidence = t.Spec.Approve.Evidence
		q.hold.Demands = []gate.Demand{policy.Asks(t.Spec.Approve)}
	}
	approve, at := "cairn approve "+on(q)+" --why TEXT", on(q)
	if g, ok := a.State.Gate(t.ID); ok {
		q.hold, q.Failing, q.Due, q.Seen = g.Hold, g.Failing, g.Due, brief(g.Subject.String())
		if !g.Due.IsZero() {
			q.Due = g.Due.In(a.Now.Location())
		}
		if g.Subject.IsZero() {
			q.Seen = ""
		}
	}
	for _, v := range q.hold.Votes {
		q.Votes = append(q.Votes, Voice{Who: gate.Name(v.Actor), Why: v.Why, Time: v.Time})
	}
	for _, d := range q.hold.Demands {
		if d.Rule != "" {
			q.Rules = append(q.Rules, d.Rule)
		}
	}
	q.Lacks = q.hold.Lacks()
	for _, r := range a.State.Releases(t.ID) {
		if r.Kind != plan.Gate || r.Uses != "" {
			q.Lets = append(q.Lets, does(r))
		}
	}
	if slices.Contains(q.Evidence, "diff") && q.Seen != "" {
		approve += " --seen " + q.Seen
	}
	if len(q.Failing) > 0 {
		approve += " --override"
	}
	q.Answers = []string{approve, "cairn reject " + at + " --why TEXT"}
	if r := a.review(); r != nil {
		q.Window = r.Next(q.Since)
	}
}

func (a Asking) review() *plan.Review {
	if p := a.State.Plan.Policy; p != nil && p.Review != nil {
		return p.Review
	}
	return a.Review
}

// does tells a task in a line.
func does(t *plan.Task) string {
	what := t.Run
	if what == "" {
		what = t.Uses
	}
	if what = plain(firstLine(strings.TrimSpace(what))); what == "" {
		return t.ID
	}
	return t.ID + ": " + what
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

const shortHash = 12

func brief(hash string) string { return hash[:min(len(hash), shortHash)] }

func on(q *Ask) string { return quote(q.Plan) + " " + quote(q.Task) }

func judged(all []plan.Criterion) string {
	var prose []string
	for _, c := range all {
		if c.Judge {
			prose = append(prose, c.Says)
		}
	}
	return strings.Join(prose, "; ")
}
