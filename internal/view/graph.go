package view

import (
	"strconv"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Graph is the drawing of a plan before it has a syntax. Everything in it is in the order of the plan.
type Graph struct {
	Name   string  `json:"plan"`
	Title  string  `json:"title,omitempty"`
	Nodes  []Node  `json:"nodes"`
	Edges  []Edge  `json:"edges"`
	Groups []Group `json:"groups,omitempty"`
}

// Node is a task.
type Node struct {
	ID     string           `json:"id"`
	Title  string           `json:"title,omitempty"`
	Kind   plan.Kind        `json:"kind,omitempty"`
	Status lifecycle.Status `json:"status,omitempty"` // empty for a plan that does not run
	Group  string           `json:"group,omitempty"`  // the group that it is drawn in
	Items  string           `json:"items,omitempty"`  // of a fan-out that is drawn as one: how many, or over what
}

// EdgeKind says why one task follows another.
type EdgeKind string

// The kinds of edge.
const (
	EdgeNeeds   EdgeKind = "needs"
	EdgeSuccess EdgeKind = "success"
	EdgeFailure EdgeKind = "failure"
	EdgeRecover EdgeKind = "recover"
)

// Edge leads from one node or group to another.
type Edge struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Kind  EdgeKind `json:"kind"`
	Label string   `json:"label,omitempty"`
}

// Group is a subplan or a fan-out that is drawn around its tasks.
type Group struct {
	ID     string           `json:"id"`
	Title  string           `json:"title,omitempty"`
	Status lifecycle.Status `json:"status,omitempty"`
	Group  string           `json:"group,omitempty"` // the group around it
}

// mostItems is how many items of a fan-out are drawn one by one.
const mostItems = 12

// GraphOf draws a plan; st may be nil, or tells how far the plan is.
func GraphOf(p *plan.Plan, st *lifecycle.State) Graph {
	d := &drawing{g: Graph{Name: p.Name, Title: p.Title, Nodes: []Node{}, Edges: []Edge{}}, known: map[string]bool{}}
	if st == nil {
		d.scope("", p.Tasks)
	} else {
		d.g.Name = st.Name
		d.run(st)
	}
	d.link()
	return d.g
}

// drawing collects the parts of a graph. Edges wait until all ends are known.
type drawing struct {
	g     Graph
	known map[string]bool
	loose []looseEdge
}

// looseEdge has ends as they are written: to be looked up from the group they stand in outwards, or beside.
type looseEdge struct {
	task, group, id string
	kind            EdgeKind
	label           string
}

// scope draws the tasks of a plan that does not run.
func (d *drawing) scope(group string, tasks []plan.Task) {
	for i := range tasks {
		t := &tasks[i]
		id := inside(group, t.ID)
		d.edges(id, group, t)
		if t.Subplan != nil && t.Each == "" && len(t.Subplan.Tasks) > 0 {
			d.group(Group{ID: id, Title: t.Title, Group: group})
			d.scope(id, t.Subplan.Tasks)
			continue
		}
		n := Node{ID: id, Title: t.Title, Kind: t.Kind, Group: group}
		if t.Each != "" {
			n.Items = "for each of " + t.Each
		}
		d.node(n)
	}
}

// run draws the tasks that there are now.
func (d *drawing) run(st *lifecycle.State) {
	kids := map[string]int{}
	for t := range st.Tasks() {
		kids[t.Parent]++
	}
	lumped := map[string]bool{}
	for t := range st.Tasks() {
		if lumped[t.Parent] && t.Depth > 0 {
			lumped[t.ID] = true
			continue
		}
		if t.Item == 0 {
			d.edges(t.ID, t.Parent, t.Spec)
		}
		if t.Group && kids[t.ID] > 0 && !(isFan(t) && kids[t.ID] > mostItems) {
			title := t.Spec.Title
			if t.Item > 0 {
				title = ""
			}
			d.group(Group{ID: t.ID, Title: title, Status: shown(t), Group: t.Parent})
			continue
		}
		n := Node{ID: t.ID, Title: t.Spec.Title, Kind: t.Spec.Kind, Status: shown(t), Group: t.Parent}
		switch {
		case isFan(t):
			n.Items = plural(kids[t.ID], "item")
			lumped[t.ID] = true
		case t.Item > 0:
			n.Title = ""
		case t.Spec.Each != "":
			n.Items = "for each of " + t.Spec.Each
		}
		d.node(n)
	}
}

func inside(group, id string) string {
	if group == "" {
		return id
	}
	return group + "/" + id
}

func (d *drawing) node(n Node)   { d.g.Nodes = append(d.g.Nodes, n); d.known[n.ID] = true }
func (d *drawing) group(g Group) { d.g.Groups = append(d.g.Groups, g); d.known[g.ID] = true }

// edges notes what a task declares.
func (d *drawing) edges(id, group string, t *plan.Task) {
	add := func(to string, kind EdgeKind, label string) {
		d.loose = append(d.loose, looseEdge{id, group, to, kind, label})
	}
	for _, need := range t.Needs {
		add(need, EdgeNeeds, "")
	}
	if t.Next != nil {
		for _, to := range t.Next.Success {
			add(to, EdgeSuccess, "")
		}
		for _, to := range t.Next.Failure {
			add(to, EdgeFailure, "fails")
		}
	}
	for _, m := range t.Failure {
		if m.Recover != "" {
			add(m.Recover, EdgeRecover, m.Name)
		}
	}
}

// link gives edges their ends. What is not drawn, because it is prose or unknown, has none.
func (d *drawing) link() {
	for _, e := range d.loose {
		other, ok := d.find(e.group, e.id)
		if !ok {
			continue
		}
		from, to := e.task, other
		if e.kind == EdgeNeeds {
			from, to = other, e.task
		}
		d.g.Edges = append(d.g.Edges, Edge{From: from, To: to, Kind: e.kind, Label: e.label})
	}
}

// find looks an id up among the tasks of a group, then around it.
func (d *drawing) find(group, id string) (string, bool) {
	for {
		if full := inside(group, id); d.known[full] {
			return full, true
		}
		if group == "" {
			return "", false
		}
		group = outside(group)
	}
}

// outside is the group around a group.
func outside(id string) string {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i] == '/' {
			return id[:i]
		}
	}
	return ""
}

// names gives nodes and groups short names that every syntax takes: n1, n2, ..., g1, ....
func (g Graph) names() map[string]string {
	names := make(map[string]string, len(g.Nodes)+len(g.Groups))
	for i, n := range g.Nodes {
		names[n.ID] = "n" + strconv.Itoa(i+1)
	}
	for i, gr := range g.Groups {
		names[gr.ID] = "g" + strconv.Itoa(i+1)
	}
	return names
}

// holds lists the nodes and the groups that stand directly in each group.
func (g Graph) holds() (nodes map[string][]int, groups map[string][]int) {
	nodes, groups = map[string][]int{}, map[string][]int{}
	for i, n := range g.Nodes {
		nodes[n.Group] = append(nodes[n.Group], i)
	}
	for i, gr := range g.Groups {
		groups[gr.Group] = append(groups[gr.Group], i)
	}
	return nodes, groups
}
