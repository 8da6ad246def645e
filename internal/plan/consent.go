package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Words that the keys of consent are limited to.
var (
	nots      = []string{"author"}
	formTypes = []string{"text", "number", "bool", "json", "list"}
)

// ReadPolicy reads a policy that stands outside of a plan: as a file of its own, or under a key of a project's settings.
func ReadPolicy(file string, src []byte, key string) (*Policy, Faults) {
	d := &decoder{file: file}
	root, problems := source.Read(source.YAML, src)
	d.take(problems)
	if len(problems) > 0 && root.Kind == source.Null {
		return nil, d.all()
	}
	if key != "" {
		root, _ = root.Get(key)
	}
	p := &Policy{}
	if root.Kind != source.Null {
		d.record(root, p)
	}
	c := checker{decoder: d, plan: &Plan{Policy: p}}
	c.policyRules(p, root)
	c.rates(p, root)
	c.replanning(p, root)
	return p, d.all()
}

// SchemaOf lists the outputs that a gate has a schema for, as task.output, in order.
func (t *Task) SchemaOf() (outputs []string, schemas map[string]json.RawMessage) {
	if len(t.Schemas) == 0 || json.Unmarshal(t.Schemas, &schemas) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(schemas)), schemas
}

// shapes checks the schemas of a gate.
func (c *checker) shapes(s *scope, i int) {
	t := &s.tasks[i]
	n := s.node(i, "schemas")
	if len(t.Schemas) > 0 && t.Kind != Gate {
		c.warn(n, WarnKey, "make it a gate, or say in expect what must hold", "%s is no gate: schemas has no effect here", t.ID)
	}
	outputs, _ := t.SchemaOf()
	for _, out := range outputs {
		id, name, ok := strings.Cut(out, ".")
		if !ok || name == "" {
			c.fault(n, CodeRef, "write task.output: {type: ...}", "%s checks %q, which names no output of a task", t.ID, out)
		} else if _, _, known := s.find(id); !known {
			c.missing(s, n, id, t.ID+" checks the shape of")
		}
	}
}

// consent checks who a task asks for.
func (c *checker) consent(s *scope, i int) {
	t := &s.tasks[i]
	c.shapes(s, i)
	if t.Approve == nil {
		return
	}
	n := s.node(i, "approve")
	c.approval(t.Approve, n)
	if back := t.Approve.Back; back != "" {
		if _, ok := s.index[back]; !ok {
			c.missing(s, locate(n, back), back, t.ID+" is pushed back to")
		}
	}
}

// approval checks an approval by itself.
func (c *checker) approval(a *Approval, n source.Node) {
	if a.Not != "" && !slices.Contains(nots, a.Not) {
		c.notOneOf(locate(n, a.Not), "not", a.Not, nots)
	}
	if len(a.Escalate) > 0 && a.Within == 0 {
		c.fault(n, CodeEmpty, "add within: 24h", "it escalates to %s, but does not say after how long", strings.Join(a.Escalate, ", "))
	}
	if len(a.Escalate) > 0 && a.Role == "" {
		c.fault(n, CodeEmpty, "name the role that may decide at first", "anybody may decide it, so it cannot escalate")
	}
	for name, typ := range a.Form {
		if !validID(name) {
			c.badID(n, "an input of the form", name)
		}
		if !slices.Contains(formTypes, typ) {
			c.notOneOf(locate(n, typ), "the type of "+name, typ, formTypes)
		}
	}
}

// policyRules checks the rules of a policy.
func (c *checker) policyRules(p *Policy, n source.Node) {
	rules, _ := n.Get("rules")
	seen := map[string]bool{}
	for i := range p.Rules {
		r, at := &p.Rules[i], rules
		if rules.Kind == source.List && i < len(rules.Items) {
			at = rules.Items[i]
		}
		switch {
		case r.Name == "":
			c.fault(at, CodeEmpty, "give it a name: people are told which rule held them", "a rule has no name")
		case seen[r.Name]:
			c.fault(at, CodeDuplicate, "give one of them another name", "two rules are called %s", r.Name)
		}
		seen[r.Name] = true
		if r.When != "" {
			if err := expr.Check(r.When, expr.Scope{Vars: expr.Policy}); err != nil {
				c.fault(locate(at, r.When), CodeCEL, noProse(err, `task.kind == "deploy"`), "%s", err)
			}
		}
		switch {
		case r.Deny != "" && r.Gate != nil:
			c.fault(at, CodeType, "keep one of deny and gate", "rule %s contradicts itself: it forbids, and asks for consent", r.Name)
		case r.Deny == "" && r.Gate == nil:
			c.fault(at, CodeEmpty, "add gate: {role: ROLE}, or deny: WHY", "rule %s asks for nothing", r.Name)
		case r.Gate != nil:
			c.approval(r.Gate, at)
		}
	}
	c.review(p.Review, n)
	if p.Gates != "" && p.Gates != "none" {
		c.notOneOf(locate(n, p.Gates), "gates", p.Gates, []string{"none"})
	}
}
