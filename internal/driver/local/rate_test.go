package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// starts is when a capability was called, by the clock of the test.
type starts struct {
	mu  sync.Mutex
	all []time.Time
}

func (s *starts) tool() tool {
	return tool{class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, time.Now())
		return capability.Result{}, nil
	}}
}

// within checks that no stretch has more starts than it may.
func (s *starts) within(t *testing.T, times int, per time.Duration) {
	t.Helper()
	slices.SortFunc(s.all, time.Time.Compare)
	for i := range len(s.all) - times {
		if s.all[i+times].Sub(s.all[i]) < per {
			t.Errorf("%d starts from %s to %s", times+1, s.all[i], s.all[i+times])
		}
	}
}

// paced is a home in which a capability named called is counted. That nothing goes on at its end is seen to by the bubble.
func paced(t *testing.T) (*bench, *starts) {
	s := &starts{}
	b := &bench{t: t, dir: t.TempDir(), tools: tools{"called": s.tool(), "echo": {class: capability.Repeatable, run: echo}}}
	b.reopen()
	b.engine.Turns = b.store
	t.Cleanup(func() { b.store.Close() })
	return b, s
}

// What is above a limit waits, and the waiting is no time of the attempts: neither of a budget, nor of a heartbeat.
func TestCallsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := paced(t)
		name := b.submit("plan: p\npolicy: {workers: 8, budget: {time: 1s}, limits: {'call*': 3/min}}\ntasks:\n" +
			"  - {id: f, uses: called, each: '[1,2,3,4,5,6,7,8]', heartbeat: 1s}\n  - {id: free, uses: echo}\n")
		began := time.Now()
		st, err := b.drive(name, &local.Driver{})
		if err != nil || st.Phase != lifecycle.PlanCompleted {
			t.Fatalf("%s: %v", st.State(), err)
		}
		s.within(t, 3, time.Minute)
		if len(s.all) != 8 || s.all[7].Sub(began) < 2*time.Minute {
			t.Errorf("%d starts, the last after %s", len(s.all), s.all[7].Sub(began))
		}
		for r, err := range b.engine.Records(t.Context(), name, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if f, err := lifecycle.FactOf(r); err == nil && r.Kind == lifecycle.TaskEnded && f.Body.(*lifecycle.Ended).Took > time.Second {
				t.Errorf("%s took %s", r.Task, f.Body.(*lifecycle.Ended).Took)
			}
		}
	})
}

// Two processes on one home keep a limit together, each with a policy of its own; of the plan's and the project's, the strictest holds.
func TestTwoProcessesKeepALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := paced(t)
		other := &bench{t: t, dir: b.dir, tools: b.tools}
		other.reopen()
		defer other.store.Close()
		other.engine.Turns = other.store
		for _, x := range []*bench{b, other} {
			x.engine.Policies = func() ([]policy.Source, error) {
				return []policy.Source{{Name: "cairn.yaml", Policy: &plan.Policy{Limits: map[string]plan.Rate{"called": {Times: 2, Per: time.Second}}}}, {Name: "the home"}}, nil
			}
		}
		var wg sync.WaitGroup
		for i, x := range []*bench{b, other} {
			name := x.submit(fmt.Sprintf("plan: p%d\npolicy: {workers: 4, limits: {Called: 5/min, called: 100/s}}\ntasks:\n  - {id: f, uses: called, each: '[1,2,3,4,5,6]'}\n", i))
			wg.Go(func() {
				if st, err := x.drive(name, &local.Driver{}); err != nil || st.Phase != lifecycle.PlanCompleted {
					t.Errorf("%s: %v", st.State(), err)
				}
			})
		}
		wg.Wait()
		if len(s.all) != 12 {
			t.Errorf("%d starts", len(s.all))
		}
		s.within(t, 2, time.Second)
		s.within(t, 5, time.Minute)
	})
}

func TestATurnThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := paced(t)
		name := b.submit("plan: p\npolicy: {limits: {called: 1/h}}\ntasks:\n  - {id: a, uses: called}\n  - {id: b, needs: [a], uses: called, timeout: 1m}\n")
		st, err := b.drive(name, &local.Driver{})
		if err != nil {
			t.Fatal(err)
		}
		if task, _ := st.Task("b"); len(s.all) != 1 || !strings.Contains(task.Error, "its turn at called comes in 1h0m0s, and its timeout is 1m") {
			t.Errorf("%d starts: %s", len(s.all), task.Error)
		}
		if w, err := b.engine.Waiting(t.Context(), name); err != nil || len(w) > 0 {
			t.Errorf("%v wait (%v)", w, err)
		}
	})
}

// Whoever is stopped while it waits gives its turn back, and has another when the plan goes on.
func TestStoppedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := paced(t)
		name := b.submit("plan: p\npolicy: {limits: {called: 1/h}}\ntasks:\n  - {id: a, uses: called}\n  - {id: b, needs: [a], uses: called}\n")
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, func() {
			w, err := b.engine.Waiting(ctx, name)
			if err != nil || len(w) != 1 || w["b"].Key != "called" {
				t.Errorf("%v wait (%v)", w, err)
			}
			stop()
		})
		if _, err := b.driveCtx(ctx, name, &local.Driver{}); !fault.Is(err, fault.Interrupted) {
			t.Fatal(err)
		}
		if w, err := b.engine.Waiting(t.Context(), name); err != nil || len(w) > 0 {
			t.Errorf("%v wait still (%v)", w, err)
		}
		st, err := b.drive(name, &local.Driver{})
		if err != nil || st.Phase != lifecycle.PlanCompleted || len(s.all) != 2 {
			t.Errorf("%s after %d starts: %v", st.State(), len(s.all), err)
		}
		s.within(t, 1, time.Hour)
	})
}
