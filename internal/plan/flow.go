package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
)

// Flow tells which labels the data of a plan carries, from its text alone: what a task reads by references it
// passes on with all that it leaves, unless an output says that it declassifies it. What goes through files is not
// seen. A Flow never changes.
type Flow struct {
	plan  *Plan
	tasks map[*Task]*stream
}

// stream is a task of the flow.
type stream struct {
	task    *Task
	path    string
	parent  *stream
	held    []*stream          // the tasks of its subplan
	inside  map[string]*stream // the same, by id
	sent    []draft            // what it hands to its capability
	undo    []draft            // what it hands to its rollback
	other   []draft            // what it reads besides
	carries marks              // what it read
	readers []*stream
}

// draft is one value that a task reads.
type draft struct {
	text   string // the reference, as written
	from   *stream
	output string // empty: all of them
	fixed  marks  // of inputs
}

// marks are labels, with where the data got each.
type marks map[string]string

func (m *marks) add(other marks) (grew bool) {
	for label, from := range other {
		if _, has := (*m)[label]; !has {
			if *m == nil {
				*m = marks{}
			}
			(*m)[label], grew = from, true
		}
	}
	return grew
}

func (m marks) list() []Carried {
	out := make([]Carried, 0, len(m))
	for _, label := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Carried{label, m[label]})
	}
	return out
}

// Flow follows the labels that the policy speaks of; nil where it speaks of none.
func (p *Plan) Flow() *Flow {
	if p.Policy == nil || len(p.Policy.Labels) == 0 {
		return nil
	}
	f := &Flow{plan: p, tasks: map[*Task]*stream{}}
	top := &stream{}
	all := f.lay(top, p.Tasks)
	for _, s := range all {
		f.drafts(s)
	}
	// Labels only ever come to a task, so this ends, however the references run.
	for queue := all; len(queue) > 0; queue = queue[1:] {
		s, grew := queue[0], false
		for _, d := range slices.Concat(s.sent, s.undo, s.other) {
			grew = s.carries.add(f.of(d)) || grew
		}
		for at := s; grew && at != nil; at = at.parent { // who reads a group reads what it holds
			queue = append(queue, at.readers...)
		}
	}
	return f
}

// Sent is what the data that a task hands to its capability carries; with undo, what it hands to its rollback.
func (f *Flow) Sent(t *Task, undo bool) []Carried {
	if f == nil || f.tasks[t] == nil {
		return nil
	}
	s := f.tasks[t]
	drafts := s.sent
	if undo {
		drafts = s.undo
	}
	var m marks
	for _, d := range drafts {
		m.add(f.of(d))
	}
	return m.list()
}

func (f *Flow) lay(parent *stream, tasks []Task) (all []*stream) {
	parent.inside = make(map[string]*stream, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		id := strings.TrimSuffix(t.ID, "-*")
		s := &stream{task: t, path: id, parent: parent}
		if parent.task != nil {
			s.path = parent.path + "/" + id
		}
		parent.inside[id], f.tasks[t] = s, s
		parent.held = append(parent.held, s)
		all = append(all, s)
		if t.Subplan != nil {
			all = append(all, f.lay(s, t.Subplan.Tasks)...)
		}
	}
	return all
}

// drafts finds what a task reads.
func (f *Flow) drafts(s *stream) {
	t := s.task
	s.sent = f.texts(s, string(t.With), t.Run, t.Dir)
	for _, env := range []map[string]string{f.plan.Env, t.Env} {
		for _, k := range slices.Sorted(maps.Keys(env)) {
			s.sent = append(s.sent, f.texts(s, env[k])...)
		}
	}
	if t.Rollback != nil {
		s.undo = f.texts(s, string(t.Rollback.With), t.Rollback.Run, t.Dir)
	}
	s.other = f.ranged(s)
	if !t.IsGroup() {
		for _, o := range t.Outputs {
			s.other = append(s.other, f.texts(s, o.From)...)
		}
	}
	for _, d := range slices.Concat(s.sent, s.undo, s.other) {
		if d.from != nil {
			d.from.readers = append(d.from.readers, s)
		}
	}
}

// ranged is what the list that a task ranges over is made of.
func (f *Flow) ranged(s *stream) []draft {
	each := s.task.Each
	if strings.Contains(each, "${") || each == "" {
		return f.texts(s, each)
	}
	p, err := expr.Compile(each)
	if err != nil {
		return nil // reported
	}
	var out []draft
	ids, open := p.Tasks()
	if open {
		ids = slices.Sorted(maps.Keys(s.top().inside))
	}
	for _, id := range ids {
		if from := s.find(id); from != nil {
			out = append(out, draft{text: "outputs_of." + id, from: from})
		}
	}
	if strings.Contains(each, expr.Inputs) {
		for _, label := range f.plan.Policy.labelNames() {
			for _, name := range f.plan.Policy.Labels[label].Inputs {
				out = append(out, f.input(expr.Ref{Text: "inputs." + name, Path: []string{name}}))
			}
		}
	}
	return out
}

func (s *stream) top() *stream {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

func (f *Flow) texts(s *stream, texts ...string) (out []draft) {
	for _, text := range texts {
		if !strings.Contains(text, "${") {
			continue
		}
		for _, ref := range expr.Refs(text) {
			switch {
			case ref.Root == expr.Inputs:
				out = append(out, f.input(ref))
			case ref.Root == expr.Item:
				out = append(out, f.item(s, ref)...)
			case ref.IsTask():
				if from := s.find(ref.Root); from != nil {
					out = append(out, draft{text: ref.Text, from: from, output: ref.Path[0]})
				}
			}
		}
	}
	return out
}

// item is what one of the things carries that a task, or one around it, ranges over.
func (f *Flow) item(s *stream, ref expr.Ref) []draft {
	for ; s != nil && s.task != nil; s = s.parent {
		if s.task.Each == "" {
			continue
		}
		out := f.ranged(s)
		for i := range out {
			out[i].text = ref.Text
		}
		return out
	}
	return nil
}

func (f *Flow) input(ref expr.Ref) draft {
	d := draft{text: ref.Text}
	from := expr.Inputs + "." + ref.Path[0]
	for _, label := range f.plan.Policy.known(f.plan.Labels) {
		d.fixed.add(marks{label: from})
	}
	for label, rule := range f.plan.Policy.Labels {
		if rule != nil && slices.Contains(rule.Inputs, ref.Path[0]) {
			d.fixed.add(marks{label: from})
		}
	}
	return d
}

// find resolves a task's name as the one that reads it sees it: beside it, or around it.
func (s *stream) find(id string) *stream {
	head, rest, nested := strings.Cut(id, "/")
	found := (*stream)(nil)
	for at := s.parent; at != nil && found == nil; at = at.parent {
		found = at.inside[head]
	}
	for found != nil && nested {
		head, rest, nested = strings.Cut(rest, "/")
		found = found.inside[head]
	}
	return found
}

func (f *Flow) of(d draft) marks {
	if d.from == nil {
		return d.fixed
	}
	return f.left(d.from, d.output)
}

// left is what an output of a task carries. An output that nobody declared carries all that the task read.
func (f *Flow) left(s *stream, output string) marks {
	var m marks
	for _, label := range f.plan.Policy.known(s.task.Labels) {
		m.add(marks{label: strings.TrimSuffix(s.path+"."+output, ".")})
	}
	passed := false
	for _, o := range s.task.Outputs {
		if o.Name != output && output != "" {
			continue
		}
		for _, label := range f.plan.Policy.known(o.Labels) {
			m.add(marks{label: s.path + "." + o.Name})
		}
		if s.task.IsGroup() && o.Name == output {
			for _, ref := range expr.Refs(o.From) {
				if from := s.inside[ref.Root]; from != nil {
					passed = true
					m.add(f.left(from, ref.Path[0]))
				}
			}
		}
	}
	if !passed {
		m.add(s.carries)
		for _, inner := range s.held {
			m.add(f.left(inner, output))
		}
	}
	for _, o := range s.task.Outputs {
		if o.Name == output {
			for _, label := range o.Declassify {
				delete(m, label)
			}
		}
	}
	return m
}
