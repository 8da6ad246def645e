package memory_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
)

// Whatever is written and forgotten, in whatever order: each key has one current fact in a place, everything that was ever
// said is behind it in one chain, and search finds what is current and nothing else.
func TestChains(t *testing.T) {
	m := open(t)
	tries := 0
	rapid.Check(t, func(t *rapid.T) {
		tries++
		places := []memory.Place{{Scope: memory.Plan, Of: fmt.Sprint("p", tries)}, {Scope: memory.Project, Of: fmt.Sprint("q", tries)}}
		said := map[string][]memory.Fact{} // by place and key, newest first
		for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
			f := memory.Fact{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), Place: rapid.SampledFrom(places).Draw(t, "place")}
			chain := said[f.Where()+f.Key]
			known := len(chain) > 0 && !chain[0].Forgotten
			var err error
			if rapid.IntRange(0, 2).Draw(t, "forget") == 0 {
				f.Why = "no longer so"
				if f, err = m.Forget(t.Context(), f); !known && fault.Is(err, fault.NotFound) {
					continue
				}
			} else {
				f.Value = memory.Value(fmt.Sprint("saying n", n))
				f, err = m.Set(t.Context(), f)
			}
			if err != nil {
				t.Fatal(err)
			}
			said[f.Where()+f.Key] = slices.Insert(chain, 0, f)
		}
		current := 0
		for _, chain := range said {
			checkChain(t, m, chain)
			if !chain[0].Forgotten {
				current++
			}
		}
		hits, err := m.Recall(t.Context(), memory.Ask{Text: "sayings", In: places})
		if err != nil || len(hits) != current {
			t.Fatalf("%d facts are found of %d that are current, %v", len(hits), current, err)
		}
	})
}

// checkChain compares what the store holds with what was said.
func checkChain(t *rapid.T, m *memory.Memory, said []memory.Fact) {
	got, err := m.History(t.Context(), said[0].Key, said[0].Place)
	if err != nil || len(got) != len(said) {
		t.Fatalf("%d facts in the history of %d, %v", len(got), len(said), err)
	}
	for i, f := range got {
		if f.ID != said[i].ID || string(f.Value) != string(said[i].Value) || f.Forgotten != said[i].Forgotten {
			t.Fatalf("fact %d is %+v, and was %+v", i, f, said[i])
		}
		behind := int64(0)
		if i+1 < len(said) {
			behind = said[i+1].ID
		}
		if f.Supersedes != behind {
			t.Fatalf("fact %d supersedes %d, not %d", f.ID, f.Supersedes, behind)
		}
	}
}
