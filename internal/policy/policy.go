// Package policy says what stands between a task and its beginning: which rule of whose policy asks for whose consent,
// and which forbids it.
//
// Policies come from the plan, the project and the home. Each is a list of rules; a rule that holds for a task adds
// a demand, and all demands must be met, so the stricter always wins. On top stand the rules that are built in: what is critical,
// or cannot be taken back, wants somebody's consent unless the plan has a gate before it. Only the project and
// the home can switch those off: a plan does not excuse itself.
//
// A set is asked twice: when a plan is handed in, where whatever is not known yet counts as if it might hold (Guarded,
// Foresee), and just before a task begins, with everything known (Judge). What the second comes to is a fact of the journal.
package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/risk"
)

// Source is one policy and what people call the place where it stands.
type Source struct {
	Name    string // the plan, cairn.yaml, the home
	Trusted bool   // it may switch the built-in rules off
	Policy  *plan.Policy
}

// Set is every rule that holds for a plan.
type Set struct {
	rules []rule
	plain bool // without the built-in rules
}

// rule is one line of a policy.
type rule struct {
	name   string // with where it stands
	when   string // CEL; empty: always
	kind   plan.Kind
	prod   bool // holds for what goes to production
	demand *gate.Demand
	deny   bool
	why    string
}

// New reads the rules of several policies.
func New(sources ...Source) (*Set, error) {
	s := &Set{}
	for _, src := range sources {
		p := src.Policy
		if p == nil {
			continue
		}
		s.plain = s.plain || src.Trusted && p.Gates == "none"
		for _, kind := range plan.Kinds {
			if roles, ok := p.Approve[string(kind)]; ok {
				s.rules = append(s.rules, rule{name: "approve." + string(kind) + " of " + src.Name, kind: kind, demand: &gate.Demand{Roles: roles}})
			}
		}
		if p.RequireGateForProd {
			s.rules = append(s.rules, rule{name: "requireGateForProd of " + src.Name, prod: true, demand: &gate.Demand{}})
		}
		for i := range p.Rules {
			r, err := read(&p.Rules[i], src.Name)
			if err != nil {
				return nil, err
			}
			s.rules = append(s.rules, r)
		}
	}
	return s, nil
}

func read(r *plan.Rule, from string) (rule, error) {
	name := fmt.Sprintf("rule %s of %s", r.Name, from)
	if r.When != "" {
		if err := expr.Check(r.When, expr.Scope{Vars: expr.Policy}); err != nil {
			return rule{}, fault.Wrap(fault.Invalid, err, "%s", name).Remedy("%s", fault.HintOf(err))
		}
	}
	switch {
	case r.Deny != "" && r.Gate != nil:
		return rule{}, fault.New(fault.Invalid, "%s both forbids and asks for consent", name).Remedy("keep one of deny and gate")
	case r.Deny == "" && r.Gate == nil:
		return rule{}, fault.New(fault.Invalid, "%s asks for nothing", name).Remedy("add gate: {role: ...}, or deny: WHY")
	}
	out := rule{name: name, when: r.When, deny: r.Deny != "", why: r.Deny}
	if r.Gate != nil {
		d := Asks(r.Gate)
		out.demand = &d
	}
	return out, nil
}

// Asks is what an approval comes to as a demand.
func Asks(a *plan.Approval) gate.Demand {
	d := gate.Demand{Quorum: a.Quorum, Not: a.Not, Within: a.Within.D(), Escalate: a.Escalate}
	if a.Role != "" {
		d.Roles = []string{a.Role}
	}
	return d
}

// Case is a task about to begin, or one that is only written down yet.
type Case struct {
	Task     *plan.Task
	ID       string
	Contract capability.Contract
	Run      string          // the command, with every reference replaced where that is known
	With     json.RawMessage // likewise
	Now      time.Time       // zero: not known yet
	Gated    bool            // a gate that wants people stands before it
	Tested   bool            // it is a gate, and its own work is done
}

// Ruling is what the rules come to for a task.
type Ruling struct {
	Demands []gate.Demand
	Denied  string // the rule that forbids it, and why
}

// Judge asks every rule.
func (s *Set) Judge(ctx context.Context, c Case) (Ruling, error) {
	var out Ruling
	// Rules are about work, so they hold a gate's own before it begins; what the gate itself asks for comes after.
	isGate := c.Task.Kind == plan.Gate
	over := isGate && (c.Task.Uses == "" || c.Tested)
	if c.Task.Approve != nil && (!isGate || over) {
		out.Demands = append(out.Demands, Asks(c.Task.Approve))
	}
	if over {
		return out, nil
	}
	var facts map[string]any // made for the first rule that asks: most plans have none
	for i := range s.rules {
		r := &s.rules[i]
		if r.when != "" && facts == nil {
			facts = c.facts()
		}
		ok, err := r.holds(ctx, c, facts)
		if err != nil {
			return out, fault.Wrap(fault.Failed, err, "%s cannot be judged for task %s", r.name, c.ID)
		}
		switch {
		case !ok:
		case r.deny:
			out.Denied = r.name
			if r.why != "" {
				out.Denied += ": " + r.why
			}
		default:
			d := *r.demand
			d.Rule = r.name
			out.Demands = append(out.Demands, d)
		}
	}
	if why := builtin(c); why != "" && !s.plain && !c.Gated && len(out.Demands) == 0 {
		out.Demands = append(out.Demands, gate.Demand{Rule: why})
	}
	return out, nil
}

func (r *rule) holds(ctx context.Context, c Case, facts map[string]any) (bool, error) {
	switch {
	case r.kind != "":
		return c.Task.Kind == r.kind, nil
	case r.prod:
		return production(c.Task) && !c.Gated, nil
	case r.when == "":
		return true, nil
	}
	p, err := expr.Compile(r.when)
	if err != nil {
		return false, err
	}
	if !slices.Contains(p.Vars(), "now") || !c.Now.IsZero() {
		return p.Bool(ctx, facts)
	}
	return someHour(ctx, p, facts)
}

// someHour reports whether an expression holds in some hour of the week: when a task will begin is not known yet.
func someHour(ctx context.Context, p *expr.Program, facts map[string]any) (bool, error) {
	facts = maps.Clone(facts)
	monday := time.Date(2026, time.January, 5, 0, 30, 0, 0, time.UTC)
	for hour := range 7 * 24 {
		facts["now"] = monday.Add(time.Duration(hour) * time.Hour)
		if ok, err := p.Bool(ctx, facts); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// production reports whether a task acts where the users are.
func production(t *plan.Task) bool {
	if t.Kind == plan.Deploy {
		return true
	}
	return slices.ContainsFunc(t.Labels, func(l string) bool { return l == "prod" || l == "production" })
}

// builtin says why a task wants consent though nobody wrote so: it is critical, or cannot be taken back.
func builtin(c Case) string {
	for _, f := range c.findings() {
		// A request changes something somewhere as a rule; what is more is told by its criticality.
		if f.Once() && c.Task.Uses != "http.request" || f.Criticality.AtLeast(risk.Critical) {
			return "default: " + f.Says
		}
	}
	if level := c.criticality(); level.AtLeast(risk.Critical) {
		return "default: it is " + string(level)
	}
	return ""
}

// findings are what the work of a task may do that cannot be taken back.
func (c Case) findings() []risk.Finding { return Findings(c.Task.Uses, c.Run, c.With) }

// Findings reads what a call may do, as far as its text tells.
func Findings(uses, run string, with json.RawMessage) []risk.Finding {
	var in struct{ Run, SQL, Method, URL string }
	if json.Unmarshal(with, &in) != nil { // a reference, or what the contract refuses anyway
		in.Run, in.SQL, in.Method, in.URL = "", "", "", ""
	}
	switch uses {
	case "shell":
		if run == "" {
			run = in.Run
		}
		return risk.Shell(run)
	case "sql.exec":
		return risk.SQL(in.SQL)
	case "http.request":
		return risk.HTTP(in.Method, in.URL)
	}
	return nil
}

// criticality is the worst of what the task, its capability and its text say.
func (c Case) criticality() risk.Criticality {
	worst, _ := risk.Worst(c.findings())
	for _, s := range []string{c.Task.Criticality, c.Contract.Criticality} {
		if l := risk.Criticality(s); s != "" && !worst.AtLeast(l) {
			worst = l
		}
	}
	return worst
}

// facts is what a rule's expression can ask of a task.
func (c Case) facts() map[string]any {
	t := c.Task
	effects := []any{}
	for _, f := range c.findings() {
		effects = append(effects, string(f.Effect))
	}
	_, hosts := c.Contract.Reach(c.With)
	var cost float64
	if t.Budget != nil {
		cost = float64(t.Budget.Cost.Micro) / 1e6
	}
	run := c.Run
	return map[string]any{
		"task": map[string]any{"id": c.ID, "kind": string(t.Kind), "uses": t.Uses, "run": run, "labels": anys(t.Labels), "owner": t.Owner,
			"criticality": string(c.criticality()), "effects": effects, "hosts": anys(hosts), "paths": paths(c.With), "cost": cost,
			"writes": c.Contract.Needs.Write, "network": c.Contract.Needs.Network, "repeat": string(c.Contract.Repeat)},
		"now": c.Now,
	}
}

// paths are the inputs that name a file or a folder.
func paths(with json.RawMessage) []any {
	out := []any{}
	var in map[string]any
	if json.Unmarshal(with, &in) != nil {
		return out
	}
	for _, key := range []string{"path", "dir", "file", "to", "from"} {
		if s, ok := in[key].(string); ok && !strings.Contains(s, "://") {
			out = append(out, s)
		}
	}
	return out
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
