package experience

import (
	"math"
	"slices"
)

// index finds the past goals that read most like a text: TF-IDF over words and pairs of words, compared by cosine,
// by way of the features of the text only.
type index struct {
	features map[string]int
	idf      []float64
	posted   [][]posting // for each feature the cases that have it
	vectors  []vector    // for each case
}

// rareness is how much it counts that a word is rare. At 1, names and other chance words would drown those that say
// what is wanted.
const rareness = 0.6

// usual is about the length of a goal of some thirty words, before it is made one.
const usual = 10

type posting struct {
	doc    int32
	weight float32
}

// vector is a text as weights of features, in order of the feature's number, of length one.
type vector []weighted

type weighted struct {
	feature int
	weight  float64
	says    float64 // its weight as evidence: a long goal holds several wishes, each in words of its own
	at      int     // where the feature stands first
}

type neighbour struct {
	doc      int
	likeness float64
}

func newIndex(cases []Case) *index {
	x := &index{features: map[string]int{}}
	words := make([][]token, len(cases))
	var seenIn, last []int // for each feature: how many cases have it, and the last that did
	for d, c := range cases {
		words[d] = read(c.Goal)
		names, _ := features(words[d])
		for _, f := range names {
			n, ok := x.features[f]
			if !ok {
				n = len(seenIn)
				x.features[f] = n
				seenIn, last = append(seenIn, 0), append(last, -1)
			}
			if last[n] != d {
				last[n] = d
				seenIn[n]++
			}
		}
	}
	x.idf = make([]float64, len(seenIn))
	for n, df := range seenIn {
		x.idf[n] = math.Pow(1+math.Log(float64(1+len(cases))/float64(1+df)), rareness)
	}
	x.posted = make([][]posting, len(seenIn))
	for d := range cases {
		v := x.vector(words[d])
		x.vectors = append(x.vectors, v)
		for _, w := range v {
			x.posted[w.feature] = append(x.posted[w.feature], posting{int32(d), float32(w.weight)})
		}
	}
	return x
}

// features names what is compared of a text, and where each stands: its words, and its pairs of neighbouring words.
func features(tokens []token) ([]string, []int) {
	var all []string
	var at []int
	for i, t := range tokens {
		all, at = append(all, t.form), append(at, t.at)
		if i > 0 {
			all, at = append(all, tokens[i-1].form+" "+t.form), append(at, t.at)
		}
	}
	return all, at
}

// vector weighs the known features of a text.
func (x *index) vector(tokens []token) vector {
	names, at := features(tokens)
	counts := map[int]int{}
	first := map[int]int{}
	var order []int
	for i, name := range names {
		f, ok := x.features[name]
		if !ok {
			continue
		}
		if counts[f] == 0 {
			order = append(order, f)
			first[f] = at[i]
		}
		counts[f]++
	}
	slices.Sort(order)
	v := make(vector, 0, len(order))
	sum := 0.0
	for _, f := range order {
		w := (1 + math.Log(float64(counts[f]))) * x.idf[f]
		sum += w * w
		v = append(v, weighted{feature: f, weight: w, at: first[f]})
	}
	norm := math.Sqrt(sum)
	for i := range v {
		v[i].says = v[i].weight / math.Sqrt(norm*usual)
		v[i].weight /= norm
	}
	return v
}

// likenesses compares a text with every case.
func (x *index) likenesses(v vector) []float64 {
	scores := make([]float64, len(x.vectors))
	for _, w := range v {
		for _, p := range x.posted[w.feature] {
			scores[p.doc] += w.weight * float64(p.weight)
		}
	}
	return scores
}

// nearest finds the k cases most alike, most alike first; of equals the earlier.
func nearest(scores []float64, k int) []neighbour {
	var best []neighbour
	for d, s := range scores {
		if s <= 0 || len(best) == k && s <= best[k-1].likeness {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(n neighbour, s float64) int {
			if n.likeness >= s {
				return -1
			}
			return 1
		})
		if len(best) == k {
			best = best[:k-1]
		}
		best = slices.Insert(best, at, neighbour{d, s})
	}
	return best
}
