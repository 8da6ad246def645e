package experience

import "slices"

// capabilities lists every id that the cases and the menu name, sorted.
func capabilities(cases []Case, tools []Tool) []string {
	seen := map[string]bool{}
	var all []string
	add := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	for _, t := range tools {
		add(t.ID)
	}
	for _, c := range cases {
		for _, id := range c.Steps {
			add(id)
		}
	}
	slices.Sort(all)
	return all
}

const (
	mostCases = 5 // past goals that a draft names, and each of its steps
	mostWords = 4 // words that a step names
)

// draft writes down what was chosen and why.
func (p *Planner) draft(g []token, m memory) Draft {
	d := Draft{Steps: []Step{}, Links: p.links(m.chosen)}
	for _, n := range m.near[:min(len(m.near), mostCases)] {
		d.Cases = append(d.Cases, Near{p.cases[n.doc].ID, n.likeness})
	}
	for i, c := range m.chosen {
		s := Step{Capability: p.caps[c.cap], Likelihood: c.likelihood}
		for _, n := range m.near {
			if len(s.Cases) < mostCases && slices.Contains(p.plans[n.doc], c.cap) {
				s.Cases = append(s.Cases, p.cases[n.doc].ID)
			}
		}
		if len(m.near) > 0 {
			s.Words = p.words.speaking(g, m.vector, c.cap)
		} else {
			s.Words = loudest(g, p.menu.voices(g, c.cap))
		}
		if i == 0 || c.likelihood < d.Confidence {
			d.Confidence = c.likelihood
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}

// voice is how loudly the word at a place speaks for a capability.
type voice struct {
	at   int
	loud float64
}

// loudest lists the words that speak loudest, each once.
func loudest(g []token, all []voice) []string {
	slices.SortFunc(all, func(a, b voice) int { return descending(a.loud, b.loud, a.at, b.at) })
	var words []string
	for _, v := range all {
		if w := g[v.at].text; len(words) < mostWords && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}
