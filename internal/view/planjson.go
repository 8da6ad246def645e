package view

import (
	"encoding/json"
	"strconv"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// PlanJSON is a run as JSON (RFC 8785): the plan in its own language, with what has become of it. The plan gains state,
// hash, counts and, where something in it cannot be taken back, risks, and while one waits for somebody, the proposal. Its tasks are all there are now, those of subplans and fan-outs under their full ids, and each gains
// state, and where they apply wait, blockedBy, parent, item, execution, attempt, error, due and result (outputs, artifacts,
// exit). What the author wrote as state or status is not believed and so replaced.
func PlanJSON(st *lifecycle.State) ([]byte, error) {
	spec, err := st.Plan.Encode()
	if err != nil {
		return nil, err
	}
	root, problems := source.Read(source.JSON, spec)
	if len(problems) > 0 {
		return nil, fault.New(fault.Internal, "plan %s cannot be read back: %s", st.Name, problems[0].Msg)
	}
	specs := map[*plan.Task]source.Node{}
	pairUp(st.Plan.Tasks, root, specs)
	tasks := source.Node{Kind: source.List}
	sum := counts{st: st}
	for t := range st.Tasks() {
		if !t.Group {
			sum.add(t)
		}
		tasks.Items = append(tasks.Items, taskNode(st, t, specs[t.Spec]))
	}
	out := without(root, "plan", "state", "tasks")
	put(&out, "plan", source.Text(st.Name))
	put(&out, "state", source.Text(string(st.State())))
	put(&out, "hash", source.Text(st.Hash().String()))
	put(&out, "author", source.Text(st.Author))
	if len(st.Revisions) > 1 {
		put(&out, "revision", integer(st.Rev))
		put(&out, "revisions", node(revisionsOf(st)))
	}
	put(&out, "counts", sum.node())
	if rs := Risks(st.Plan); len(rs) > 0 {
		put(&out, "risks", node(rs))
	}
	if p := st.Proposal(); p != nil {
		put(&out, "proposal", node(struct {
			Task string `json:"task"`
			lifecycle.Proposed
		}{p.Task, p.Proposed}))
	}
	put(&out, "tasks", tasks)
	return source.Canonical(nil, out)
}

// pairUp finds the tree of each task that was written.
func pairUp(tasks []plan.Task, holder source.Node, into map[*plan.Task]source.Node) {
	nodes, _ := holder.Get("tasks")
	for i := range tasks {
		if i >= len(nodes.Items) {
			return
		}
		into[&tasks[i]] = nodes.Items[i]
		if sub, ok := nodes.Items[i].Get("subplan"); ok {
			pairUp(tasks[i].Subplan.Tasks, sub, into)
		}
	}
}

func without(n source.Node, keys ...string) source.Node {
	out := source.Node{Kind: source.Map, Items: make([]source.Node, 0, len(n.Items)+16)}
next:
	for i := range n.Len() {
		k, v := n.Entry(i)
		for _, key := range keys {
			if k.Text == key {
				continue next
			}
		}
		out.Items = append(out.Items, k, v)
	}
	return out
}

func put(n *source.Node, key string, v source.Node) { n.Items = append(n.Items, source.Text(key), v) }

func putText(n *source.Node, key, v string) {
	if v != "" {
		put(n, key, source.Text(v))
	}
}

func integer(n int) source.Node { return source.Node{Kind: source.Number, Text: strconv.Itoa(n)} }

// taskNode is one task. An item of a fan-out leaves out what belongs to the fan-out, which stands before it.
func taskNode(st *lifecycle.State, t lifecycle.Task, spec source.Node) source.Node {
	drop := []string{"id", "state", "status"}
	if t.Item > 0 {
		drop = append(drop, "each", "needs", "next", "when", "subplan")
	} else if t.Depth > 0 {
		drop = append(drop, "needs")
	}
	n := without(spec, drop...)
	put(&n, "id", source.Text(t.ID))
	if t.Depth > 0 {
		put(&n, "parent", source.Text(t.Parent))
		if needs := resolved(st, t, t.Spec.Needs); t.Item == 0 && len(needs) > 0 {
			put(&n, "needs", texts(needs))
		}
	}
	status := source.Text(string(shown(t)))
	put(&n, "state", status)
	put(&n, "status", status)
	putText(&n, "wait", string(t.Wait))
	putText(&n, "blockedBy", t.Blocked)
	if t.Status != lifecycle.Completed { // what it got over is in the journal
		putText(&n, "error", t.Error)
	}
	for _, f := range []struct {
		key string
		n   int
	}{{"item", t.Item}, {"execution", t.Execution}, {"attempt", t.Attempt}} {
		if f.n > 0 {
			put(&n, f.key, integer(f.n))
		}
	}
	if t.Wait == lifecycle.ForTimer {
		putText(&n, "due", t.Due.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
	if t.Result != nil {
		put(&n, "result", resultNode(t.Result))
	}
	return n
}

func texts(words []string) source.Node {
	n := source.Node{Kind: source.List}
	for _, w := range words {
		n.Items = append(n.Items, source.Text(w))
	}
	return n
}

// resultNode is what a task left behind.
func resultNode(r *lifecycle.Result) source.Node {
	out := struct {
		Outputs   map[string]json.RawMessage `json:"outputs,omitempty"`
		Artifacts any                        `json:"artifacts,omitempty"`
		Exit      *int                       `json:"exit,omitempty"`
		Hash      digest.ID                  `json:"hash,omitzero"`
	}{Outputs: r.Outputs, Exit: r.Exit, Hash: r.Hash}
	if len(r.Artifacts) > 0 {
		out.Artifacts = r.Artifacts
	}
	return node(out)
}

// node is a value of ours as a tree.
func node(v any) source.Node {
	raw, err := json.Marshal(v)
	if err != nil {
		return source.Node{Kind: source.Null}
	}
	n, _ := source.Read(source.JSON, raw)
	return n
}

// node is the counts as an object, without what there is none of.
func (c *counts) node() source.Node {
	n := source.Node{Kind: source.Map}
	for _, f := range []struct {
		status lifecycle.Status
		n      int
	}{{lifecycle.Abandoned, c.abandoned}, {Blocked, c.blocked}, {lifecycle.Completed, c.completed}, {lifecycle.FailedTask, c.failed + c.routed},
		{lifecycle.Pending, c.pending}, {lifecycle.Ready, c.ready}, {lifecycle.RolledBack, c.undone}, {lifecycle.Running, c.running},
		{lifecycle.Skipped, c.skipped}, {lifecycle.Waiting, c.people + c.waiting}} {
		if f.n > 0 {
			put(&n, string(f.status), integer(f.n))
		}
	}
	put(&n, "total", integer(c.total))
	return n
}

// revision is one edition of a plan as JSON.
type revision struct {
	Rev    int       `json:"revision"`
	Spec   digest.ID `json:"spec"`
	Author string    `json:"author"`
	How    string    `json:"how,omitempty"`
	Why    string    `json:"why,omitempty"`
}

func revisionsOf(st *lifecycle.State) []revision {
	out := make([]revision, len(st.Revisions))
	for i, r := range st.Revisions {
		out[i] = revision(r)
	}
	return out
}
