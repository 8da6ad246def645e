package layout_test

import (
	"math"
	"sort"

	"github.com/cairn-plan/cairn/internal/layout"
)

// figure is how a drawing reads: how often edges cross, how long they are in heights of a node, how many of
// them are straight lines, how large it is.
type figure struct {
	crossings int
	length    float64
	straight  int
	w, h      float64
}

// curve samples a path of Bezier pieces as a polygon.
func curve(points []layout.Point) []layout.Point {
	if len(points) == 0 {
		return nil
	}
	out := []layout.Point{points[0]}
	for i := 0; i+3 < len(points); i += 3 {
		a, b, c, d := points[i], points[i+1], points[i+2], points[i+3]
		for k := 1; k <= 8; k++ {
			t := float64(k) / 8
			s := 1 - t
			out = append(out, layout.Point{
				X: s*s*s*a.X + 3*s*s*t*b.X + 3*s*t*t*c.X + t*t*t*d.X,
				Y: s*s*s*a.Y + 3*s*s*t*b.Y + 3*s*t*t*c.Y + t*t*t*d.Y,
			})
		}
	}
	return out
}

// measure looks at the edges of a drawing, whoever made it. Edges that share an end are not counted as
// crossing: where they leave it is a matter of taste.
func measure(g layout.Graph, paths [][]layout.Point, w, h float64) figure {
	f := figure{w: w, h: h}
	type piece struct {
		edge int
		a, b layout.Point
	}
	var pieces []piece
	for i, points := range paths {
		line := curve(points)
		low, high := math.Inf(1), math.Inf(-1)
		for k := 1; k < len(line); k++ {
			f.length += math.Hypot(line[k].X-line[k-1].X, line[k].Y-line[k-1].Y) / nodeH
			a, b := line[k-1], line[k]
			if a.X > b.X {
				a, b = b, a
			}
			pieces = append(pieces, piece{i, a, b})
			low, high = math.Min(low, math.Min(a.Y, b.Y)), math.Max(high, math.Max(a.Y, b.Y))
		}
		if high-low < 1 {
			f.straight++
		}
	}
	sort.Slice(pieces, func(i, j int) bool { return pieces[i].a.X < pieces[j].a.X })
	met := map[[2]int]bool{}
	for i, p := range pieces {
		for _, q := range pieces[i+1:] {
			if q.a.X > p.b.X {
				break
			}
			e, d := g.Edges[p.edge], g.Edges[q.edge]
			if e.From == d.From || e.To == d.To || e.From == d.To || e.To == d.From || met[[2]int{p.edge, q.edge}] {
				continue
			}
			if cross(p.a, p.b, q.a, q.b) {
				met[[2]int{p.edge, q.edge}], met[[2]int{q.edge, p.edge}] = true, true
				f.crossings++
			}
		}
	}
	return f
}

func cross(a, b, c, d layout.Point) bool {
	side := func(p, q, r layout.Point) float64 { return (q.X-p.X)*(r.Y-p.Y) - (q.Y-p.Y)*(r.X-p.X) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

func own(g layout.Graph) figure {
	d := layout.Draw(g, layout.DefaultStyle())
	paths := make([][]layout.Point, len(d.Edges))
	for i, e := range d.Edges {
		paths[i] = e.Points
	}
	return measure(g, paths, d.W, d.H)
}
