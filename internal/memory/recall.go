package memory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Ask is a question to memory.
type Ask struct {
	Text  string
	In    []Place
	Limit int  // 10 unless set
	Stale bool // show what its source has outdated too, marked and last
}

// Hit is a fact that answers a question, and why it is thought to.
type Hit struct {
	Answer
	Score float64 `json:"score"`
	Found Found   `json:"found"`
}

// Found says why a fact was found: by which words, at which rank in which list, and how old it is.
type Found struct {
	Words []string       `json:"words"` // of the question
	Ranks map[string]int `json:"ranks"` // from 1
	Age   time.Duration  `json:"age"`
}

// The lists that are fused.
const (
	byText    = "text"    // BM25
	byCover   = "cover"   // how much of the question the fact speaks of, rare words first
	byVector  = "vector"  // likeness of meaning, where there is an Embedder
	byRecency = "recency" // the newest first
)

// weights say how much a list counts. A fact that is merely new must not pass one that answers the question, so recency
// settles near ties only.
var weights = map[string]float64{byText: 1, byCover: 1, byVector: 0.5, byRecency: 0.05}

// flatten is the constant of reciprocal rank fusion: how little the first places of a list differ.
const flatten = 60

// pool is how many facts are ranked at most: enough that the right one is among them.
const pool = 100

// Recall finds the facts that speak of what is asked, best first. What has expired is left out, and so is what its source
// has outdated unless it is asked for.
func (m *Memory) Recall(ctx context.Context, a Ask) ([]Hit, error) {
	terms, asked := question(a.Text)
	if len(terms) == 0 {
		return nil, fault.New(fault.Invalid, "%.40q has no word to look for", a.Text).Remedy("name what the fact is about")
	}
	if a.Limit <= 0 {
		a.Limit = 10
	}
	now := m.Now()
	got, err := m.Store.MatchFacts(ctx, Query{Terms: terms, In: a.In, Alive: now, Limit: max(pool, 2*a.Limit)})
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(got.Facts))
	weight := make([]float64, len(got.Facts))
	for i, f := range got.Facts {
		hits[i] = Hit{Answer: Answer{Fact: f}, Found: Found{Age: now.Sub(f.Time), Ranks: map[string]int{}}}
		for _, t := range f.shares(terms) {
			weight[i] += rarity(got.Seen[t], got.Total)
			if w := asked[t]; !slices.Contains(hits[i].Found.Words, w) {
				hits[i].Found.Words = append(hits[i].Found.Words, w)
			}
		}
	}
	rank(hits, byText, func(i int) float64 { return got.Score[i] })
	rank(hits, byCover, func(i int) float64 { return weight[i] })
	rank(hits, byRecency, func(i int) float64 { return -hits[i].Found.Age.Seconds() })
	if err := m.rankByMeaning(ctx, a.Text, hits); err != nil {
		return nil, err
	}
	fuse(hits)
	return m.stillStanding(ctx, hits, a)
}

// question lists the terms of a text, each once, with the word that it was asked by.
func question(text string) (terms []string, asked map[string]string) {
	asked = map[string]string{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
		words, pairs := Terms(word)
		for _, t := range append(words, pairs...) {
			if asked[t] == "" {
				asked[t], terms = word, append(terms, t)
			}
		}
	}
	return terms, asked
}

// shares lists which of the terms a fact holds.
func (f Fact) shares(terms []string) (shared []string) {
	words, pairs := Terms(f.Key + " " + Text(f.Value))
	has := make(map[string]bool, len(words)+len(pairs))
	for _, t := range append(words, pairs...) {
		has[t] = true
	}
	for _, t := range terms {
		if has[t] {
			shared = append(shared, t)
		}
	}
	return shared
}

// rarity is how much a term tells facts apart (the inverse document frequency of BM25).
func rarity(seen, total int) float64 {
	return math.Log(1 + (float64(max(total-seen, 0))+0.5)/(float64(seen)+0.5))
}

// rank writes the places in one list, best first. Equals share a place, so that a list which cannot tell facts apart does
// not pretend to.
func rank(hits []Hit, list string, score func(i int) float64) {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	for at, i := range order {
		place := at + 1
		if at > 0 && score(order[at-1]) == score(i) {
			place = hits[order[at-1]].Found.Ranks[list]
		}
		hits[i].Found.Ranks[list] = place
	}
}

// fuse sorts by the sum of what each list says (reciprocal rank fusion), less where the author was not sure.
func fuse(hits []Hit) {
	for i := range hits {
		sum := 0.0
		for _, list := range []string{byText, byCover, byVector, byRecency} {
			if at := hits[i].Found.Ranks[list]; at > 0 {
				sum += weights[list] / float64(flatten+at)
			}
		}
		hits[i].Score = sum * (0.5 + hits[i].Confidence/2)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
}

// stillStanding asks about sources from the best down, until there are enough.
func (m *Memory) stillStanding(ctx context.Context, hits []Hit, a Ask) ([]Hit, error) {
	var good, stale []Hit
	for _, h := range hits {
		if len(good) == a.Limit {
			break
		}
		why, err := m.outdated(ctx, h.Source)
		if err != nil {
			return nil, err
		}
		if h.Stale = why; why == "" {
			good = append(good, h)
		} else if a.Stale {
			stale = append(stale, h)
		}
	}
	return append(good, stale[:min(len(stale), a.Limit-len(good))]...), nil
}

// Text says in a line why a fact was found.
func (f Found) Text() string {
	lists := make([]string, 0, len(f.Ranks))
	for _, list := range []string{byText, byCover, byVector, byRecency} {
		if at := f.Ranks[list]; at > 0 {
			lists = append(lists, list+" "+itoa(int64(at)))
		}
	}
	return "words " + strings.Join(f.Words, " ") + "; rank " + strings.Join(lists, ", ") + "; " + age(f.Age) + " old"
}

// age is a duration in its largest unit.
func age(d time.Duration) string {
	for _, u := range []struct {
		is   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.is {
			return itoa(int64(d/u.is)) + u.name
		}
	}
	return itoa(int64(max(d, 0)/time.Second)) + "s"
}
