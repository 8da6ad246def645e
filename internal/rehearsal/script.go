package rehearsal

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// What is assumed where a plan, its contracts and the past are silent. The order is that of the report.
const (
	assumedWhen   = "conditions that only a run can tell hold"
	assumedChecks = "checks that only a run can tell hold"
	learnedItems  = "as many items as in past runs"
	assumedItems  = "3 items, for the list is made by the run"
	assumedRole   = "nobody in the team is named so; anyone answers"
	assumedModes  = "failures are of any of the foreseen modes, equally often"
)

var assumptions = []string{assumedWhen, assumedChecks, learnedItems, assumedItems, assumedRole, assumedModes}

// script is a plan with all that can be known before the first rehearsal.
type script struct {
	Options
	plan      *plan.Plan // as the engine would submit it
	installed map[string]lifecycle.Installed
	parts     []*part
	bySpec    map[*plan.Task]*part
	byID      map[string]*part
	rulings   map[string]policy.Ruling
	guarded   []string   // tasks that a policy holds
	people    []string   // all who may be asked
	roles     [][]string // of each of them
	crews     map[string]*crew
	assumed   map[string][]string
	midnight  time.Time // where the virtual clock begins
	currency  []string  // of costs, in order of appearance
}

// part is one task as it was written; the items of a fan-out share theirs.
type part struct {
	index    int
	id       string
	spec     *plan.Task
	takes    spread
	basis    Basis // empty: it takes no time of its own
	sure     bool
	fails    float64
	cost     int64 // of one attempt, in micro-units
	currency int
	modes    []string // of failure, that may be recognised
	verdicts []lifecycle.Verdict
	foreseen *lifecycle.Assessed
	reads    []string // tasks that its conditions read
	owner    *crew
	demands  []gate.Demand // what holds it before it begins
	denied   string
}

func newScript(ctx context.Context, p *plan.Plan, o Options) (*script, error) {
	if o.Lookup == nil {
		o.Lookup = func(string) (capability.Contract, bool) { return capability.Contract{}, false }
	}
	if o.Author == "" {
		o.Author = "agent:rehearsal"
	}
	if len(o.Team) == 0 {
		o.Team = DefaultTeam()
	}
	q := *p
	sc := &script{Options: o, plan: &q, installed: map[string]lifecycle.Installed{}, bySpec: map[*plan.Task]*part{}, byID: map[string]*part{},
		crews: map[string]*crew{}, rulings: map[string]policy.Ruling{}, assumed: map[string][]string{}}
	y, m, d := o.Start.Date()
	sc.midnight = time.Date(y, m, d, 0, 0, 0, 0, o.Start.Location())
	q.Tasks = sc.normal(p.Tasks)
	if err := sc.rule(ctx); err != nil {
		return nil, err
	}
	sc.cast(ctx, "", q.Tasks)
	for _, id := range sortedKeys(o.Faults.Task) {
		if sc.byID[id] == nil {
			err := fault.New(fault.Invalid, "there is no task %s whose attempts could fail", id)
			if near := fault.Nearest(id, sortedKeys(sc.byID)); near != "" {
				return nil, err.Remedy("did you mean %s?", near)
			}
			return nil, err.Remedy("name tasks as the plan does; those of a subplan as group/task")
		}
	}
	return sc, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// pipeline is the capability that carries out a chain of others.
const pipeline = "pipeline"

// normal makes explicit what the engine makes explicit when it takes a plan: which commands are pipelines. The tasks are
// copied, for the plan is not ours.
func (sc *script) normal(tasks []plan.Task) []plan.Task {
	out := slices.Clone(tasks)
	for i := range out {
		t := &out[i]
		if t.Uses == "" && t.Run != "" && t.Subplan == nil && sc.isPipeline(t.Run) {
			t.Uses = pipeline
		}
		if t.Subplan != nil {
			s := *t.Subplan
			s.Tasks = sc.normal(s.Tasks)
			t.Subplan = &s
		}
	}
	return out
}

func (sc *script) isPipeline(run string) bool {
	p, ok := expr.ParsePipeline(run)
	if !ok {
		return false
	}
	for _, id := range append(p.Names(), pipeline) {
		if _, ok := sc.Lookup(id); !ok {
			return false
		}
	}
	return true
}

// cast makes the parts of tasks, and of those inside them.
func (sc *script) cast(ctx context.Context, group string, tasks []plan.Task) {
	for i := range tasks {
		t := &tasks[i]
		sc.add(ctx, group+t.ID, t)
		if t.Subplan != nil {
			sc.cast(ctx, group+t.ID+"/", t.Subplan.Tasks)
		}
	}
}

func (sc *script) add(ctx context.Context, id string, t *plan.Task) *part {
	p := &part{index: len(sc.parts), id: id, spec: t}
	sc.parts, sc.bySpec[t], sc.byID[id] = append(sc.parts, p), p, p
	c, _ := sc.Lookup(t.Uses)
	if t.Uses != "" {
		sc.installed[t.Uses] = lifecycle.Installed{Version: c.Version, Repeat: c.Repeat}
	}
	sc.askFor(p)
	p.foreseen, p.reads = sc.foresee(ctx, id, t), conditions(t)
	if instant(t) {
		p.fails = sc.Faults.Task[id]
		return p
	}
	p.takes, p.basis, p.sure = sc.estimate(id, t, c)
	sc.charge(p, c)
	p.fails = sc.rate(id, t)
	for _, m := range t.Failure {
		if isCEL, _ := expr.Kind(m.Detect); m.Detect == "" || isCEL {
			p.modes = append(p.modes, m.Name)
		}
	}
	if len(p.modes) > 0 && p.fails > 0 {
		sc.assume(assumedModes, id)
	}
	for _, c := range t.Expect {
		p.verdicts = append(p.verdicts, lifecycle.Verdict{Says: c.Says, Judge: c.Judge, OK: !c.Judge})
	}
	return p
}

// instant reports whether a task takes no time of its own: it holds others, or is a gate or a milestone.
func instant(t *plan.Task) bool {
	return t.IsGroup() || t.Uses == "" && (t.Kind == plan.Gate || t.Kind == plan.Milestone)
}

// rate is how often attempts of a task fail: as was asked for, else as in the past.
func (sc *script) rate(id string, t *plan.Task) float64 {
	if share, ok := sc.Faults.Task[id]; ok {
		return share
	}
	switch {
	case t.Uses == "":
		return 0
	case sc.Faults.Set:
		return sc.Faults.Any
	}
	return sc.History.task(id, t.Uses).rate()
}

func (sc *script) charge(p *part, c capability.Contract) {
	m := sc.price(p.spec, c)
	if m.Micro == 0 {
		return
	}
	if p.currency = slices.Index(sc.currency, m.Currency); p.currency < 0 {
		p.currency = len(sc.currency)
		sc.currency = append(sc.currency, m.Currency)
	}
	p.cost = m.Micro
}

// askFor finds out who would be asked to do a task or to judge it, and whose consent it wants.
func (sc *script) askFor(p *part) {
	t := p.spec
	p.owner = sc.crew(t.Owner, 1)
	if t.Approve != nil {
		p.demands = []gate.Demand{policy.Asks(t.Approve)}
	}
	if r, ok := sc.rulings[p.id]; ok { // what the task asks itself is among it
		p.demands, p.denied = r.Demands, r.Denied
	}
	byHand := t.Uses == "" && t.Kind != plan.Milestone && t.Kind != plan.Gate && !t.IsGroup()
	names := []string{}
	if byHand {
		names = append(names, t.Owner)
	}
	for _, d := range p.demands {
		names = append(names, d.Roles...)
	}
	for _, name := range names {
		if _, known := sc.Team.find(name); !known && len(sc.Team) > 1 {
			sc.assume(assumedRole, p.id)
		}
	}
}

// rule asks the policies what they will ask of the plan, as far as its text tells.
func (sc *script) rule(ctx context.Context) (err error) {
	if sc.Rules == nil {
		if sc.Rules, err = policy.New(policy.Source{Name: "the plan", Policy: sc.plan.Policy}); err != nil {
			return err
		}
	}
	foreseen, err := sc.Rules.Foresee(ctx, sc.plan, policy.Lookup(sc.Lookup))
	for _, f := range foreseen {
		sc.rulings[f.Task] = f.Ruling
		sc.guarded = append(sc.guarded, f.Task)
	}
	return err
}

func (sc *script) assume(what, id string) {
	if !slices.Contains(sc.assumed[what], id) {
		sc.assumed[what] = append(sc.assumed[what], id)
	}
}

// partOf finds the part of a task of a run. One that the law made itself has none yet and gets one.
func (sc *script) partOf(id string, spec *plan.Task) *part {
	if p := sc.bySpec[spec]; p != nil {
		return p
	}
	name, _ := authored(sc.plan.Tasks, id)
	if p := sc.byID[name]; p != nil {
		return p
	}
	return sc.add(context.Background(), id, spec)
}
