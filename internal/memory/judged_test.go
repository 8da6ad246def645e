package memory_test

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cairn-plan/cairn/internal/memory"
)

// judged is a collection with relevance judgements, in testdata/judged.txt.
type judged struct {
	facts []memory.Fact
	asks  []ask
}

type ask struct {
	text string
	good map[string]float64 // by key
}

func readJudged(t testing.TB) (j judged) {
	t.Helper()
	b, err := os.ReadFile("testdata/judged.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		p := strings.Split(strings.TrimSpace(line), " | ")
		switch {
		case strings.HasPrefix(line, "#") || len(p) != 3:
			continue
		case p[0] == "ask":
			a := ask{p[1], map[string]float64{}}
			for pair := range strings.FieldsSeq(p[2]) {
				key, grade, _ := strings.Cut(pair, "=")
				a.good[key] = number(t, grade)
			}
			j.asks = append(j.asks, a)
		default:
			j.facts = append(j.facts, memory.Fact{Key: p[0], Value: memory.Value(p[2]), Place: project, Confidence: 1,
				Time: noon.Add(-time.Duration(number(t, p[1])) * 24 * time.Hour)})
		}
	}
	return j
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ndcg is the normalised discounted cumulative gain of the first ten.
func (a ask) ndcg(keys []string) float64 {
	gain := func(grades []float64) (sum float64) {
		for i, g := range grades[:min(len(grades), 10)] {
			sum += (math.Pow(2, g) - 1) / math.Log2(float64(i)+2)
		}
		return sum
	}
	var got, best []float64
	for _, k := range keys {
		got = append(got, a.good[k])
	}
	for _, g := range a.good {
		best = append(best, g)
	}
	slices.SortFunc(best, func(x, y float64) int { return cmp.Compare(y, x) })
	return gain(got) / gain(best)
}

// mean is the nDCG@10 over all questions of a way to find.
func (j judged) mean(t *testing.T, find func(text string) []memory.Fact) (mean float64) {
	t.Helper()
	for _, a := range j.asks {
		var keys []string
		for _, f := range find(a.text) {
			keys = append(keys, f.Key)
		}
		mean += a.ndcg(keys) / float64(len(j.asks))
	}
	return mean
}

func (j judged) recall(t *testing.T, m *memory.Memory) float64 {
	return j.mean(t, func(text string) (facts []memory.Fact) {
		hits, err := m.Recall(t.Context(), memory.Ask{Text: text, In: m.Seen("")})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			facts = append(facts, h.Fact)
		}
		return facts
	})
}

// Recall answers the questions of the collection better than the full text search that it builds on.
func TestRecallBesideBM25(t *testing.T) {
	m := open(t)
	j := readJudged(t)
	if len(j.facts) < 60 || len(j.asks) < 40 {
		t.Fatalf("read %d facts and %d questions", len(j.facts), len(j.asks))
	}
	for _, f := range j.facts {
		if _, err := m.Store.PutFact(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	plain := j.mean(t, func(text string) []memory.Fact {
		words, pairs := memory.Terms(text)
		got, err := m.Store.MatchFacts(t.Context(), memory.Query{Terms: append(words, pairs...), In: m.Seen(""), Alive: noon, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return got.Facts
	})
	bare := j.mean(t, j.bm25)
	fused := j.recall(t, m)
	m.Embed = grams{}
	with := j.recall(t, m)
	t.Logf("nDCG@10 of %d questions: BM25 over bare words %.3f, over our terms %.3f, recall %.3f, with letter n-grams %.3f", len(j.asks), bare, plain, fused, with)
	if fused < plain || fused < bare+0.05 {
		t.Errorf("recall reaches %.3f, BM25 over our terms %.3f, over bare words %.3f", fused, plain, bare)
	}
}

// bm25 is the plain thing: words as they are written, in small letters, key and value as one text.
func (j judged) bm25(text string) []memory.Fact {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	seen, total := map[string]float64{}, 0.0
	docs := make([]map[string]float64, len(j.facts))
	length := make([]float64, len(j.facts))
	for i, f := range j.facts {
		docs[i] = map[string]float64{}
		for _, w := range words(f.Key + " " + memory.Text(f.Value)) {
			if docs[i][w]++; docs[i][w] == 1 {
				seen[w]++
			}
			length[i]++
			total++
		}
	}
	n := float64(len(docs))
	score := map[string]float64{}
	for i, f := range j.facts {
		for _, w := range words(text) {
			idf := math.Log(1 + (n-seen[w]+0.5)/(seen[w]+0.5))
			score[f.Key] += idf * docs[i][w] * 2.2 / (docs[i][w] + 1.2*(0.25+0.75*length[i]*n/total))
		}
	}
	found := slices.DeleteFunc(slices.Clone(j.facts), func(f memory.Fact) bool { return score[f.Key] == 0 })
	slices.SortStableFunc(found, func(a, b memory.Fact) int { return cmp.Compare(score[b.Key], score[a.Key]) })
	return found[:min(len(found), 10)]
}

// grams is an embedder without a trained table: letters in threes and fours, hashed.
type grams struct{}

func (grams) Embed(_ context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 512)
		r := []rune(" " + strings.ToLower(text) + " ")
		for n := 3; n <= 4; n++ {
			for at := range max(len(r)-n+1, 0) {
				h := fnv.New32a()
				h.Write([]byte(string(r[at : at+n])))
				v[h.Sum32()%512]++
			}
		}
		all[i] = v
	}
	return all, nil
}
