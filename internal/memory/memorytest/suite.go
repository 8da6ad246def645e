// Package memorytest is the contract of a store of facts: what every implementation does, so that a key has one current fact
// in a place however many write, and nothing that was known is lost.
package memorytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/memory"
)

// Open opens one place; called again it opens the same place as another process would.
type Open func(t *testing.T) memory.Store

var (
	start   = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	project = memory.Place{Scope: memory.Project, Of: ".."}
	global  = memory.Place{Scope: memory.Global}
	both    = []memory.Place{project, global}
)

// Run checks an implementation. place makes a new, empty one.
func Run(t *testing.T, place func(t *testing.T) Open) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"all of a fact comes back", testWhole},
		{"a newer fact stands in front", testSupersede},
		{"the same effect is written once", testEffect},
		{"places do not mix", testPlaces},
		{"only what is current is found", testMatch},
		{"best first", testOrder},
		{"common words", testCommon},
		{"Korean", testKorean},
		{"two processes", testTwo},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, place(t)) })
	}
}

func fact(key, text string) memory.Fact {
	return memory.Fact{Key: key, Value: memory.Value(text), Place: project, Confidence: 1, Time: start, Author: "person:ann"}
}

func put(t *testing.T, s memory.Store, f memory.Fact) memory.Fact {
	t.Helper()
	got, err := s.PutFact(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func history(t *testing.T, s memory.Store, key string, p memory.Place) []memory.Fact {
	t.Helper()
	all, err := s.Facts(t.Context(), key, p)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// found lists the keys that a question finds, as another process sees it.
func found(t *testing.T, open Open, question string, in ...memory.Place) []string {
	t.Helper()
	words, pairs := memory.Terms(question)
	m, err := open(t).MatchFacts(t.Context(), memory.Query{Terms: append(words, pairs...), In: in, Alive: start, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range m.Facts {
		keys = append(keys, f.Key)
	}
	return keys
}

func same(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func testWhole(t *testing.T, open Open) {
	f := fact("a.b", `{"x": [1, "two", null]}`)
	f.Confidence, f.Expires, f.Effect = 0.805, start.Add(time.Hour), "e1"
	f.Source = memory.Source{Plan: "p", Task: "t", Execution: 2, Record: 7, Artifact: "out", Hash: digest.Sum([]byte("x")), Note: "said so"}
	got := put(t, open(t), f)
	if f.ID = got.ID; f.ID == 0 {
		t.Error("it has no id")
	}
	same(t, history(t, open(t), "a.b", project), []memory.Fact{f})
}

func testSupersede(t *testing.T, open Open) {
	s := open(t)
	first := put(t, s, fact("k", "one"))
	second := put(t, open(t), fact("k", "two"))
	gone := fact("k", "")
	gone.Value, gone.Forgotten, gone.Why = nil, true, "it was wrong"
	third := put(t, s, gone)
	if second.Supersedes != first.ID || third.Supersedes != second.ID || first.Supersedes != 0 {
		t.Errorf("%d <- %d <- %d is no chain", first.Supersedes, second.Supersedes, third.Supersedes)
	}
	same(t, history(t, open(t), "k", project), []memory.Fact{third, second, first})
	same(t, found(t, open, "one two", project), []string(nil))
	keys, err := s.FactKeys(t.Context(), both)
	if err != nil || len(keys) != 0 {
		t.Errorf("a forgotten key is still listed: %v %v", keys, err)
	}
	fourth := put(t, s, fact("k", "three"))
	if fourth.Supersedes != third.ID {
		t.Error("what was forgotten cannot be learnt again")
	}
	same(t, found(t, open, "three", project), []string{"k"})
}

func testEffect(t *testing.T, open Open) {
	f := fact("k", "one")
	f.Effect = "call-1"
	first := put(t, open(t), f)
	put(t, open(t), fact("k", "two"))
	f.Value = memory.Value("one, tried again")
	same(t, put(t, open(t), f), first)
	if all := history(t, open(t), "k", project); len(all) != 2 || string(all[0].Value) != `"two"` {
		t.Errorf("a retry wrote again: %+v", all)
	}
}

func testPlaces(t *testing.T, open Open) {
	s := open(t)
	for _, p := range []memory.Place{project, global, {Scope: memory.Project, Of: "../other"}, {Scope: memory.Plan, Of: "release"}} {
		f := fact("region", "north")
		f.Place = p
		put(t, s, f)
	}
	if n := len(history(t, s, "region", project)); n != 1 {
		t.Errorf("%d facts in one place", n)
	}
	same(t, found(t, open, "north", both...), []string{"region", "region"})
	same(t, found(t, open, "north"), []string(nil))
	keys, err := s.FactKeys(t.Context(), both)
	if err != nil || !slices.Equal(keys, []string{"region"}) {
		t.Error(keys, err)
	}
}

func testMatch(t *testing.T, open Open) {
	s := open(t)
	late := fact("old.host", "the mirror in the cellar")
	late.Expires = start
	put(t, s, late)
	later := fact("new.host", "the mirror in the attic")
	later.Expires = start.Add(1)
	put(t, s, later)
	same(t, found(t, open, "mirrors", project), []string{"new.host"})
	put(t, s, fact("new.host", "the printer"))
	same(t, found(t, open, "mirror", project), []string(nil))
	same(t, found(t, open, "host", project), []string{"new.host"})
	same(t, found(t, open, `"NEAR( AND * ^ 'x" --`, project), []string(nil))
}

func testOrder(t *testing.T, open Open) {
	s := open(t)
	put(t, s, fact("a", "the database is backed up at night, and the logs are kept beside it for a month or two"))
	put(t, s, fact("b", "the database password rotates"))
	put(t, s, fact("c", "lunch is at noon"))
	put(t, s, fact("d", "dinner is at eight"))
	same(t, found(t, open, "database password", project), []string{"b", "a"})
}

// testCommon has a word in so many facts that no ranking follows all of them: the newest answer.
func testCommon(t *testing.T, open Open) {
	s := open(t)
	for n := range 40 {
		put(t, s, fact(fmt.Sprintf("service.n%02d", n), "the service is up"))
	}
	if got := found(t, open, "service up", project); len(got) != 10 {
		t.Errorf("%d found, of 40 that fit", len(got))
	}
}

func testKorean(t *testing.T, open Open) {
	s := open(t)
	put(t, s, fact("배포.지역", "배포는 서울 리전에서 한다"))
	put(t, s, fact("백업", "데이터베이스를 매일 새벽에 백업한다"))
	for question, want := range map[string]string{"서울에서 배포": "배포.지역", "데이터베이스가": "백업", "새벽": "백업", "배포": "배포.지역"} {
		if got := found(t, open, question, project); len(got) == 0 || got[0] != want {
			t.Errorf("%s finds %v, not %s", question, got, want)
		}
	}
}

// testTwo has two processes with many workers write the same keys: every chain stays one.
func testTwo(t *testing.T, open Open) {
	const workers, each = 4, 10
	var wg sync.WaitGroup
	for p, s := range []memory.Store{open(t), open(t)} {
		for w := range workers {
			wg.Go(func() {
				for n := range each {
					if _, err := s.PutFact(t.Context(), fact(fmt.Sprint("key", n%3), fmt.Sprint("said ", p, w, n))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	s, total := open(t), 0
	for n := range 3 {
		all := history(t, s, fmt.Sprint("key", n), project)
		total += len(all)
		for i, f := range all {
			before := int64(0)
			if i+1 < len(all) {
				before = all[i+1].ID
			}
			if f.Supersedes != before {
				t.Errorf("fact %d supersedes %d, and %d stands behind it", f.ID, f.Supersedes, before)
			}
		}
	}
	if want := 2 * workers * each; total != want {
		t.Errorf("%d facts are there of %d", total, want)
	}
	if got := found(t, open, "said", project); len(got) != 3 {
		t.Errorf("%d current facts of 3 keys", len(got))
	}
}
