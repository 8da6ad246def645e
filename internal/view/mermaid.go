package view

import (
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// tints are the colours of statuses in drawings: fill and line, with black text readable on all.
var tints = []struct {
	status     lifecycle.Status
	fill, line string
}{
	{lifecycle.Pending, "#f4f4f5", "#a1a1aa"}, {lifecycle.Ready, "#f4f4f5", "#3f3f46"}, {lifecycle.Running, "#cffafe", "#0e7490"},
	{lifecycle.Waiting, "#fae8ff", "#a21caf"}, {lifecycle.Completed, "#dcfce7", "#15803d"}, {lifecycle.FailedTask, "#fee2e2", "#b91c1c"},
	{lifecycle.Skipped, "#fafafa", "#d4d4d8"}, {lifecycle.Abandoned, "#fafafa", "#d4d4d8"}, {lifecycle.RolledBack, "#fafafa", "#d4d4d8"},
	{Blocked, "#fff1f2", "#e11d48"},
}

// Mermaid writes the graph as a mermaid flowchart.
func (g Graph) Mermaid() string {
	m := &mermaid{Graph: g, name: g.names()}
	m.nodes, m.groups = g.holds()
	m.b.WriteString("flowchart LR\n")
	m.within("", "  ")
	m.edges()
	m.styles()
	return m.b.String()
}

type mermaid struct {
	Graph
	name          map[string]string
	nodes, groups map[string][]int
	b             strings.Builder
}

func (m *mermaid) within(group, indent string) {
	for _, i := range m.nodes[group] {
		n := m.Nodes[i]
		open, shut := "[", "]"
		switch {
		case n.Kind == plan.Gate:
			open, shut = "{", "}"
		case n.Kind == plan.Milestone:
			open, shut = "([", "])"
		case n.Items != "":
			open, shut = "[[", "]]"
		}
		fmt.Fprintf(&m.b, "%s%s%s\"%s\"%s\n", indent, m.name[n.ID], open, mermaidLabel(n.ID, n.Title, n.Items), shut)
	}
	for _, i := range m.groups[group] {
		gr := m.Groups[i]
		fmt.Fprintf(&m.b, "%ssubgraph %s[\"%s\"]\n", indent, m.name[gr.ID], mermaidLabel(gr.ID, gr.Title))
		m.within(gr.ID, indent+"  ")
		m.b.WriteString(indent + "end\n")
	}
}

// mermaidEntities are written as codes, so that nothing in a label is syntax, HTML or markdown.
var mermaidEntities = strings.NewReplacer(`"`, "#34;", "#", "#35;", "&", "#38;", "<", "#60;", ">", "#62;", "`", "#96;", `\`, "#92;",
	"*", "#42;", "_", "#95;", "[", "#91;", "]", "#93;", "{", "#123;", "}", "#125;", ";", "#59;", "%", "#37;", "$", "#36;")

func mermaidLabel(lines ...string) string {
	var out []string
	for _, s := range lines {
		if s = cut(plain(s), 60); s != "" {
			out = append(out, mermaidEntities.Replace(s))
		}
	}
	return strings.Join(out, "<br/>")
}

func (m *mermaid) edges() {
	var dotted []string
	for i, e := range m.Edges {
		arrow := map[EdgeKind]string{EdgeNeeds: "-->", EdgeSuccess: "==>", EdgeFailure: "-.->", EdgeRecover: "-.->"}[e.Kind]
		if label := mermaidLabel(e.Label); label != "" {
			arrow += "|\"" + label + "\"|"
		}
		fmt.Fprintf(&m.b, "  %s %s %s\n", m.name[e.From], arrow, m.name[e.To])
		if e.Kind == EdgeRecover {
			dotted = append(dotted, fmt.Sprint(i))
		}
	}
	if len(dotted) > 0 { // mermaid's one broken line is dashed
		fmt.Fprintf(&m.b, "  linkStyle %s stroke-dasharray:1 4\n", strings.Join(dotted, ","))
	}
}

func (m *mermaid) styles() {
	for _, tint := range tints {
		var of []string
		for _, n := range m.Nodes {
			if n.Status == tint.status {
				of = append(of, m.name[n.ID])
			}
		}
		for _, gr := range m.Groups {
			if gr.Status == tint.status {
				of = append(of, m.name[gr.ID])
			}
		}
		if len(of) > 0 {
			fmt.Fprintf(&m.b, "  classDef %s fill:%s,stroke:%s,color:#000\n  class %s %s\n", tint.status, tint.fill, tint.line,
				strings.Join(of, ","), tint.status)
		}
	}
}
