package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/memory/memorytest"
)

func TestMemory(t *testing.T) {
	memorytest.Run(t, func(t *testing.T) memorytest.Open {
		dir := t.TempDir()
		return func(t *testing.T) memory.Store { return open(t, dir) }
	})
}

// Beyond the bound no more of the index is followed: first the rarest terms, else the newest facts.
func TestSearchIsBounded(t *testing.T) {
	seen := map[string]int{"rare": 3, "some": 1200, "much": 1400, "all": 90_000}
	if got := followed([]string{"rare", "some", "much", "all"}, seen); !slices.Equal(got, []string{"rare", "some"}) {
		t.Error(got)
	}
	if got := followed([]string{"all"}, seen); len(got) != 0 {
		t.Error(got)
	}
	s := open(t, t.TempDir())
	fill(t, s, 3000, rand.New(rand.NewPCG(1, 2)))
	m := memory.Memory{Store: s, Now: func() time.Time { return someday }, Project: ".."}
	for text, want := range map[string]bool{"every": true, "every fact": true, "every fact n7": true, "every nowhere": true, "nowhere": false} {
		hits, err := m.Recall(t.Context(), memory.Ask{Text: text, In: m.Seen("")})
		if err != nil || len(hits) > 0 != want {
			t.Errorf("%q finds %d facts, %v", text, len(hits), err)
		}
	}
}

var someday = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// fill writes facts whose words are spread as in ordinary text: a few everywhere, most of them rare.
func fill(t testing.TB, s *Store, n int, r *rand.Rand) (texts []string) {
	t.Helper()
	words := rand.NewZipf(r, 1.1, 4, 30_000)
	const batch = 500
	for from := 0; from < n; from += batch {
		err := s.writer.do(context.Background(), func(c *conn) (error, error) {
			for i := from; i < min(from+batch, n); i++ {
				said := []string{"every", "fact"}
				for range 6 + r.IntN(18) {
					said = append(said, fmt.Sprint("w", words.Uint64()))
				}
				f := memory.Fact{ID: int64(i + 1), Key: fmt.Sprint("note.n", i), Value: memory.Value(strings.Join(said, " ")), Confidence: 1,
					Place: memory.Place{Scope: memory.Project, Of: ".."}, Time: someday.Add(-time.Duration(n-i) * time.Minute)}
				if err := insertFact(c, f, []byte("{}")); err != nil {
					return nil, err
				}
				texts = append(texts, strings.Join(said, " "))
			}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// BenchmarkRecall asks with two to five words of some fact among 100,000, and reports the time that 95 of 100 stay below.
func BenchmarkRecall(b *testing.B) {
	s := open(b, b.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	texts := fill(b, s, 100_000, r)
	m := memory.Memory{Store: s, Now: func() time.Time { return someday }, Project: ".."}
	var took []time.Duration
	for b.Loop() {
		said := strings.Fields(texts[r.IntN(len(texts))])
		r.Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
		began := time.Now()
		if _, err := m.Recall(context.Background(), memory.Ask{Text: strings.Join(said[:2+r.IntN(4)], " "), In: m.Seen("")}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
