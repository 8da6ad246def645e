//go:build unix

package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// meter adds a capability that counts its calls, and one that makes nested ones.
func meter(calls *atomic.Int64, nested int) func(*capability.Registry) error {
	contract := func(id string) capability.Contract {
		return capability.Contract{ID: id, Version: "1", Summary: "Count", Repeat: capability.Repeatable,
			Inputs: json.RawMessage(`{"type":"object"}`), Outputs: json.RawMessage(`{"type":"object"}`)}
	}
	return func(r *capability.Registry) error {
		if err := r.Add(contract("meter.count"), capability.RunnerFunc(func(context.Context, capability.Call) (capability.Result, error) {
			calls.Add(1)
			return capability.Result{}, nil
		})); err != nil {
			return err
		}
		return r.Add(contract("meter.nest"), capability.RunnerFunc(func(ctx context.Context, c capability.Call) (capability.Result, error) {
			calls.Add(1)
			for range nested {
				settle, err := c.Reserve(ctx, budget.Amount{Calls: 1, Tokens: 100})
				if err != nil {
					return capability.Result{}, err
				}
				calls.Add(1)
				settle(budget.Amount{Calls: 1, Tokens: 10})
			}
			return capability.Result{Spent: budget.Amount{Tokens: 1}}, nil
		}))
	}
}

// home opens a home with a meter.
func home(t *testing.T, dir string, now func() time.Time, calls *atomic.Int64) *assembly.House {
	t.Helper()
	h, err := assembly.Open(t.Context(), assembly.Options{Home: filepath.Join(dir, ".cairn"), Root: dir, Version: "test", Now: now, Extend: meter(calls, 3)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// submit hands a plan in and names its run.
func submit(t *testing.T, h *assembly.House, text string) string {
	t.Helper()
	p, faults := plan.Read("plan.yaml", []byte(text), plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	name, err := h.Engine.Submit(t.Context(), p, "plan.yaml", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// drive carries a plan on for as long as it goes by itself.
func drive(t *testing.T, h *assembly.House, name string) *lifecycle.State {
	t.Helper()
	r, err := h.Engine.Open(t.Context(), name)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Close()
	if err := (&local.Driver{Yes: "person:ann", Poll: 5 * time.Millisecond}).Drive(t.Context(), r); err != nil {
		t.Error(err)
	}
	return r.State
}

func hundred() string {
	list := "[1"
	for i := 2; i <= 100; i++ {
		list += fmt.Sprint(",", i)
	}
	return list + "]"
}

// A budget of N calls over a fan-out of 100 with 16 workers: never one call more.
func TestNeverOneCallMore(t *testing.T) {
	var calls atomic.Int64
	h := home(t, t.TempDir(), time.Now, &calls)
	name := submit(t, h, "plan: fan\npolicy: {workers: 16, budget: {calls: 37}}\ntasks:\n  - {id: f, uses: meter.count, each: '"+hundred()+"'}\n")
	st := drive(t, h, name)
	if calls.Load() != 37 || !st.OnlyPeople() {
		t.Fatalf("%d calls were made of 37, and the plan is %s", calls.Load(), st.State())
	}
	if drive(t, h, name); calls.Load() != 37 {
		t.Fatalf("going on made %d calls of 37", calls.Load())
	}
	raise := engine.Command{Name: engine.Raise, Budget: &budget.Amount{Calls: 20}, Why: "more"}
	if err := h.Engine.Do(t.Context(), name, "person:ann", raise); err != nil {
		t.Fatal(err)
	}
	if drive(t, h, name); calls.Load() != 57 {
		t.Fatalf("%d calls were made of 57", calls.Load())
	}
	if err := h.Engine.Do(t.Context(), name, "person:ann", engine.Command{Name: engine.Deny, Why: "enough"}); err != nil {
		t.Fatal(err)
	}
	st, _, err := h.Engine.Load(t.Context(), name)
	if err != nil || st.Phase != lifecycle.PlanFailed || calls.Load() != 57 {
		t.Errorf("refused it is %s after %d calls (%v)", st.Phase, calls.Load(), err)
	}
	if err := h.Engine.Do(t.Context(), name, "person:ann", engine.Command{Name: engine.Raise}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a raise by nothing: %v", err)
	}
}

func TestNestedCallsArePaidFor(t *testing.T) {
	var calls atomic.Int64
	h := home(t, t.TempDir(), time.Now, &calls)
	name := submit(t, h, "plan: nest\npolicy: {workers: 1, budget: {calls: 6}}\ntasks:\n  - {id: a, uses: meter.nest}\n  - {id: b, uses: meter.nest, needs: [a]}\n")
	st := drive(t, h, name)
	a, _ := st.Account("a")
	if calls.Load() != 6 || a.Spent.Calls != 4 || a.Spent.Tokens != 31 {
		t.Fatalf("%d calls were made of 6; %+v", calls.Load(), a.Spent)
	}
	if b, _ := st.Task("b"); b.Wait != lifecycle.ForBudget {
		t.Fatalf("b is %s for %s", b.Status, b.Wait)
	}
	if all, _ := st.Account(""); all.Spent.Calls != 6 || all.Waiting != 1 {
		t.Errorf("%+v", all)
	}
}

// A chain of capabilities pays for each of them.
func TestChainsPayForTheirCalls(t *testing.T) {
	for budget, made := range map[string]int64{"budget: {calls: 3}": 3, "budget: {calls: 2}": 2, "workers: 2": 3} {
		var calls atomic.Int64
		h := home(t, t.TempDir(), time.Now, &calls)
		name := submit(t, h, "plan: chain\npolicy: {"+budget+"}\ntasks:\n  - {id: a, run: 'meter.count() -> x; meter.count() -> y'}\n")
		st := drive(t, h, name)
		if a, _ := st.Account(""); a.Spent.Calls != made || calls.Load() != made-1 || (st.Phase == lifecycle.PlanCompleted) != (made == 3) {
			t.Errorf("%s: %d calls, charged %+v, the plan is %s", budget, calls.Load(), a.Spent, st.Phase)
		}
	}
}

// Two processes on one home share what a day may spend, and the next day is another.
func TestTwoPlansShareADay(t *testing.T) {
	var calls atomic.Int64
	var clock atomic.Int64
	clock.Store(time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	dir := t.TempDir()
	houses := []*assembly.House{home(t, dir, now, &calls), home(t, dir, now, &calls)}
	names := make([]string, 2)
	for i, h := range houses {
		names[i] = submit(t, h, fmt.Sprintf("plan: fan%d\npolicy: {workers: 8, budget: {day: {calls: 25}}}\ntasks:\n  - {id: f, uses: meter.count, each: '%s'}\n", i, hundred()))
	}
	both := func() {
		var wg sync.WaitGroup
		for i, h := range houses {
			wg.Go(func() { drive(t, h, names[i]) })
		}
		wg.Wait()
	}
	if both(); calls.Load() != 25 {
		t.Fatalf("%d calls were made of 25", calls.Load())
	}
	if both(); calls.Load() != 25 {
		t.Fatalf("going on made %d calls of 25", calls.Load())
	}
	if err := houses[0].Engine.RaiseDay(t.Context(), names[0], "person:ann", budget.Amount{Calls: 5}, "more"); err != nil {
		t.Fatal(err)
	}
	if both(); calls.Load() != 30 {
		t.Fatalf("%d calls were made of 30", calls.Load())
	}
	clock.Add(int64(24 * time.Hour))
	if both(); calls.Load() != 55 {
		t.Fatalf("%d calls were made by the end of the next day, of 30 and 25", calls.Load())
	}
	if err := houses[1].Engine.DenyDay(t.Context(), names[1], "person:ann", "enough"); err != nil {
		t.Fatal(err)
	}
	st, _, err := houses[1].Engine.Load(t.Context(), names[1])
	if err != nil || st.Phase != lifecycle.PlanFailed {
		t.Errorf("refused it is %s (%v)", st.Phase, err)
	}
	r, limit, err := houses[0].Engine.Today(t.Context(), st.Plan)
	if err != nil || r.Spent.Calls != 25 || limit.Calls != 25 {
		t.Errorf("the day stands at %+v of %+v (%v)", r, limit, err)
	}
}

// An attempt that uses a budget of time up is ended, and waits for more instead of failing.
func TestOutOfTime(t *testing.T) {
	var calls atomic.Int64
	h := home(t, t.TempDir(), time.Now, &calls)
	name := submit(t, h, "plan: slow\ntasks:\n  - {id: a, uses: shell, run: 'test -e enough || exec sleep 60', budget: {time: 50ms}}\n")
	st := drive(t, h, name)
	if a, _ := st.Account("a"); a.Waiting != 1 || a.Short != budget.Time || a.Spent.Calls != 1 {
		t.Fatalf("%+v", a)
	}
	if err := h.Engine.Do(t.Context(), name, "person:ann", engine.Command{Name: engine.Raise, Task: "a", Budget: &budget.Amount{Calls: 1}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("calls have no limit: %v", err)
	}
}
