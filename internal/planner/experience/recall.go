package experience

import (
	"math"
	"slices"
)

// What recall heeds, and how much.
const (
	circle   = 32   // past goals that vote
	decline  = 6.0  // how fast a vote falls with likeness
	trust    = 0.3  // share of the votes in a likelihood; the rest is the evidence of words
	hearsay  = 1.5  // how far a description that answers to the goal raises the odds
	together = 0.5  // what it counts that a plan of just these capabilities has been seen nearby
	unseen   = 0.02 // the share of votes lent to every set, seen or not
	balance  = 6.0  // what the expected F1 counts against being right about everything
	worth    = 0.05 // likelihood from which on a capability is considered
	longest  = 7    // capabilities that are considered together
	doubt    = 1e-3 // likelihoods stay this far from certain
)

// memory is what a goal brought to mind.
type memory struct {
	chosen   []pick
	near     []neighbour // nearest first
	likeness []float64   // of every past goal
	vector   vector
}

// recall chooses the capabilities that past plans and the words of the goal agree on.
func (p *Planner) recall(g []token) memory {
	m := memory{vector: p.index.vector(g)}
	m.likeness = p.index.likenesses(m.vector)
	m.near = nearest(m.likeness, circle)
	if len(m.near) == 0 {
		return m
	}
	votes := weigh(m.near)
	odds := p.likelihoods(g, m, votes)
	best := p.choose(odds, m.near, votes)
	places := p.words.places(m.vector, best)
	for i, c := range best {
		m.chosen = append(m.chosen, pick{cap: c, likelihood: odds[c], at: places[i]})
	}
	return m
}

// choose finds the set of capabilities that is likeliest to be right as a whole, and that shares most with what may
// be right where the whole is in doubt.
func (p *Planner) choose(odds []float64, near []neighbour, votes []float64) []int {
	expected := 0.0
	for _, o := range odds {
		expected += o
	}
	best, top := []int(nil), math.Inf(-1)
	for _, set := range p.candidates(odds, near) {
		hits, whole := 0.0, together*math.Log(unseen+p.support(set, near, votes))
		for _, c := range set {
			hits += odds[c]
			whole += logit(odds[c])
		}
		if s := whole + balance*2*hits/(float64(len(set))+expected); s > top {
			best, top = set, s
		}
	}
	return best
}

// weigh turns likenesses into shares of one vote.
func weigh(near []neighbour) []float64 {
	votes := make([]float64, len(near))
	sum := 0.0
	for i, n := range near {
		votes[i] = math.Pow(n.likeness/near[0].likeness, decline)
		sum += votes[i]
	}
	for i := range votes {
		votes[i] /= sum
	}
	return votes
}

// likelihoods blends the votes of the neighbours with the evidence of the words, and heeds what the menu says of each
// capability.
func (p *Planner) likelihoods(g []token, m memory, votes []float64) []float64 {
	all := make([]float64, len(p.caps))
	p.words.score(m.vector, all)
	for c := range all {
		all[c] = (1 - trust) * sigmoid(all[c])
	}
	for i, n := range m.near {
		for _, c := range p.plans[n.doc] {
			all[c] += trust * votes[i]
		}
	}
	said := p.menu.scores(g)
	top := slices.Max(said)
	for c, s := range said {
		switch {
		case !p.menu.has(c):
			all[c] = 0
		case top > 0:
			raise := hearsay * (s / top) * (s / top)
			all[c] *= (1 + raise) / (1 + raise*all[c])
		}
	}
	return all
}

// candidates lists the sets worth weighing, each sorted: the plans of the neighbours, and whatever can be made of the
// likeliest capabilities.
func (p *Planner) candidates(odds []float64, near []neighbour) [][]int {
	var likely []int
	for c, o := range odds {
		if o > worth {
			likely = append(likely, c)
		}
	}
	slices.SortFunc(likely, func(a, b int) int { return descending(odds[a], odds[b], a, b) })
	likely = likely[:min(len(likely), longest)]
	slices.Sort(likely)
	var sets [][]int
	for mask := 1; mask < 1<<len(likely); mask++ {
		var s []int
		for i, c := range likely {
			if mask>>i&1 == 1 {
				s = append(s, c)
			}
		}
		sets = append(sets, s)
	}
	for _, n := range near {
		s := slices.DeleteFunc(slices.Clone(p.plans[n.doc]), func(c int) bool { return !p.menu.has(c) })
		if len(s) > 0 {
			slices.Sort(s)
			sets = append(sets, s)
		}
	}
	return sets
}

// support is the share of votes for a plan of just this set.
func (p *Planner) support(set []int, near []neighbour, votes []float64) float64 {
	sum := 0.0
	for i, n := range near {
		plan := p.plans[n.doc]
		if len(plan) == len(set) && !slices.ContainsFunc(plan, func(c int) bool { return !slices.Contains(set, c) }) {
			sum += votes[i]
		}
	}
	return sum
}

func logit(p float64) float64 {
	p = min(max(p, doubt), 1-doubt)
	return math.Log(p / (1 - p))
}
