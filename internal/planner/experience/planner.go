// Package experience drafts a plan for a goal from past plans and a menu of capabilities, with no model and no
// network.
//
// A Planner is built once from what is handed in and never changes after. With past plans it recalls the goals that
// read most alike and lets their plans vote, weighs each word of the goal by the capabilities it came with before,
// chooses the set of capabilities that both agree on, and orders it as such capabilities were ordered before and as
// the goal speaks of them. Without past plans it matches the clauses of the goal to the descriptions of the menu.
// Nothing is known beforehand about any capability: names and descriptions come from the menu, habits from the plans.
//
// The package is pure: no clock, no randomness, no I/O. The same cases, menu and goal give the same draft, byte for
// byte. It never fails: a goal of which no word is known gives an empty draft, and it is for the caller to say so.
package experience

import "cmp"

// Tool is one capability of the menu.
type Tool struct {
	ID          string   `json:"id"`
	Description string   `json:"description"`
	Tags        []string `json:"tags,omitempty"`
}

// Link says that the second capability follows on the first.
type Link = [2]string

// Case is a goal whose plan is known.
type Case struct {
	ID    string
	Goal  string
	Steps []string // capabilities, in order
	Links []Link
	Line  int // of the file it was read from
}

// Draft is a plan in outline: which capabilities, in which order, and why.
type Draft struct {
	Steps      []Step  `json:"steps"`
	Links      []Link  `json:"links"`
	Cases      []Near  `json:"cases,omitempty"` // the past goals that were heeded, nearest first
	Confidence float64 `json:"confidence"`      // the likelihood of the least sure step
}

// Step is one capability of a draft.
type Step struct {
	Capability string   `json:"capability"`
	Likelihood float64  `json:"likelihood"`      // 0..1
	Cases      []string `json:"cases,omitempty"` // ids of the past goals that used it, nearest first
	Words      []string `json:"words,omitempty"` // words of the goal that speak for it, strongest first
}

// Near is a past goal and how much it reads like this one, 0..1.
type Near struct {
	ID       string  `json:"id"`
	Likeness float64 `json:"likeness"`
}

// Planner drafts plans. It is read-only once built, so any number of goroutines may use one.
type Planner struct {
	cases  []Case
	caps   []string       // capability ids, sorted
	number map[string]int // place of an id in caps
	plans  [][]int        // for each case its capabilities by number, each once, in order
	index  *index
	words  *evidence
	habits *habits
	menu   *menu
}

// New builds a planner. Capabilities of past plans that the menu lacks are never drafted; an empty menu allows all.
func New(cases []Case, tools []Tool) *Planner {
	p := &Planner{number: map[string]int{}}
	p.caps = capabilities(cases, tools)
	for i, id := range p.caps {
		p.number[id] = i
	}
	p.menu = newMenu(tools, p.number)
	for _, c := range cases {
		if plan := p.known(c.Steps); len(plan) > 0 {
			p.cases = append(p.cases, c)
			p.plans = append(p.plans, plan)
		}
	}
	p.index = newIndex(p.cases)
	p.words = learnEvidence(p.index, p.plans, len(p.caps))
	p.habits = learnHabits(p)
	return p
}

// Plan drafts a plan for a goal.
func (p *Planner) Plan(goal string) Draft {
	g := read(goal)
	m := p.recall(g)
	if len(m.chosen) == 0 {
		return p.draft(g, memory{chosen: p.menu.match(g)})
	}
	m.chosen = p.order(m.chosen, m.likeness)
	return p.draft(g, m)
}

// Copy drafts the plan of the nearest past goal as it was, for comparison.
func (p *Planner) Copy(goal string) Draft {
	g := read(goal)
	m := p.recall(g)
	if len(m.near) == 0 {
		return p.draft(g, m)
	}
	m.near = m.near[:1]
	m.chosen = nil
	for _, c := range p.plans[m.near[0].doc] {
		if p.menu.has(c) {
			m.chosen = append(m.chosen, pick{cap: c, likelihood: m.near[0].likeness})
		}
	}
	return p.draft(g, m)
}

// pick is a capability that was chosen.
type pick struct {
	cap        int
	likelihood float64
	at         float64 // where the goal speaks of it, in words from its start
}

// known turns ids into numbers, each once.
func (p *Planner) known(ids []string) []int {
	var plan []int
	seen := map[int]bool{}
	for _, id := range ids {
		if n, ok := p.number[id]; ok && !seen[n] {
			seen[n] = true
			plan = append(plan, n)
		}
	}
	return plan
}

// descending sorts by a number, greatest first, and by place where two are equal.
func descending(a, b float64, i, j int) int {
	if c := cmp.Compare(b, a); c != 0 {
		return c
	}
	return cmp.Compare(i, j)
}
