package view

import (
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Dot writes the graph for Graphviz.
func (g Graph) Dot() string {
	d := &dot{Graph: g, name: g.names()}
	d.nodes, d.groups = g.holds()
	fmt.Fprintf(&d.b, "digraph %s {\n  rankdir=LR; compound=true; fontname=\"sans-serif\";\n", dotQuote(g.Name))
	if g.Title != "" {
		fmt.Fprintf(&d.b, "  label=%s; labelloc=t;\n", dotQuote(g.Title))
	}
	d.b.WriteString("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\"];\n")
	d.b.WriteString("  edge [fontname=\"sans-serif\", fontsize=11];\n")
	d.within("", "  ")
	d.edges()
	d.b.WriteString("}\n")
	return d.b.String()
}

type dot struct {
	Graph
	name          map[string]string
	nodes, groups map[string][]int
	b             strings.Builder
}

func (d *dot) within(group, indent string) {
	for _, i := range d.nodes[group] {
		n := d.Nodes[i]
		attrs := "label=" + dotQuote(n.ID, n.Title, n.Items)
		switch {
		case n.Kind == plan.Gate:
			attrs += ", shape=diamond, style=filled"
		case n.Kind == plan.Milestone:
			attrs += ", shape=oval, style=filled"
		case n.Items != "":
			attrs += ", peripheries=2"
		}
		fmt.Fprintf(&d.b, "%s%s [%s%s];\n", indent, d.name[n.ID], attrs, tint(n.Status))
	}
	for _, i := range d.groups[group] {
		gr := d.Groups[i]
		fmt.Fprintf(&d.b, "%ssubgraph cluster_%s {\n%s  label=%s; style=rounded;\n", indent, d.name[gr.ID], indent, dotQuote(gr.ID, gr.Title))
		d.within(gr.ID, indent+"  ")
		d.b.WriteString(indent + "}\n")
	}
}

func tint(s lifecycle.Status) string {
	for _, t := range tints {
		if t.status == s {
			return fmt.Sprintf(", fillcolor=%q, color=%q", t.fill, t.line)
		}
	}
	return ""
}

// dotQuote writes lines as one string of the dot language, where only quotes and backslashes mean something.
func dotQuote(lines ...string) string {
	var out []string
	for _, s := range lines {
		if s = cut(plain(s), 60); s != "" {
			out = append(out, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s))
		}
	}
	return `"` + strings.Join(out, `\n`) + `"`
}

func (d *dot) edges() {
	for _, e := range d.Edges {
		var attrs []string
		from, to := d.end(e.From, true), d.end(e.To, false)
		if from != d.name[e.From] {
			attrs = append(attrs, "ltail=cluster_"+d.name[e.From])
		}
		if to != d.name[e.To] {
			attrs = append(attrs, "lhead=cluster_"+d.name[e.To])
		}
		switch e.Kind {
		case EdgeSuccess:
			attrs = append(attrs, "style=bold")
		case EdgeFailure:
			attrs = append(attrs, "style=dashed", `color="#b91c1c"`)
		case EdgeRecover:
			attrs = append(attrs, "style=dotted", `color="#b91c1c"`)
		}
		if e.Label != "" {
			attrs = append(attrs, "label="+dotQuote(e.Label))
		}
		line := "  " + from + " -> " + to
		if len(attrs) > 0 {
			line += " [" + strings.Join(attrs, ", ") + "]"
		}
		d.b.WriteString(line + ";\n")
	}
}

// end is the node at which an edge ends: for a group one inside, since Graphviz links nodes alone. An edge leaves a
// group from its last node and enters it at its first.
func (d *dot) end(id string, leaves bool) string {
	pick := func(places []int) int {
		if leaves {
			return places[len(places)-1]
		}
		return places[0]
	}
	for {
		switch {
		case len(d.nodes[id]) > 0:
			return d.name[d.Nodes[pick(d.nodes[id])].ID]
		case len(d.groups[id]) > 0:
			id = d.Groups[pick(d.groups[id])].ID
		default:
			return d.name[id]
		}
	}
}
