package view

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/layout"
	"github.com/cairn-plan/cairn/internal/plan"
)

// SVGOptions say how a graph is drawn as SVG.
type SVGOptions struct {
	Bare bool                     // without its style sheet: the page has it
	Link func(task string) string // where a task leads; nil for nowhere
}

// Sizes of a drawing, in pixels.
const (
	svgMargin  = 16.0
	svgText    = 196.0 // a label is cut at this width
	svgGate    = 128.0 // and in a gate, which has less room, at this
	svgLine    = 16.0
	svgHead    = 24.0 // of a group
	svgID      = 13.0 // sizes of letters
	svgMore    = 11.5
	svgCaption = 11.0
)

// SVG draws the graph: nodes by their status, gates as diamonds, routes on failure dashed, recoveries
// dotted, groups as boxes. It follows the reader's choice of light or dark.
func (g Graph) SVG(o SVGOptions) string {
	s := &svg{Graph: g, o: o}
	s.measure()
	s.d = layout.Draw(s.plan, layout.DefaultStyle())
	s.open()
	for i := range g.Groups {
		s.group(i)
	}
	for i := range g.Edges {
		s.edge(i)
	}
	for i := range g.Nodes {
		s.node(i)
	}
	s.b.WriteString("</svg>\n")
	return s.b.String()
}

type svg struct {
	Graph
	o      SVGOptions
	plan   layout.Graph
	labels [][]string // the lines of each node
	d      layout.Drawing
	b      strings.Builder
}

// measure works out the sizes of everything.
func (s *svg) measure() {
	for _, n := range s.Nodes {
		lines, w, h := nodeLabel(n)
		s.labels = append(s.labels, lines)
		s.plan.Nodes = append(s.plan.Nodes, layout.Node{ID: n.ID, W: w, H: h, Group: n.Group, Point: n.Kind == plan.Gate})
	}
	for _, gr := range s.Groups {
		s.plan.Groups = append(s.plan.Groups, layout.Group{ID: gr.ID, Group: gr.Group, Head: svgHead})
	}
	for _, e := range s.Edges {
		label := 0.0
		if e.Label != "" {
			label = textWidth(clipped(e.Label, svgCaption, svgGate), svgCaption)
		}
		s.plan.Edges = append(s.plan.Edges, layout.Edge{From: e.From, To: e.To, Weak: e.Kind == EdgeFailure || e.Kind == EdgeRecover, Label: label})
	}
}

// nodeLabel is what stands in a node, and how large that makes it.
func nodeLabel(n Node) (lines []string, w, h float64) {
	most := svgText
	if n.Kind == plan.Gate {
		most = svgGate
	}
	size := svgID
	for _, text := range []string{shortID(n.ID, n.Group), n.Title, n.Items} {
		if text = plain(text); text == "" {
			continue
		}
		text = clipped(text, size, most)
		lines = append(lines, text)
		w = math.Max(w, textWidth(text, size))
		size = svgMore
	}
	h = float64(len(lines))*svgLine + 16
	if n.Kind != plan.Gate {
		return lines, math.Ceil(math.Max(w+28, 72)), h
	}
	inner := h - 16
	h = inner*1.5 + 28 // a text fits into a diamond when its share of the width and that of the height are one
	return lines, math.Ceil((w + 12) / (1 - inner/h)), h
}

// shortID leaves out what the box around a task says already.
func shortID(id, group string) string {
	if rest, ok := strings.CutPrefix(id, group+"/"); ok && group != "" {
		return rest
	}
	return id
}

func (s *svg) open() {
	w, h := math.Ceil(s.d.W+2*svgMargin), math.Ceil(s.d.H+2*svgMargin)
	role := "img"
	if s.o.Link != nil {
		role = "group" // what is an image has no links in it
	}
	id := "graph-" + strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, s.Name)
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" class="cairn-graph" role="%s" aria-labelledby="%s-title %s-desc" width="%s" height="%s" viewBox="%s %s %s %s">`+"\n",
		role, id, id, num(w), num(h), num(-svgMargin), num(-svgMargin), num(w), num(h))
	title := plain(s.Title)
	if title == "" {
		title = plain(s.Name)
	}
	fmt.Fprintf(&s.b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", id, html.EscapeString(title), id, html.EscapeString(s.describe()))
	if !s.o.Bare {
		s.b.WriteString("<style>\n" + SVGStyle() + "</style>\n")
	}
	fmt.Fprintf(&s.b, `<rect class="ground" x="%s" y="%s" width="%s" height="%s"/>`+"\n", num(-svgMargin), num(-svgMargin), num(w), num(h))
}

// mostDescribed is how many tasks a description names one by one.
const mostDescribed = 40

// describe says in words what the drawing shows.
func (s *svg) describe() string {
	before := map[string][]string{}
	for _, e := range s.Edges {
		if e.Kind == EdgeNeeds || e.Kind == EdgeSuccess {
			before[e.To] = append(before[e.To], plain(e.From))
		}
	}
	all := []string{"The plan " + plain(s.Name) + " has " + plural(len(s.Nodes), "task")}
	for i, n := range s.Nodes {
		if i == mostDescribed {
			all = append(all, "and "+number(len(s.Nodes)-i)+" more")
			break
		}
		text := plain(n.ID)
		if n.Status != "" {
			text += " is " + strings.ReplaceAll(string(n.Status), "_", " ")
		}
		if from := before[n.ID]; len(from) > 0 {
			text += ", after " + few(from, 6)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ") + "."
}

func (s *svg) group(i int) {
	gr, b := s.Groups[i], s.d.Groups[i]
	fmt.Fprintf(&s.b, `<g class="group %s"><title>%s</title><rect class="shape" x="%s" y="%s" width="%s" height="%s" rx="8"/>`,
		gr.Status, tooltip(gr.ID, gr.Title, string(gr.Status)), num(b.X), num(b.Y), num(b.W), num(b.H))
	room := b.W - 20
	id := clipped(plain(shortID(gr.ID, gr.Group)), 12, room)
	more := ""
	if rest := room - textWidth(id, 12) - 8; gr.Title != "" && rest > 40 {
		more = fmt.Sprintf(`<tspan class="more" dx="6">%s</tspan>`, html.EscapeString(clipped(plain(gr.Title), 12, rest)))
	}
	fmt.Fprintf(&s.b, `<text class="id" x="%s" y="%s">%s%s</text></g>`+"\n", num(b.X+10), num(b.Y+17), html.EscapeString(id), more)
}

func (s *svg) node(i int) {
	n, b := s.Nodes[i], s.d.Nodes[i]
	if s.o.Link != nil {
		fmt.Fprintf(&s.b, `<a href="%s">`, html.EscapeString(s.o.Link(n.ID)))
	}
	fmt.Fprintf(&s.b, `<g class="node %s"><title>%s</title>`, n.Status, tooltip(n.ID, n.Title, n.Items, string(n.Kind), string(n.Status)))
	x, y := b.X+b.W/2, b.Y+b.H/2
	switch {
	case n.Kind == plan.Gate:
		fmt.Fprintf(&s.b, `<path class="shape" d="M%s %sL%s %sL%s %sL%s %sZ"/>`, num(b.X), num(y), num(x), num(b.Y), num(b.X+b.W), num(y), num(x), num(b.Y+b.H))
	case n.Kind == plan.Milestone:
		s.rect(b, b.H/2)
	case n.Items != "":
		s.rect(layout.Box{X: b.X + 4, Y: b.Y + 4, W: b.W - 4, H: b.H - 4}, 6)
		s.rect(layout.Box{X: b.X, Y: b.Y, W: b.W - 4, H: b.H - 4}, 6)
		x, y = x-2, y-2
	default:
		s.rect(b, 6)
	}
	top := y - float64(len(s.labels[i])-1)*svgLine/2 + 4.5
	for k, line := range s.labels[i] {
		class := "id"
		if k > 0 {
			class = "more"
		}
		fmt.Fprintf(&s.b, `<text class="%s" text-anchor="middle" x="%s" y="%s">%s</text>`, class, num(x), num(top+float64(k)*svgLine), html.EscapeString(line))
	}
	s.b.WriteString("</g>")
	if s.o.Link != nil {
		s.b.WriteString("</a>")
	}
	s.b.WriteString("\n")
}

func (s *svg) rect(b layout.Box, round float64) {
	fmt.Fprintf(&s.b, `<rect class="shape" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, num(b.X), num(b.Y), num(b.W), num(b.H), num(round))
}

// arrow is how long the head of an edge is.
const arrow = 7.0

func (s *svg) edge(i int) {
	e, p := s.Edges[i], s.d.Edges[i]
	n := len(p.Points)
	if n < 4 {
		return
	}
	points := append([]layout.Point(nil), p.Points...)
	tip, way := points[n-1], 1.0
	if points[n-2].X > tip.X {
		way = -1
	}
	points[n-1].X -= way * (arrow - 1)
	if way > 0 {
		points[n-2].X = math.Min(points[n-2].X, points[n-1].X)
	} else {
		points[n-2].X = math.Max(points[n-2].X, points[n-1].X)
	}
	fmt.Fprintf(&s.b, `<g class="edge %s"><title>%s</title><path class="line" d="M%s %s`, e.Kind, tooltip(e.From+" \u2192 "+e.To, string(e.Kind), e.Label), num(points[0].X), num(points[0].Y))
	for k := 1; k+2 < n; k += 3 {
		a, b, c := points[k], points[k+1], points[k+2]
		if a.Y == c.Y && b.Y == c.Y && points[k-1].Y == c.Y {
			fmt.Fprintf(&s.b, "H%s", num(c.X))
			continue
		}
		fmt.Fprintf(&s.b, "C%s %s %s %s %s %s", num(a.X), num(a.Y), num(b.X), num(b.Y), num(c.X), num(c.Y))
	}
	fmt.Fprintf(&s.b, `"/><path class="head" d="M%s %sl%s -4v8z"/>`, num(tip.X), num(tip.Y), num(-way*arrow))
	if e.Label != "" {
		fmt.Fprintf(&s.b, `<text text-anchor="middle" x="%s" y="%s">%s</text>`, num(p.Label.X), num(p.Label.Y-4), html.EscapeString(clipped(plain(e.Label), svgCaption, svgGate)))
	}
	s.b.WriteString("</g>\n")
}

// tooltip is all there is to say, one thing a line.
func tooltip(lines ...string) string {
	var out []string
	for _, l := range lines {
		if l = plain(l); l != "" {
			out = append(out, html.EscapeString(l))
		}
	}
	return strings.Join(out, "\n")
}

// num writes a coordinate, to a tenth of a pixel.
func num(f float64) string {
	return strconv.FormatFloat(math.Round(f*10)/10+0, 'f', -1, 64)
}

// textWidth is about how wide a text gets in letters of a size, whatever the font is.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		em += letter(r)
	}
	return em * size
}

// letter is about how wide a letter is, in ems of a bold sans-serif.
func letter(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl.,:;'|!I", r):
		return 0.32
	case strings.ContainsRune("frt()[]{}/- ", r):
		return 0.40
	case strings.ContainsRune("mwMW@%", r):
		return 0.92
	case r >= 'A' && r <= 'Z' || r == '&' || r == '\u2026':
		return 0.74
	case r < 0x2E80:
		return 0.60
	}
	return 1.05
}

// clipped cuts a text at a width, and shows that it did.
func clipped(s string, size, most float64) string {
	if textWidth(s, size) <= most {
		return s
	}
	room := most - letter('\u2026')*size
	for i, r := range s {
		if room -= letter(r) * size; room < 0 {
			return strings.TrimRight(s[:i], " ") + "\u2026"
		}
	}
	return s
}
