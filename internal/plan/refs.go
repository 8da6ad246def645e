package plan

import (
	"bytes"
	"encoding/json"
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

// reader collects what one task reads of others. Outside of tasks at is -1.
type reader struct {
	*checker
	scope *scope
	at    int
	self  bool // where it may read itself: once it has ended
	shell bool // where ${item} may be a variable of the shell
	asked map[*scope][]query
}

// ordered reports the tasks of a scope that are read before they surely ended.
func (c *checker) ordered(s *scope, asked []query) {
	for _, q := range c.unordered(s, asked) {
		c.fault(q.node, CodeRef, fmt.Sprintf("add %s to the needs of %s", s.tasks[q.target].ID, s.tasks[q.task].ID),
			"%s reads %s, which need not have run before it", q.who, q.text)
	}
}

// task looks at every place of a task where a reference or an expression may stand.
func (r *reader) task(t *Task) {
	s, i := r.scope, r.at
	r.shell = true
	r.text("run", t.Run)
	r.shell = false
	r.text("each", t.Each)
	r.text("dir", t.Dir)
	r.json(t.With, "with")
	for _, v := range t.Env {
		r.text("env", v)
	}
	if reads(t.When) {
		r.computed(s.node(i, "when"), t.When)
	}
	if reads(t.Each) {
		r.computed(s.node(i, "each"), t.Each)
	}
	for j, p := range t.Pre {
		if reads(p) {
			r.computed(s.item(i, "pre", j), p)
		}
	}
	for j, e := range t.Expect {
		if !e.Judge && reads(e.Says) {
			r.computed(s.item(i, "expect", j), e.Says)
		}
	}
	for j, e := range t.Checks {
		if !e.Judge && reads(e.Says) {
			r.computed(s.item(i, "checks", j), e.Says)
		}
	}
	if back := t.Rollback; back != nil {
		r.self = true
		r.text("rollback", back.Run)
		r.json(back.With, "rollback")
	}
}

func (r *reader) text(key, text string) {
	if strings.Contains(text, "${") {
		r.refs(locate(r.scope.node(r.at, key), text), text)
	}
}

func (r *reader) json(raw json.RawMessage, key string) {
	if bytes.Contains(raw, []byte("${")) {
		n := r.scope.node(r.at, key)
		if key == "rollback" {
			n, _ = n.Get("with")
		}
		r.tree(n)
	}
}

// tree looks for references in every text of a value.
func (r *reader) tree(n source.Node) {
	if n.Kind == source.String && strings.Contains(n.Text, "${") {
		r.refs(n, n.Text)
		for _, b := range expr.Bare(n.Text) {
			if _, _, ok := r.scope.find(b.Root); ok {
				r.warn(n, WarnRef, fmt.Sprintf("write ${%s.OUTPUT}", b.Root), "%s names a task but none of its outputs, and stays as it is", b.Text)
			}
		}
	}
	for k, item := range n.Items {
		if n.Kind == source.List || k%2 == 1 {
			r.tree(item)
		}
	}
}

func (r *reader) refs(n source.Node, text string) {
	for _, ref := range expr.Refs(text) {
		switch {
		case ref.IsTask():
			r.target(n, ref.Root, ref.Text)
		case ref.Root == expr.Item || ref.Root == expr.Index:
			if !r.scope.ranges(r.at) && !(r.shell && len(ref.Path) == 0) {
				r.fault(n, CodeRef, "say what the task ranges over: each: ${TASK.OUTPUT}", "%s stands in %s, which ranges over nothing",
					ref.Text, r.scope.tasks[r.at].ID)
			}
		case ref.Root == expr.Inputs:
			r.input(n, ref)
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

// reads reports whether an expression may read the outputs of a task. Nearly none do, so that this
// is asked before anything dearer.
func reads(src string) bool { return strings.Contains(src, "outputs_of") }

// computed looks for the tasks that an expression reads, its own among them. One that does not
// compile was reported.
func (r *reader) computed(n source.Node, src string) {
	p, err := expr.Compile(src)
	if err != nil {
		return
	}
	inside := *r
	inside.self = true
	ids, _ := p.Tasks()
	for _, id := range ids {
		inside.target(n, id, "outputs_of."+id)
	}
}

// target resolves a task that is read, and asks that it come before. Outside of tasks everything
// has ended.
func (r *reader) target(n source.Node, id, text string) {
	id, inner, nested := strings.Cut(id, "/")
	in, at, ok := r.scope.find(id)
	if !ok {
		r.missing(r.scope, n, id, text+" reads")
		return
	}
	if nested && !holds(&in.tasks[at], inner) {
		r.fault(n, CodeUnknown, "name a task of its subplan", "%s names %q, and %s holds no such task", text, inner, id)
		return
	}
	if r.at < 0 {
		return
	}
	task := int32(r.at)
	if in != r.scope {
		task = int32(r.scope.ancestor(in))
	}
	if task != at {
		r.asked[in] = append(r.asked[in], query{task, at, n, r.scope.path(r.at), text})
		return
	}
	// A task inside may not read the one around it, which ends after it.
	if !r.self || in != r.scope {
		r.fault(n, CodeRef, "read the output of a task before it", "%s stands in %s itself", text, in.tasks[at].ID)
	}
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
