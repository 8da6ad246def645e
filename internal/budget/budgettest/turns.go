package budgettest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
)

// OpenTurns opens one place; called again it opens the same place as another process would.
type OpenTurns func(t *testing.T) budget.Turns

// RunTurns checks a book of turns. place makes a new, empty one.
func RunTurns(t *testing.T, place func(t *testing.T) OpenTurns) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, open OpenTurns)
	}{
		{"wait", testWait},
		{"too late", testTooLate},
		{"cancel", testCancel},
		{"longer stretches", testLonger},
		{"many at once", testMany},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, place(t)) })
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// asks is somebody who wants a turn so many seconds after noon.
type asks struct {
	who string
	at  int
	by  int // 0: whenever
}

// book wants a turn, and checks the second in which it comes and what it had to wait for.
func book(t *testing.T, b budget.Turns, a asks, want string, claims ...budget.Claim) {
	t.Helper()
	var by time.Time
	if a.by > 0 {
		by = noon.Add(time.Duration(a.by) * time.Second)
	}
	got, err := b.Book(t.Context(), a.who, noon.Add(time.Duration(a.at)*time.Second), by, claims)
	if s := fmt.Sprint(got.At.Sub(noon).Seconds(), " ", got.Key); err != nil || s != want {
		t.Errorf("%s has a turn at %s (%v), want %s", a.who, s, err, want)
	}
}

func per(key string, times int, stretch time.Duration) budget.Claim {
	return budget.Claim{Key: key, Times: times, Per: stretch}
}

func testWait(t *testing.T, open OpenTurns) {
	one, two := open(t), open(t)
	api, all := per("api", 2, time.Minute), per("*", 3, time.Minute)
	book(t, one, asks{who: "p a"}, "0 ", api, all)
	book(t, two, asks{who: "q a", at: 1}, "1 ", api, all)
	book(t, one, asks{who: "p b", at: 2}, "60 api", api, all)
	book(t, two, asks{who: "p c", at: 2}, "2 ", all) // one who waits for api does not stand in its way
	book(t, two, asks{who: "q b", at: 3}, "61 *", all)
	book(t, two, asks{who: "p d", at: 3}, "3 ", per("other", 1, time.Minute))
	got, err := two.Waiting(t.Context(), "p ", noon.Add(3*time.Second))
	want := budget.Waiter{Key: "api", Who: "p b", At: noon.Add(time.Minute)}
	if err != nil || len(got) != 1 || got[0].Key != want.Key || got[0].Who != want.Who || !got[0].At.Equal(want.At) {
		t.Errorf("%+v wait (%v)", got, err)
	}
	if got, err = one.Waiting(t.Context(), "p ", noon.Add(time.Minute)); err != nil || len(got) > 0 {
		t.Errorf("%+v wait still (%v)", got, err)
	}
}

func testTooLate(t *testing.T, open OpenTurns) {
	b, api := open(t), per("api", 1, time.Minute)
	book(t, b, asks{who: "a"}, "0 ", api)
	book(t, b, asks{who: "b", at: 1, by: 59}, "60 api", api)
	book(t, b, asks{who: "c", at: 1, by: 60}, "60 api", api) // nobody has it
	book(t, b, asks{who: "d", at: 1}, "120 api", api)
}

func testCancel(t *testing.T, open OpenTurns) {
	b, api, all := open(t), per("api", 1, time.Minute), per("*", 2, time.Minute)
	book(t, b, asks{who: "a"}, "0 ", api, all)
	book(t, b, asks{who: "b"}, "60 api", api, all)
	for range 2 {
		if err := open(t).Cancel(t.Context(), "b", noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Cancel(t.Context(), "c", noon); err != nil { // that one is of a
		t.Fatal(err)
	}
	book(t, b, asks{who: "c", at: 1}, "60 api", api, all)
}

// testLonger has plans that count by different stretches under one key.
func testLonger(t *testing.T, open OpenTurns) {
	b, quick, slow := open(t), per("api", 1, time.Second), per("api", 3, time.Hour)
	book(t, b, asks{who: "a"}, "0 ", slow)
	for at := 1; at <= 2; at++ {
		book(t, b, asks{who: "b", at: at}, fmt.Sprint(at, " "), quick)
	}
	book(t, b, asks{who: "c", at: 10}, "3600 api", slow)
	book(t, b, asks{who: "d", at: 10}, "10 ", quick)
	book(t, b, asks{who: "e", at: 3600 * 3}, "10800 ", quick, slow)
}

// testMany has two processes with many workers each book all they want, and counts every stretch.
func testMany(t *testing.T, open OpenTurns) {
	const times, stretch = 7, time.Minute
	var mu sync.Mutex
	var all []time.Time
	var wg sync.WaitGroup
	for p, b := range []budget.Turns{open(t), open(t)} {
		for w := range 4 {
			wg.Go(func() {
				for n := range 8 {
					got, err := b.Book(t.Context(), fmt.Sprint(p, w, n), noon.Add(time.Duration(n)*time.Second), time.Time{}, []budget.Claim{per("api", times, stretch)})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					all = append(all, got.At)
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	slices.SortFunc(all, time.Time.Compare)
	for i := range all[:len(all)-times] {
		if all[i+times].Sub(all[i]) < stretch {
			t.Fatalf("%d turns from %s to %s", times+1, all[i], all[i+times])
		}
	}
}
