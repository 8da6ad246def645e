package plan

import (
	"path"
	"reflect"
	"slices"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// scope is a list of tasks that know each other by id: those of the plan, or of one subplan. It
// remembers where each was written, for the checks.
type scope struct {
	file   string
	tasks  []Task
	nodes  []source.Node
	parent *scope
	owner  int // the task of the parent that holds this one
	index  map[string]int32
	graph  graph
}

// maxTasks bounds what a small file of empty tasks can cost.
const maxTasks = 250_000

// maxInside bounds how deep subplan files may name each other.
const maxInside = 8

// taskList reads the tasks of a plan or a subplan.
func (d *decoder) taskList(n source.Node, key string) []Task {
	if n.Kind != source.List {
		d.wrong(n, key, "a list of tasks, each of them begun with a dash")
		return nil
	}
	if d.tasks += len(n.Items); d.tasks > maxTasks {
		d.fault(n, CodeTooBig, "range over a list with each, or split the plan", "there are more than %d tasks", maxTasks)
		return nil
	}
	if len(n.Items) == 0 {
		return nil
	}
	tasks := make([]Task, len(n.Items))
	if d.trust {
		for i, item := range n.Items {
			d.record(item, &tasks[i])
		}
		return tasks
	}
	outer, at := d.scope, d.at
	d.scope = &scope{file: d.file, tasks: tasks, nodes: n.Items, parent: outer, owner: at}
	d.scopes = append(d.scopes, d.scope)
	for i, item := range n.Items {
		d.at = i
		if item.Kind == source.String && outer != nil {
			tasks[i] = Task{Title: item.Text, Kind: Manual}
			continue
		}
		d.record(item, &tasks[i])
	}
	d.scope, d.at = outer, at
	return tasks
}

// subplan reads tasks, {tasks: ...}, bare texts for a person to do one after the other, or the name
// of a file.
func (d *decoder) subplan(n source.Node) *Subplan {
	sub := &Subplan{}
	switch n.Kind {
	case source.String:
		sub.File = n.Text
		sub.Tasks = d.subplanFile(n)
	case source.List:
		sub.Tasks = d.taskList(n, "subplan")
	case source.Map:
		d.record(n, sub)
		if sub.File != "" && sub.Tasks == nil {
			at, _ := n.Get("file")
			sub.Tasks = d.subplanFile(at)
		}
	default:
		d.wrong(n, "subplan", "a list of tasks, or the name of a file")
	}
	return sub
}

func (d *decoder) subplanFile(n source.Node) []Task {
	if d.trust {
		return nil
	}
	file := n.Text
	if !path.IsAbs(file) {
		file = path.Join(path.Dir(d.file), file)
	}
	switch {
	case d.read == nil:
		d.warn(n, WarnFile, "", "the subplan %s was not read", n.Text)
		return nil
	case file == d.file || slices.Contains(d.open, file):
		d.fault(n, CodeCycle, "break the circle", "the subplan %s holds itself", n.Text)
		return nil
	case len(d.open) >= maxInside:
		d.fault(n, CodeTooBig, "put the tasks of some of them in one file", "subplan files name each other more than %d deep", maxInside)
		return nil
	}
	src, err := d.read(file)
	if err != nil {
		d.fault(n, CodeFile, "name a file beside this one", "the subplan %s cannot be read: %v", n.Text, err)
		return nil
	}
	root, problems := source.Read(source.FormOf(file, src), src)
	outer := d.file
	d.file, d.open = file, append(d.open, outer)
	defer func() { d.file, d.open = outer, d.open[:len(d.open)-1] }()
	d.take(problems)
	if len(problems) > 0 && root.Kind == source.Null {
		return nil
	}
	// A file of its own may be a whole plan, a bare list or one task; only its tasks matter here.
	list := root
	if isFragment(root) {
		list = source.Node{Kind: source.List, Line: root.Line, Col: root.Col, Items: []source.Node{root}}
	} else if root.Kind == source.Map {
		inner := &Plan{}
		d.record(root, inner)
		return inner.Tasks
	}
	return d.taskList(list, "subplan")
}

// isFragment reports whether a file is a single task and not a plan.
func isFragment(root source.Node) bool {
	plan, task := recordOf(reflect.TypeFor[Plan]()), recordOf(reflect.TypeFor[Task]())
	tells := false
	for i := range root.Len() {
		if root.Kind != source.Map {
			break
		}
		key, _ := root.Entry(i)
		at, of := plan.keys[key.Text]
		if of && (plan.fields[at].name == "tasks" || key.Text == "plan" || key.Text == "plan_id") {
			return false
		}
		_, mine := task.keys[key.Text]
		tells = tells || mine && !of
	}
	return tells
}

// node finds where a key of a task was written, the task itself if nowhere.
func (s *scope) node(i int, key string) source.Node {
	n := s.nodes[i]
	r := recordOf(reflect.TypeFor[Task]())
	for e := range n.Len() {
		if n.Kind != source.Map {
			break
		}
		k, v := n.Entry(e)
		if at, ok := r.keys[k.Text]; ok && r.fields[at].name == key && v.Kind != source.Null {
			return v
		}
	}
	return n
}

// locate finds where a text stands within a value, the value itself if nowhere.
func locate(n source.Node, text string) source.Node {
	found, _ := search(n, text)
	return found
}

func search(n source.Node, text string) (source.Node, bool) {
	for i, item := range n.Items {
		if n.Kind == source.Map && i%2 == 0 {
			continue
		}
		if item.Text == text && item.Kind == source.String {
			return item, true
		}
		if found, ok := search(item, text); ok {
			return found, true
		}
	}
	return n, false
}

// item finds where the j-th item of a list under a key was written.
func (s *scope) item(i int, key string, j int) source.Node {
	n := s.node(i, key)
	if n.Kind == source.List && j < len(n.Items) {
		return n.Items[j]
	}
	return n
}
