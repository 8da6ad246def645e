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
	posted [][]posting // for each term the capabilities that have it, in order
	known  [][]term    // for each capability the terms it is known by, in order of name
	tags   [][]int     // for each capability the numbers of its tags
	worn   []float64   // for each tag how many capabilities wear it
	looks  []bool      // for each capability whether its name says that it only looks
}

// What the descriptions of the menu count.
const (
	nameWeight = 3.0  // of a word in a name against one in a description
	tagWeight  = 0.5  // and of one in a tag
	kinWeight  = 1.2  // of the sense of a word against the word itself
	lengthPull = 0.95 // how much a long description is held back
)

func newMenu(tools []Tool, number map[string]int) *menu {
	n := len(number)
	m := &menu{
		open: len(tools) == 0, offer: make([]bool, n), terms: map[string]int{},
		known: make([][]term, n), tags: make([][]int, n), looks: make([]bool, n),
	}
	kinds := map[string]int{}
	for _, t := range tools {
		c := number[t.ID]
		m.offer[c] = true
		m.known[c] = describe(t)
		m.looks[c] = slices.ContainsFunc(read(spaced(t.ID)), func(k token) bool { return slices.Contains(senses[k.form], looking) })
		for _, tag := range t.Tags {
			k, ok := kinds[tag]
			if !ok {
				k = len(kinds)
				kinds[tag] = k
				m.worn = append(m.worn, 0)
			}
			m.worn[k]++
			m.tags[c] = append(m.tags[c], k)
		}
	}
	m.post(len(tools))
	return m
}

// post lists for each term who is known by it. A term that many are known by tells little.
func (m *menu) post(tools int) {
	var seenIn []int
	for _, known := range m.known {
		for _, w := range known {
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
		m.idf = append(m.idf, math.Log(1+(float64(tools-df)+0.5)/(float64(df)+0.5)))
	}
	m.posted = make([][]posting, len(seenIn))
	for c, known := range m.known {
		sum := 0.0
		for _, w := range known {
			sum += math.Pow(w.weight*m.idf[m.terms[w.name]], 2)
		}
		length := math.Pow(sum, lengthPull/2)
		for _, w := range known {
			n := m.terms[w.name]
			m.posted[n] = append(m.posted[n], posting{int32(c), float32(w.weight * m.idf[n] / length)})
		}
	}
}

// term is a word, or a sense that words share, and its weight.
type term struct {
	name   string
	weight float64
	acts   bool // it says what is done, and not to what
}

// describe weighs the terms that a tool is known by, in order of name.
func describe(t Tool) []term {
	best := map[string]term{}
	add := func(text string, weight float64) {
		for _, k := range read(text) {
			for _, w := range termsOf(k.form) {
				w.weight *= weight
				if w.weight > best[w.name].weight {
					best[w.name] = w
				}
			}
		}
	}
	add(spaced(t.ID), nameWeight)
	add(t.Description, 1)
	for _, tag := range t.Tags {
		add(tag, tagWeight)
	}
	all := make([]term, 0, len(best))
	for _, w := range best {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b term) int { return strings.Compare(a.name, b.name) })
	return all
}

// spaced makes words of a dotted name.
func spaced(id string) string { return strings.ReplaceAll(id, ".", " ") }

// termsOf is a word and its senses; an idle word has none.
func termsOf(form string) []term {
	if idle[form] {
		return nil
	}
	all := []term{{name: form, weight: 1, acts: acts(form)}}
	for _, n := range senses[form] {
		all = append(all, term{name: "=" + strconv.Itoa(n), weight: kinWeight, acts: n < len(deeds)})
	}
	return all
}

// has reports whether a capability is on offer.
func (m *menu) has(c int) bool { return m.open || m.offer[c] }

// scores says how well each capability answers to the words.
func (m *menu) scores(g []token) []float64 {
	scores := make([]float64, len(m.offer))
	seen := map[int]bool{}
	for _, t := range g {
		for _, w := range termsOf(t.form) {
			n, ok := m.terms[w.name]
			if !ok || seen[n] {
				continue
			}
			seen[n] = true
			for _, p := range m.posted[n] {
				scores[p.doc] += w.weight * m.idf[n] * float64(p.weight)
			}
		}
	}
	return scores
}

// voices lists the words of a goal that answer to a capability.
func (m *menu) voices(g []token, capability int) []voice {
	var all []voice
	for i, t := range g {
		for _, w := range termsOf(t.form) {
			n, ok := m.terms[w.name]
			if !ok {
				continue
			}
			at, ok := slices.BinarySearchFunc(m.posted[n], int32(capability), func(p posting, c int32) int { return int(p.doc - c) })
			if ok {
				all = append(all, voice{i, w.weight * m.idf[n] * float64(m.posted[n][at].weight)})
			}
		}
	}
	return all
}
