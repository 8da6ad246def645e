package experience

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// menu is the capabilities on offer, by what is said of them.
type menu struct {
	open   bool // nothing was handed in, so everything is allowed
	offer  []bool
	terms  map[string]int
	idf    []float64
	posted [][]posting // for each term the tools that have it
}

// What the menu heeds, and how much.
const (
	nameWeight = 2.0
	tagWeight  = 0.5
	kinWeight  = 0.6 // of a word of the same sense against the word itself
	whole      = 0.3 // what the whole goal counts in the match of one of its clauses
	lengthPull = 0.8 // how much a long description is held back
	keepShare  = 0.6 // of the best match that another must reach
	fewest     = 2   // steps: what is worth a plan takes more than one
	most       = 5
)

func newMenu(tools []Tool, number map[string]int) *menu {
	m := &menu{open: len(tools) == 0, offer: make([]bool, len(number)), terms: map[string]int{}}
	docs := make([][]term, len(tools))
	var seenIn []int
	for i, t := range tools {
		m.offer[number[t.ID]] = true
		docs[i] = describe(t)
		for _, w := range docs[i] {
			n, ok := m.terms[w.name]
			if !ok {
				n = len(seenIn)
				m.terms[w.name] = n
				seenIn = append(seenIn, 0)
			}
			seenIn[n]++
		}
	}
	for _, df := range seenIn {
		m.idf = append(m.idf, math.Log(1+(float64(len(tools)-df)+0.5)/(float64(df)+0.5)))
	}
	m.posted = make([][]posting, len(seenIn))
	for i, t := range tools {
		sum := 0.0
		for _, w := range docs[i] {
			sum += math.Pow(w.weight*m.idf[m.terms[w.name]], 2)
		}
		length := math.Pow(sum, lengthPull/2)
		for _, w := range docs[i] {
			n := m.terms[w.name]
			m.posted[n] = append(m.posted[n], posting{int32(number[t.ID]), float32(w.weight * m.idf[n] / length)})
		}
	}
	return m
}

// term is a word, or a sense that words share, and its weight.
type term struct {
	name   string
	weight float64
}

// describe weighs the terms that a tool is known by, in order of name.
func describe(t Tool) []term {
	weights := map[string]float64{}
	add := func(text string, weight float64) {
		for _, k := range read(text) {
			for _, w := range termsOf(k.form) {
				weights[w.name] = max(weights[w.name], w.weight*weight)
			}
		}
	}
	add(strings.ReplaceAll(t.ID, ".", " "), nameWeight)
	add(t.Description, 1)
	for _, tag := range t.Tags {
		add(tag, tagWeight)
	}
	all := make([]term, 0, len(weights))
	for name, w := range weights {
		all = append(all, term{name, w})
	}
	slices.SortFunc(all, func(a, b term) int { return strings.Compare(a.name, b.name) })
	return all
}

// termsOf is a word and its senses; an idle word has none.
func termsOf(form string) []term {
	if idle[form] {
		return nil
	}
	all := []term{{form, 1}}
	for _, n := range senses[form] {
		all = append(all, term{"=" + strconv.Itoa(n), kinWeight})
	}
	return all
}

// has reports whether a capability is on offer.
func (m *menu) has(c int) bool { return m.open || m.offer[c] }

// scores says how well each capability answers to the words.
func (m *menu) scores(g []token) []float64 {
	scores := make([]float64, len(m.offer))
	seen := map[string]bool{}
	for _, t := range g {
		for _, w := range termsOf(t.form) {
			n, ok := m.terms[w.name]
			if !ok || seen[w.name] {
				continue
			}
			seen[w.name] = true
			for _, p := range m.posted[n] {
				scores[p.doc] += w.weight * m.idf[n] * float64(p.weight)
			}
		}
	}
	return scores
}

// match chooses capabilities for a goal by what the menu says of them: the best for each clause, where it is good
// beside the others, in the order of the clauses.
func (m *menu) match(g []token) []pick {
	all := m.scores(g)
	var picks []pick
	for _, clause := range clauses(g) {
		own := m.scores(clause)
		for c := range own {
			if own[c] > 0 {
				own[c] = (1-whole)*own[c] + whole*all[c]
			}
		}
		if best, s := bestOf(own, picks); best >= 0 {
			picks = append(picks, pick{cap: best, likelihood: s, at: float64(clause[0].at)})
		}
	}
	slices.SortStableFunc(picks, func(a, b pick) int { return descending(a.likelihood, b.likelihood, a.cap, b.cap) })
	for n, p := range picks {
		if n == most || n >= fewest && p.likelihood < keepShare*picks[0].likelihood {
			picks = picks[:n]
			break
		}
	}
	if len(picks) > 0 && len(picks) < fewest {
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
		if s > top && !slices.ContainsFunc(picks, func(p pick) bool { return p.cap == c }) {
			best, top = c, s
		}
	}
	return best, top
}

// clauses parts a goal at its punctuation and at the words that join one wish to the next.
func clauses(g []token) [][]token {
	var all [][]token
	start := 0
	cut := func(end int) {
		if end > start {
			all = append(all, g[start:end])
		}
		start = end
	}
	for i, t := range g {
		if t.form == "and" || t.form == "then" || t.form == "also" || t.form == "after" {
			cut(i)
		}
		if t.end {
			cut(i + 1)
		}
	}
	cut(len(g))
	return all
}
