package journaltest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

func testHold(t *testing.T, s Stores) {
	release, err := s.Hold("a")
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]Stores{"the same": s, "another": s.Again(t)} {
		_, err := other.Hold("a")
		wantCode(t, err, fault.Conflict)
		if pid := fmt.Sprint(os.Getpid()); !strings.Contains(err.Error(), pid) {
			t.Errorf("%s store's refusal does not name the holder's process %s: %v", name, pid, err)
		}
		free, err := other.Hold("b")
		if err != nil {
			t.Fatalf("a claim on one plan keeps others from another: %v", err)
		}
		free()
	}
	release()
	release() // once more is no harm, not even to the next holder
	again, err := s.Again(t).Hold("a")
	if err != nil {
		t.Fatalf("a released plan is still held: %v", err)
	}
	release()
	if _, err := s.Hold("a"); !fault.Is(err, fault.Conflict) {
		t.Fatalf("an old release freed somebody else's claim: %v", err)
	}
	again()
}

// testHoldMany lets many fight for few plans: at no time two have one.
func testHoldMany(t *testing.T, s Stores) {
	const plans, fighters, rounds = 3, 8, 25
	stores := []Stores{s, s.Again(t)}
	held := make([]sync.Mutex, plans)
	together(t, fighters, func(i int) error {
		for won := 0; won < rounds; {
			p := (i + won) % plans
			release, err := stores[i%2].Hold(fmt.Sprint("계획/", p))
			if fault.Is(err, fault.Conflict) {
				continue
			}
			if err != nil {
				return err
			}
			if !held[p].TryLock() {
				return fmt.Errorf("two hold plan %d", p)
			}
			runtime.Gosched() // the others' chance
			held[p].Unlock()
			won++
			release()
		}
		return nil
	})
}

func testMailbox(t *testing.T, s Stores) {
	ask := journal.Command{
		Plan: "a", Time: time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.UTC),
		Actor: "person:ana", Name: "pause", Body: []byte(`{"why":"점심"}`),
	}
	id, err := s.Post(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	holder := s.Again(t)
	for plan, want := range map[string]int{"a": 1, "b": 0} {
		if got, err := holder.Pending(t.Context(), plan); err != nil || len(got) != want {
			t.Fatalf("%d commands wait for %s (%v), want %d", len(got), plan, err, want)
		}
	}
	got, err := s.Result(t.Context(), id)
	if err != nil || got.Done || got.Result != "" {
		t.Fatalf("an open command has the result %+v (%v)", got, err)
	}
	if got.ID != id || got.Plan != ask.Plan || !got.Time.Equal(ask.Time) || got.Actor != ask.Actor ||
		got.Name != ask.Name || string(got.Body) != string(ask.Body) {
		t.Errorf("posted %+v, read %+v", ask, got)
	}
	if err := holder.Resolve(t.Context(), id, string(fault.Denied), "not now"); err != nil {
		t.Fatal(err)
	}
	if err := holder.Resolve(t.Context(), id, "", "ok"); err != nil {
		t.Fatalf("resolving twice: %v", err)
	}
	got, err = s.Result(t.Context(), id)
	if err != nil || !got.Done || got.Code != string(fault.Denied) || got.Result != "not now" {
		t.Errorf("the first answer stands, got %+v (%v)", got, err)
	}
	if got, err := holder.Pending(t.Context(), "a"); err != nil || len(got) != 0 {
		t.Errorf("a resolved command still waits: %v (%v)", got, err)
	}
	_, err = s.Result(t.Context(), id+1000)
	wantCode(t, err, fault.NotFound)
	wantCode(t, s.Resolve(t.Context(), id+1000, "", "ok"), fault.NotFound)
}

func testMailboxOrder(t *testing.T, s Stores) {
	const n = 40
	ids := make([]int64, n)
	stores := []Stores{s, s.Again(t)}
	together(t, n, func(i int) (err error) {
		ids[i], err = stores[i%2].Post(t.Context(), journal.Command{Plan: "a", Name: "resume", Time: time.Unix(0, 0)})
		return err
	})
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != n {
		t.Fatalf("ids are not unique: %v", ids)
	}
	got, err := s.Pending(t.Context(), "a")
	if err != nil || len(got) != n {
		t.Fatalf("%d commands wait (%v), want %d", len(got), err, n)
	}
	for i, c := range got {
		if c.ID != ids[i] {
			t.Fatalf("command %d comes at place %d", c.ID, i)
		}
	}
}
