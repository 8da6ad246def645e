package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Options say what a plan may be checked against.
type Options struct {
	Capabilities Catalogue                         // nil: capabilities are not checked
	ReadFile     func(path string) ([]byte, error) // reads subplan files; nil: they are left unread
	Programs     func(run string) []string         // what a command line starts, as far as it shows; nil: not checked
}

// Catalogue knows the capabilities there are.
type Catalogue interface {
	// Installed reports whether a capability can be called here.
	Installed(id string) bool
	// Known reports whether there is such a capability, installed or not.
	Known(id string) bool
	// IDs lists those that are known.
	IDs() []string
	// Reach tells what the data of a call goes to, as far as the inputs show it.
	Reach(id string, with json.RawMessage) (names, hosts []string)
	// Fits says what is wrong with literal inputs; what a reference will bring is not judged.
	Fits(id string, with json.RawMessage) []string
}

// Read reads a plan file and checks all of it. The form is told by the file's ending (.yaml, .yml,
// .json, .plan) or by how the text begins. With errors the plan is nil, or what could be read of it.
func Read(file string, src []byte, o Options) (*Plan, Faults) {
	d := &decoder{file: file, read: o.ReadFile}
	root, problems := source.Read(source.FormOf(file, src), src)
	d.take(problems)
	if len(problems) > 0 && root.Kind == source.Null {
		return nil, d.all()
	}
	p := d.plan(root)
	c := checker{decoder: d, plan: p, catalogue: o.Capabilities, fragment: isFragment(root), programs: o.Programs}
	c.check(root)
	return p, d.all()
}

func (d *decoder) all() Faults {
	fs := d.faults.sorted()
	if d.more > 0 {
		fs = append(fs, Fault{Error, CodeMore, d.file, 1, 1, fmt.Sprintf("%d more faults are not listed", d.more), "mend these first"})
	}
	return fs
}

// plan reads the root of a file: a plan, or a single task.
func (d *decoder) plan(root source.Node) *Plan {
	p := &Plan{}
	switch {
	case isFragment(root):
		p.Tasks = d.taskList(source.Node{Kind: source.List, Line: root.Line, Col: root.Col, Items: []source.Node{root}}, "tasks")
	case root.Kind == source.Null:
		d.fault(root, CodeEmpty, "write plan: NAME and a list of tasks", "the file is empty")
		return p
	default:
		d.record(root, p)
	}
	d.named(p, root)
	return p
}

// named gives a plan without a name that of its file.
func (d *decoder) named(p *Plan, root source.Node) {
	if p.Name == "" && root.Kind == source.Map {
		base := path.Base(strings.ReplaceAll(d.file, "\\", "/"))
		p.Name = cmp.Or(identifier(strings.TrimSuffix(base, path.Ext(base))), "plan")
		if !isFragment(root) {
			d.warn(root, WarnName, "write plan: "+p.Name, "the plan has no name and is called %s", p.Name)
		}
	}
}
