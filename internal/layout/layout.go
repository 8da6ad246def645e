// Package layout decides where the nodes and edges of a directed graph go when it is drawn from left to
// right: in ranks, with few crossings, long edges straight and groups in boxes around their members.
//
// The graph is drawn level by level. A level is what stands directly in one group, or in none; a group
// is one item of its level, as many ranks long and as high as what is in it, and is laid out first. So
// members are inside their box, and all else is outside, whatever the edges are. Within a level it is the
// method of Sugiyama: turn edges round until nothing goes in circles, rank, put a vertex wherever an edge
// passes a rank, order the ranks to cross little, and give coordinates by aligning what is joined.
//
// The same graph gives the same drawing. Where nothing else decides, the order in which nodes are given
// does, and an order is only given up for one with fewer crossings, so that a graph which grows a little
// changes little. Nothing is refused: an edge with an unknown end is not drawn, a group in an unknown
// group stands in none.
package layout

// Graph is what is to be drawn.
type Graph struct {
	Nodes  []Node
	Edges  []Edge
	Groups []Group
}

// Node is a box of a known size.
type Node struct {
	ID    string
	W, H  float64
	Rank  int    // it stands at least at this rank of its group
	Group string // the group that it is in; empty for none
	Point bool   // edges meet it in the middle of its sides: it is no rectangle
}

// Group is a box around nodes and other groups.
type Group struct {
	ID    string
	Group string  // the group around it; empty for none
	Head  float64 // room for its name, above what is in it
}

// Edge leads from a node or group to another.
type Edge struct {
	From, To string
	Weak     bool    // where edges go in circles, weak ones are turned round
	Label    float64 // how wide its label is
}

// Style is the room between things.
type Style struct {
	Rank  float64 // between ranks
	Node  float64 // between nodes of a rank
	Edge  float64 // between an edge and what it passes
	Pad   float64 // between a group and what is in it
	Ports float64 // between the ends of edges at one side of a node, at most
	Lead  float64 // an edge arrives level for this long, so that its head stands straight
}

// DefaultStyle suits nodes of the size of a line or two of text.
func DefaultStyle() Style { return Style{Rank: 52, Node: 18, Edge: 12, Pad: 14, Ports: 7, Lead: 9} }

// Drawing says where everything goes. Its slices are in the order of the graph's.
type Drawing struct {
	W, H   float64
	Nodes  []Box
	Groups []Box
	Edges  []Path
}

// Box is a rectangle by its left upper corner.
type Box struct{ X, Y, W, H float64 }

// Point is a place in a drawing.
type Point struct{ X, Y float64 }

// Path is the course of an edge: where it begins, then for each piece of it the two control points and the
// end of a Bezier curve. It is empty when the edge cannot be drawn.
type Path struct {
	Points []Point
	Label  Point // the middle of its label
}

// Draw lays a graph out.
func Draw(g Graph, style Style) Drawing {
	h := newHouse(g, style)
	h.ranked(h.root)
	h.arrange(h.root)
	h.columns()
	h.place(h.root, 0)
	d := Drawing{Nodes: h.boxes, Groups: h.frames, Edges: h.route()}
	d.W, d.H = h.width, h.root.height
	return d
}
