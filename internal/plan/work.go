package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// work checks who or what carries a task out.
func (c *checker) work(s *scope, i int) {
	t := &s.tasks[i]
	for j, id := range t.Capabilities {
		if c.catalogue != nil && !c.catalogue.Installed(id) {
			c.warn(s.item(i, "capabilities", j), WarnCapability, "", "the capability %s is not installed", id)
		}
	}
	if t.Rollback != nil && t.Rollback.Uses != "" {
		c.capability(locate(s.node(i, "rollback"), t.Rollback.Uses), t.Rollback.Uses)
	}
	switch {
	case t.Uses != "":
		if c.catalogue == nil {
			return
		}
		if c.catalogue.Installed(t.Uses) || c.capability(s.node(i, "uses"), t.Uses) {
			c.fits(s, i)
		}
	case t.Run != "" && t.Kind != Manual:
		c.byPerson(s, i)
	}
}

// capability reports one that is not there, and whether it is.
func (c *checker) capability(n source.Node, id string) bool {
	switch {
	case c.catalogue == nil:
		return false
	case c.catalogue.Installed(id):
		return true
	case c.catalogue.Known(id):
		c.warn(n, WarnCapability, "install it, or see: cairn capability list", "the capability %s is not installed", id)
		return false
	}
	remedy := "see: cairn capability list"
	if near := nearest(id, slices.Values(c.catalogue.IDs())); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", near)
	}
	c.fault(n, CodeCapability, remedy, "there is no capability %q", id)
	return false
}

// fits checks literal inputs against the contract. What run says is an input too.
func (c *checker) fits(s *scope, i int) {
	t := &s.tasks[i]
	with := t.With
	if t.Run != "" {
		with = withRun(with, t.Run)
	}
	if with == nil {
		with = json.RawMessage("{}")
	}
	for _, wrong := range c.catalogue.Fits(t.Uses, with) {
		n := s.node(i, "with")
		if t.With == nil {
			n = s.node(i, "uses")
		}
		c.fault(n, CodeInput, "see: cairn capability show "+t.Uses, "%s of %s: %s", t.Uses, t.ID, wrong)
	}
}

// withRun adds the command to the inputs.
func withRun(with json.RawMessage, run string) json.RawMessage {
	m := map[string]json.RawMessage{}
	if with != nil && json.Unmarshal(with, &m) != nil {
		return with
	}
	if _, has := m["run"]; has {
		return with
	}
	m["run"], _ = json.Marshal(run)
	out, err := json.Marshal(m)
	if err != nil {
		return with
	}
	return out
}

// byPerson tells the author that nothing will run what looks like a command.
func (c *checker) byPerson(s *scope, i int) {
	t := &s.tasks[i]
	pipe, ok := expr.ParsePipeline(t.Run)
	if ok && c.catalogue == nil {
		return
	}
	why := "it is no chain of calls such as f(x) -> y"
	if ok {
		var lack []string
		for _, name := range pipe.Names() {
			if !c.catalogue.Installed(name) {
				lack = append(lack, name)
			}
		}
		if len(lack) == 0 {
			return
		}
		why = strings.Join(lack, ", ") + " not installed"
	}
	c.warn(s.node(i, "run"), WarnPerson, "add uses: shell if it is a command", "%s is left to a person or an agent: %s", t.ID, why)
}

// planRules checks what stands outside of tasks.
func (c *checker) planRules(root source.Node) {
	p := c.plan
	at := func(n source.Node, keys ...string) source.Node {
		for _, k := range keys {
			if v, ok := n.Get(k); ok {
				n = v
			}
		}
		return n
	}
	if p.State != "" {
		c.claimed(at(root, "status", "state"), p.State, states)
	}
	if p.Goal != nil {
		c.goal(p.Goal, root)
	}
	if pol := p.Policy; pol != nil {
		n := at(root, "policies", "policy")
		if pol.Unjudged != "" && !slices.Contains(unjudgeds, pol.Unjudged) {
			c.notOneOf(at(n, "unjudged"), "unjudged", pol.Unjudged, unjudgeds)
		}
		c.replanning(pol, n)
		if pol.Workspace != "" && !slices.Contains(workspaces, pol.Workspace) {
			c.notOneOf(at(n, "workspace"), "workspace", pol.Workspace, workspaces)
		}
		c.confinement(n, pol)
		c.watching(pol.Watch, at(n, "watch"))
		c.labelRules(at(n, "labels"))
		c.rates(pol, n)
		c.policyRules(pol, n)
		if pol.Gates != "" {
			c.warn(at(n, "gates"), WarnKey, "say it in cairn.yaml, under policy", "a plan cannot excuse itself from the built-in rules: gates has no effect here")
		}
		for kind := range pol.Approve {
			if kind != Budgets && kind != Replans && !slices.Contains(Kinds, Kind(kind)) {
				c.warn(at(n, "approve"), WarnKind, "name kinds of task: "+kindList(), "approve names %q, which is no kind of task", kind)
			}
		}
	}
	c.hypotheses(at(root, "hypotheses"))
	for i, a := range p.Artifacts {
		n := at(root, "artifacts")
		if n.Kind == source.List && i < len(n.Items) {
			n = n.Items[i]
		}
		if a.Name == "" {
			c.fault(n, CodeEmpty, "give it a name", "an artifact of the plan has no name")
		}
		c.retention(n, a.Retention)
		if id, _, _ := strings.Cut(a.From, "."); a.From != "" {
			if _, _, ok := c.scopes[0].find(id); !ok {
				c.missing(c.scopes[0], at(n, "from"), id, "the artifact "+a.Name+" is from")
			}
		}
	}
}

// goal checks the goal. When it is judged every task has ended, so that it may read them all.
func (c *checker) goal(g *Goal, root source.Node) {
	n, _ := root.Get("goal")
	if g.Deadline != "" {
		c.moment(locate(n, g.Deadline), g.Deadline)
	}
	r := reader{checker: c, scope: c.scopes[0], at: -1}
	for _, d := range g.Done {
		if !d.Judge && reads(d.Says) {
			r.computed(locate(n, d.Says), d.Says)
		}
	}
}

func (c *checker) hypotheses(n source.Node) {
	seen := map[string]bool{}
	for i, h := range c.plan.Hypotheses {
		at := n
		if n.Kind == source.List && i < len(n.Items) {
			at = n.Items[i]
		}
		switch {
		case h.ID == "":
			c.fault(at, CodeEmpty, "give it an id", "a hypothesis has no id")
		case seen[h.ID]:
			c.fault(at, CodeDuplicate, "give one of them another id", "two hypotheses have the id %q", h.ID)
		}
		seen[h.ID] = true
	}
}
