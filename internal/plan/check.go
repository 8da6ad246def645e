package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// checker looks for what is wrong with a plan as a whole, once every part of it is read.
type checker struct {
	*decoder
	plan      *Plan
	catalogue Catalogue
	fragment  bool // a single task: what it names may be elsewhere
	programs  func(run string) []string
	hints     int // suggestions that were looked for
	stars     []starred
}

func (c *checker) check(root source.Node) {
	if len(c.plan.Tasks) == 0 {
		if len(c.faults.Errors()) == 0 {
			c.fault(root, CodeEmpty, "write a list of tasks under tasks:", "the plan has no tasks")
		}
		return
	}
	c.identify(root)
	c.mergeGates()
	c.wildcards()
	// Inner scopes come after the ones around them; a need that leads outwards is an edge there.
	edges := map[*scope][]edge{}
	for _, s := range slices.Backward(c.scopes) {
		c.file = s.file
		c.connect(s, edges)
	}
	for _, s := range c.scopes {
		c.file = s.file
		s.graph = newGraph(len(s.tasks), edges[s])
		c.cycles(s)
	}
	asked := make(map[*scope][]query)
	for _, s := range c.scopes {
		c.file = s.file
		c.rules(s, asked)
	}
	for _, s := range c.scopes {
		c.file = s.file
		c.ordered(s, asked[s])
	}
	c.labelled()
	c.file = c.scopes[0].file
	c.planRules(root)
}

// maxHints bounds what suggestions may cost: each looks at every id.
const maxHints = 100

// missing reports an id that is no task: an error, or a warning in a fragment.
func (c *checker) missing(s *scope, n source.Node, id, who string) {
	if c.fragment {
		c.warn(n, WarnDangling, "", "%s %q, which is not in this file", who, id)
		return
	}
	remedy := "add the task, or take the name out"
	if c.hints++; c.hints <= maxHints {
		if near := nearest(id, s.visible()); near != "" {
			remedy = fmt.Sprintf("did you mean %s?", near)
		}
	}
	c.fault(n, CodeUnknown, remedy, "%s %q, and there is no such task", who, id)
}

// visible yields the ids that a task of the scope can name.
func (s *scope) visible() iter.Seq[string] {
	return func(yield func(string) bool) {
		for ; s != nil; s = s.parent {
			for i := range s.tasks {
				if !yield(s.tasks[i].ID) {
					return
				}
			}
		}
	}
}

// find looks an id up in a scope and those around it. The id of a wildcard is known without its
// star.
func (s *scope) find(id string) (in *scope, at int32, ok bool) {
	id = strings.TrimSuffix(id, "-*")
	for in = s; in != nil; in = in.parent {
		if at, ok = in.index[id]; ok {
			return in, at, true
		}
	}
	return nil, 0, false
}

// path is how a task of the scope is known outside: parent/child.
func (s *scope) path(i int) string {
	if s.parent == nil {
		return s.tasks[i].ID
	}
	return s.parent.path(s.owner) + "/" + s.tasks[i].ID
}

// connect resolves what tasks need and lead to, and notes the edges from each need to its task.
func (c *checker) connect(s *scope, edges map[*scope][]edge) {
	own := edges[s]
	if own == nil {
		own = make([]edge, 0, len(s.tasks))
	}
	for i := range s.tasks {
		t := &s.tasks[i]
		for j, id := range t.Needs {
			in, at, ok := s.find(id)
			switch {
			case id == "": // reported as no text
			case !ok:
				c.missing(s, s.item(i, "needs", j), id, t.ID+" needs")
			case in == s:
				own = append(own, edge{at, int32(i)})
			default:
				edges[in] = append(edges[in], edge{at, int32(s.ancestor(in))})
			}
			t.Needs[j] = strings.TrimSuffix(id, "-*")
		}
		if t.Next != nil {
			own = c.routes(s, i, own)
		}
		c.recovers(s, i)
	}
	edges[s] = own
}

// ancestor is the task of the scope outer within which s lies.
func (s *scope) ancestor(outer *scope) int {
	for s.parent != outer {
		s = s.parent
	}
	return s.owner
}

// routes checks where a task leads; leading on by success is a need of the other.
func (c *checker) routes(s *scope, i int, own []edge) []edge {
	t := &s.tasks[i]
	for j, id := range t.Next.Success {
		if at, ok := s.index[strings.TrimSuffix(id, "-*")]; ok {
			t.Next.Success[j] = s.tasks[at].ID
			own = append(own, edge{int32(i), at})
		} else {
			c.missing(s, locate(s.node(i, "next"), id), id, t.ID+" leads on to")
		}
	}
	for j, id := range t.Next.Failure {
		if at, ok := s.index[strings.TrimSuffix(id, "-*")]; ok {
			t.Next.Failure[j] = s.tasks[at].ID
		} else {
			c.missing(s, locate(s.node(i, "next"), id), id, t.ID+" on failure leads to")
		}
	}
	return own
}

// recovers checks what failure modes fall back to: a task, or words for a person.
func (c *checker) recovers(s *scope, i int) {
	t := &s.tasks[i]
	for j, m := range t.Failure {
		if m.Recover == "" {
			continue
		}
		if _, ok := s.index[m.Recover]; ok {
			continue
		}
		n := locate(s.item(i, "failure", j), m.Recover)
		if validID(m.Recover) {
			c.missing(s, n, m.Recover, t.ID+" recovers by")
		} else {
			c.warn(n, WarnProse, "name a task to have it done", "the recovery from %s is left to a person: %s", m.Name, m.Recover)
		}
	}
}
