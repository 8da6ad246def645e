package plan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// labelRules reads the rules by label; a list alone is what the label denies.
func (d *decoder) labelRules(n source.Node, key string) map[string]*LabelRule {
	if n.Kind != source.Map {
		d.wrong(n, key, "a map by label, such as {pii: {deny: [http.*]}}")
		return nil
	}
	out := make(map[string]*LabelRule, n.Len())
	for i := range n.Len() {
		label, rule := n.Entry(i)
		out[label.Text] = &LabelRule{}
		if rule.Kind == source.List || rule.Kind == source.String {
			out[label.Text].Deny = d.texts(rule, "deny")
			continue
		}
		d.record(rule, out[label.Text])
	}
	return out
}

// labelRules checks the rules by themselves.
func (c *checker) labelRules(n source.Node) {
	for _, label := range c.plan.Policy.labelNames() {
		rule, at := c.plan.Policy.Labels[label], n
		if v, ok := n.Get(label); ok {
			at = v
		}
		if len(rule.Deny)+len(rule.Allow) == 0 {
			c.warn(at, WarnLabel, "say what it may not reach: deny: [http.*]", "data that is %s may reach everything", label)
		}
		for _, p := range slices.Concat(rule.Deny, rule.Allow) {
			if _, err := path.Match(p, ""); err != nil || p == "" {
				c.fault(locate(at, p), CodeLabel, "write a name, with * for any characters: model.*, *.example.com", "%q is no pattern", p)
			}
		}
		declared, _ := source.Read(source.JSON, c.plan.Inputs)
		for _, name := range rule.Inputs {
			if _, ok := declared.Get(name); !ok && !c.fragment {
				c.fault(locate(at, name), CodeRef, fmt.Sprintf("declare it: inputs: {%s: ...}", name),
					"the label %s is on the input %s, which the plan does not have", label, name)
			}
		}
	}
}

// labelled looks for data that would reach what it may not, as far as that shows before the run.
func (c *checker) labelled() {
	flow := c.plan.Flow()
	for _, s := range c.scopes {
		c.file = s.file
		for i := range s.tasks {
			c.unruled(s, i)
			if t := &s.tasks[i]; flow != nil && c.catalogue != nil && flow.tasks[t] != nil {
				c.handed(s, i, flow, flow.tasks[t].sent, &Task{Uses: uses(t), Run: t.Run, With: t.With})
				if back := t.Rollback; back != nil {
					c.handed(s, i, flow, flow.tasks[t].undo, &Task{Uses: cmp.Or(back.Uses, "shell"), Run: back.Run, With: back.With})
				}
			}
		}
	}
}

// uses is what carries a task out; a command that stands alone is a chain, or a person's.
func uses(t *Task) string {
	if t.Uses == "" && t.Run != "" {
		return pipeline
	}
	return t.Uses
}

// unruled warns of a label on an output that nothing speaks of: a slip of the pen there would let data out.
func (c *checker) unruled(s *scope, i int) {
	for _, o := range s.tasks[i].Outputs {
		for _, label := range slices.Concat(o.Labels, o.Declassify) {
			if len(c.plan.Policy.known([]string{label})) > 0 {
				continue
			}
			remedy := fmt.Sprintf("say what it may reach: policy: {labels: {%s: {deny: [...]}}}", label)
			if near := nearest(label, slices.Values(c.plan.Policy.labelNames())); near != "" {
				remedy = fmt.Sprintf("did you mean %s?", near)
			}
			c.warn(locate(s.node(i, "outputs"), label), WarnLabel, remedy, "policy.labels does not speak of %s, so it keeps the output %s from nothing", label, o.Name)
		}
	}
}

// handed reports each reference whose data a task may not hand to what carries it, or its rollback, out.
func (c *checker) handed(s *scope, i int, flow *Flow, drafts []draft, by *Task) {
	if by.Uses == "" {
		return
	}
	with := by.With
	if by.Run != "" {
		with = withRun(with, by.Run)
	}
	told := map[string]bool{}
	for _, d := range drafts {
		no, refused := c.plan.Policy.Refused(flow.of(d).list(), by.Uses, with, c.catalogue.Reach)
		if !refused || told[d.text+no.Label] {
			continue
		}
		told[d.text+no.Label] = true
		n, _ := holding(s.nodes[i], d.text)
		c.fault(n, CodeLabel, no.Remedy(), "%s hands %s to %s, %s", s.path(i), d.text, no.To, no.Why())
	}
}

// holding finds the text of a task that a reference stands in.
func holding(n source.Node, ref string) (source.Node, bool) {
	for i, item := range n.Items {
		if n.Kind == source.Map && i%2 == 0 {
			continue
		}
		if item.Kind == source.String && strings.Contains(item.Text, ref) {
			return item, true
		}
		if found, ok := holding(item, ref); ok {
			return found, true
		}
	}
	return n, false
}
