package view

import (
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Graph is the drawing of a plan before it has a syntax.
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

// GraphOf draws a plan; st may be nil, or tells how far the plan is.
func GraphOf(p *plan.Plan, st *lifecycle.State) Graph { return Graph{} }

// Mermaid writes the graph as a mermaid flowchart.
func (g Graph) Mermaid() string { return "" }

// Dot writes the graph for Graphviz.
func (g Graph) Dot() string { return "" }
