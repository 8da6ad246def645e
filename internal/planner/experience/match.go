package experience

import (
	"math"
	"slices"
)

// How a goal is matched to the menu.
const (
	whole     = 0.65 // what the whole goal counts in the match of one of its clauses
	coherence = 1.0  // what it counts to be of a kind with the others
	keepShare = 0.84 // of the best match that another must reach
	objects   = 0.6  // share of its objects that a search must have in common with what it prepares
	fewest    = 2    // steps: what is worth a plan takes more than one
	most      = 5
)

// match chooses capabilities for a goal by what the menu says of them: the best for each clause, where it is good
// beside the others, in the order in which the goal speaks of them.
func (m *menu) match(g []token) []pick {
	all := m.scores(g)
	m.cohere(all)
	var picks []pick
	for _, clause := range m.clauses(g) {
		own := m.scores(clause)
		for c := range own {
			if own[c] > 0 {
				own[c] = (1-whole)*own[c] + whole*all[c]
			}
		}
		if best, s := bestOf(own, picks); best >= 0 {
			picks = append(picks, pick{cap: best, likelihood: s, at: m.place(g, best)})
		}
	}
	slices.SortStableFunc(picks, func(a, b pick) int { return descending(a.likelihood, b.likelihood, a.cap, b.cap) })
	for n, p := range picks {
		if n == most || n >= fewest && p.likelihood < keepShare*picks[0].likelihood {
			picks = picks[:n]
			break
		}
	}
	picks = m.lookFirst(picks, all)
	if len(picks) == 1 {
		if best, s := bestOf(all, picks); best >= 0 {
			picks = append(picks, pick{cap: best, likelihood: s / 2, at: float64(len(g))})
		}
	}
	for i := range picks {
		picks[i].likelihood /= 1 + picks[i].likelihood
	}
	slices.SortStableFunc(picks, func(a, b pick) int { return descending(b.at, a.at, a.cap, b.cap) })
	return picks
}

// bestOf finds the best that is not yet among the picks, -1 when nothing answers.
func bestOf(scores []float64, picks []pick) (best int, top float64) {
	best = -1
	for c, s := range scores {
		if s > top && !picked(picks, c) {
			best, top = c, s
		}
	}
	return best, top
}

func picked(picks []pick, c int) bool {
	return slices.ContainsFunc(picks, func(p pick) bool { return p.cap == c })
}

// place is where a goal speaks of a capability: the mean place of the words that answer to it.
func (m *menu) place(g []token, capability int) float64 {
	sum, weight := 0.0, 0.0
	for _, v := range m.voices(g, capability) {
		sum += v.loud * v.loud * float64(v.at)
		weight += v.loud * v.loud
	}
	return sum / weight
}

// cohere lifts the capabilities that share tags with those that answer best: the tools of one plan are mostly of a
// kind. A tag that everything wears lifts little.
func (m *menu) cohere(scores []float64) {
	if len(scores) == 0 || len(m.worn) == 0 {
		return
	}
	top := slices.Max(scores)
	if top == 0 {
		return
	}
	lifts := make([]float64, len(m.worn))
	for c, s := range scores {
		for _, t := range m.tags[c] {
			lifts[t] += math.Pow(s/top, 2) / math.Sqrt(m.worn[t]+1)
		}
	}
	highest := slices.Max(lifts)
	if highest == 0 {
		return
	}
	for c := range scores {
		lift := 0.0
		for _, t := range m.tags[c] {
			lift = max(lift, lifts[t]/highest)
		}
		scores[c] += coherence * top * lift
	}
}

// lookFirst adds a search to a short plan that only acts: who changes, cancels or books a thing has to find it first.
func (m *menu) lookFirst(picks []pick, all []float64) []pick {
	if len(picks) == 0 || len(picks) > fewest {
		return picks
	}
	if len(picks) == fewest && slices.ContainsFunc(picks, func(p pick) bool { return m.looks[p.cap] }) {
		return picks
	}
	first := picks[0]
	best, top := -1, 0.0
	for c, s := range all {
		if !m.looks[c] || picked(picks, c) {
			continue
		}
		if s += m.shared(first.cap, c); s > top {
			best, top = c, s
		}
	}
	if best >= 0 && (len(picks) < fewest || m.shared(first.cap, best) > objects*m.shared(first.cap, first.cap)) {
		picks = append(picks, pick{cap: best, likelihood: first.likelihood / 2, at: first.at - 0.5})
	}
	return picks
}

// shared is how far two capabilities are about the same objects: the terms both are known by, without what they do.
func (m *menu) shared(a, b int) float64 {
	sum := 0.0
	x, y := m.known[a], m.known[b]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].name < y[0].name:
			x = x[1:]
		case x[0].name > y[0].name:
			y = y[1:]
		default:
			if !x[0].acts {
				w := m.idf[m.terms[x[0].name]]
				sum += x[0].weight * y[0].weight * w * w
			}
			x, y = x[1:], y[1:]
		}
	}
	return sum
}

// clauses parts a goal at its punctuation and at the words that join one wish to the next. What asks for nothing
// belongs to the clause before it: a date, a name, a number.
func (m *menu) clauses(g []token) [][]token {
	var all [][]token
	start, begun := 0, 0
	cut := func(end int) {
		switch {
		case end <= start:
			return
		case len(all) > 0 && !m.asks(g[start:end]):
			all[len(all)-1] = g[begun:end]
		default:
			all = append(all, g[start:end])
			begun = start
		}
		start = end
	}
	for i, t := range g {
		switch t.form {
		case "and", "then", "also", "aft": // aft is the stem of after
			cut(i)
		}
		if t.end {
			cut(i + 1)
		}
	}
	cut(len(g))
	return all
}

// asks reports whether a clause asks for something: it says what is to be done, or begins with a word of the menu.
func (m *menu) asks(clause []token) bool {
	first := true
	for _, t := range clause {
		if idle[t.form] {
			continue
		}
		if _, ok := m.terms[t.form]; acts(t.form) || first && ok {
			return true
		}
		first = false
	}
	return false
}
