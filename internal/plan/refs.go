package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// query asks whether a task surely ended before another starts, so that its outputs can be read.
type query struct {
	task, target int32
	node         source.Node
	who, text    string
}

// references checks everything that tasks read of each other.
func (c *checker) references() {
	asked := make(map[*scope][]query)
	for _, s := range c.scopes {
		c.file = s.file
		for i := range s.tasks {
			c.reads(s, i, asked)
		}
	}
	for _, s := range c.scopes {
		c.file = s.file
		for _, q := range c.unordered(s, asked[s]) {
			c.fault(q.node, CodeRef, fmt.Sprintf("add %s to the needs of %s", s.tasks[q.target].ID, s.tasks[q.task].ID),
				"%s reads %s, which need not have run before it", q.who, q.text)
		}
	}
	if g := c.plan.Goal; g != nil {
		for _, d := range g.Done {
			if !d.Judge {
				c.computed(c.scopes[0], -1, locate(c.root, d.Says), d.Says, nil)
			}
		}
	}
}

// reads collects what one task reads.
func (c *checker) reads(s *scope, i int, asked map[*scope][]query) {
	t := &s.tasks[i]
	inText := func(key, text string, self bool) {
		if strings.Contains(text, "${") {
			c.refs(s, i, s.node(i, key), text, self, asked)
		}
	}
	inText("run", t.Run, false)
	inText("each", t.Each, false)
	inText("dir", t.Dir, false)
	if bytes.Contains(t.With, []byte("${")) {
		c.tree(s, i, s.node(i, "with"), false, asked)
	}
	for _, v := range t.Env {
		if strings.Contains(v, "${") {
			c.refs(s, i, locate(s.node(i, "env"), v), v, false, asked)
		}
	}
	if r := t.Rollback; r != nil {
		inText("rollback", r.Run, true)
		if bytes.Contains(r.With, []byte("${")) {
			with, _ := s.node(i, "rollback").Get("with")
			c.tree(s, i, with, true, asked)
		}
	}
	if t.When != "" {
		c.computed(s, i, s.node(i, "when"), t.When, asked)
	}
	if t.Each != "" && !soleRef(t.Each) {
		c.computed(s, i, s.node(i, "each"), t.Each, asked)
	}
	for j, p := range t.Pre {
		c.computed(s, i, s.item(i, "pre", j), p, asked)
	}
	for j, e := range t.Expect {
		if !e.Judge {
			c.computed(s, i, s.item(i, "expect", j), e.Says, asked)
		}
	}
	for j, e := range t.Checks {
		if !e.Judge {
			c.computed(s, i, s.item(i, "checks", j), e.Says, asked)
		}
	}
}

// tree looks for references in every text of a value.
func (c *checker) tree(s *scope, i int, n source.Node, self bool, asked map[*scope][]query) {
	if n.Kind == source.String && strings.Contains(n.Text, "${") {
		c.refs(s, i, n, n.Text, self, asked)
		for _, r := range expr.Bare(n.Text) {
			if _, _, ok := s.find(r.Root); ok {
				c.warn(n, WarnRef, fmt.Sprintf("write ${%s.OUTPUT}", r.Root), "%s names a task but none of its outputs, and stays as it is", r.Text)
			}
		}
	}
	for k, item := range n.Items {
		if n.Kind == source.List || k%2 == 1 {
			c.tree(s, i, item, self, asked)
		}
	}
}

func (c *checker) refs(s *scope, i int, n source.Node, text string, self bool, asked map[*scope][]query) {
	for _, r := range expr.Refs(text) {
		switch {
		case r.IsTask():
			c.target(s, i, n, r.Root, r.Text, self, asked)
		case r.Root == expr.Item || r.Root == expr.Index:
			if !s.ranges(i) {
				c.fault(n, CodeRef, "say what the task ranges over: each: ${TASK.OUTPUT}", "%s stands in %s, which ranges over nothing", r.Text, s.tasks[i].ID)
			}
		case r.Root == expr.Inputs:
			c.input(n, r)
		}
	}
}

// ranges reports whether a task, or one that holds it, has each.
func (s *scope) ranges(i int) bool {
	for ; s != nil; i, s = s.owner, s.parent {
		if s.tasks[i].Each != "" {
			return true
		}
	}
	return false
}

func (c *checker) input(n source.Node, r expr.Ref) {
	declared, _ := source.Read(source.JSON, c.plan.Inputs)
	if _, ok := declared.Get(r.Path[0]); ok || c.fragment {
		return
	}
	var names []string
	for i := range declared.Len() {
		k, _ := declared.Entry(i)
		names = append(names, k.Text)
	}
	remedy := fmt.Sprintf("declare it: inputs: {%s: ...}", r.Path[0])
	if near := nearest(r.Path[0], slices.Values(names)); near != "" {
		remedy = fmt.Sprintf("did you mean ${inputs.%s}?", near)
	}
	c.fault(n, CodeRef, remedy, "%s reads an input that the plan does not have", r.Text)
}

// computed looks for the tasks that an expression reads. One that does not compile was reported.
func (c *checker) computed(s *scope, i int, n source.Node, src string, asked map[*scope][]query) {
	if !strings.Contains(src, "outputs_of") {
		return
	}
	p, err := expr.Compile(src)
	if err != nil {
		return
	}
	ids, _ := p.Tasks()
	for _, id := range ids {
		c.target(s, i, n, id, "outputs_of."+id, true, asked)
	}
}

// target resolves a task that is read, and asks that it come before. Outside of tasks (i < 0)
// everything has ended.
func (c *checker) target(s *scope, i int, n source.Node, id, text string, self bool, asked map[*scope][]query) {
	id, inner, nested := strings.Cut(id, "/")
	in, at, ok := s.find(id)
	if !ok {
		c.missing(s, n, id, text+" reads")
		return
	}
	if nested && !holds(&in.tasks[at], inner) {
		c.fault(n, CodeUnknown, "name a task of its subplan", "%s names %q, and %s holds no such task", text, inner, id)
		return
	}
	if i < 0 {
		return
	}
	task := int32(i)
	if in != s {
		task = int32(s.ancestor(in))
	}
	if task == at {
		// A task inside may not read the one around it, which ends after it.
		if !self || in != s {
			c.fault(n, CodeRef, "read the output of a task before it", "%s stands in %s itself", text, in.tasks[at].ID)
		}
		return
	}
	asked[in] = append(asked[in], query{task, at, n, s.path(i), text})
}

// holds reports whether a task has another inside, by its path.
func holds(t *Task, inner string) bool {
	id, rest, nested := strings.Cut(inner, "/")
	if t.Subplan == nil {
		return false
	}
	if t.Subplan.File != "" && t.Subplan.Tasks == nil {
		return true // nobody has read it
	}
	for i := range t.Subplan.Tasks {
		if c := &t.Subplan.Tasks[i]; c.ID == id {
			return !nested || holds(c, rest)
		}
	}
	return false
}
