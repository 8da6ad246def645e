package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

func read(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, faults := plan.Read("p.yaml", []byte(text), plan.Options{})
	if len(faults.Errors()) > 0 {
		t.Fatal(faults.Errors())
	}
	return p
}

// records are those of a run in which tasks ended as told: took, or failed when it is below zero.
func records(t testing.TB, task string, took ...time.Duration) iter.Seq2[journal.Record, error] {
	t.Helper()
	return func(yield func(journal.Record, error) bool) {
		for _, d := range took {
			e := lifecycle.Ended{Outcome: lifecycle.Succeeded, Took: d}
			if d < 0 {
				e = lifecycle.Ended{Outcome: lifecycle.Failed}
			}
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(journal.Record{Kind: lifecycle.TaskEnded, Task: task, Body: b}, nil) {
				return
			}
		}
	}
}

// exact is a past in which every task of a plan always took the same time, so that durations are not drawn.
func exact(t testing.TB, p *plan.Plan, took time.Duration) *rehearsal.History {
	t.Helper()
	h := rehearsal.NewHistory()
	for _, task := range p.Tasks {
		if err := h.Learn(p, records(t, task.ID, slices.Repeat([]time.Duration{took}, 5)...)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func rehearse(t testing.TB, p *plan.Plan, o rehearsal.Options) *rehearsal.Report {
	t.Helper()
	if o.Times == 0 {
		o.Times = 200
	}
	r, err := rehearsal.Run(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func task(t testing.TB, r *rehearsal.Report, id string) rehearsal.Task {
	t.Helper()
	i := slices.IndexFunc(r.Tasks, func(v rehearsal.Task) bool { return v.Task == id })
	if i < 0 {
		t.Fatalf("the report has no task %s", id)
	}
	return r.Tasks[i]
}

func wantFinish(t *testing.T, r *rehearsal.Report, want time.Duration) {
	t.Helper()
	d := plan.Duration(want)
	if r.Completed != 1 || r.Finish == nil || r.Finish.P50 != d || r.Finish.P90 != d || r.Finish.Worst != d {
		t.Errorf("completed %v, finish %+v, want %v", r.Completed, r.Finish, want)
	}
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString("plan: chain\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: t%d, uses: shell, run: 'true'", i)
		if i > 0 {
			fmt.Fprintf(&b, ", needs: [t%d]", i-1)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func TestAChainTakesTheSumOfItsParts(t *testing.T) {
	p := read(t, chain(7))
	r := rehearse(t, p, rehearsal.Options{History: exact(t, p, 3*time.Minute), Workers: 4})
	wantFinish(t, r, 21*time.Minute)
	if r.Workers.Count != 4 || r.Workers.Busy != 0.25 || len(r.Path) != 7 {
		t.Errorf("%+v, path %v", r.Workers, r.Path)
	}
}

const two = `
plan: two
tasks:
  - {id: a, uses: shell, run: 'true'}
  - {id: b, uses: shell, run: 'true'}
`

func TestWorkersAndLocksSerialise(t *testing.T) {
	p := read(t, two)
	h := exact(t, p, time.Minute)
	wantFinish(t, rehearse(t, p, rehearsal.Options{History: h}), time.Minute)
	r := rehearse(t, p, rehearsal.Options{History: h, Workers: 1})
	wantFinish(t, r, 2*time.Minute)
	if r.Workers.Busy != 1 || !slices.Equal(r.Path, []string{"a", "b"}) {
		t.Errorf("%+v, path %v", r.Workers, r.Path)
	}
	locked := read(t, strings.ReplaceAll(two, "'true'", "'true', locks: [db]"))
	wantFinish(t, rehearse(t, locked, rehearsal.Options{History: h}), 2*time.Minute)
}

// With k retries, an attempt that fails with likelihood f fails for good with f to the power of k+1.
func TestRetriesByTheLaw(t *testing.T) {
	p := read(t, "plan: p\ntasks:\n  - {id: a, uses: shell, run: 'true', retry: {times: 2, backoff: 10s}}\n")
	faults, err := rehearsal.ParseFaults([]string{"5%", "a=50%"})
	if err != nil {
		t.Fatal(err)
	}
	r := rehearse(t, p, rehearsal.Options{History: exact(t, p, time.Minute), Faults: faults, Times: 4000, Seed: 3})
	a := task(t, r, "a")
	if off := r.Failed - 0.125; off > 0.02 || off < -0.02 || a.Failed != r.Failed {
		t.Errorf("failed %v, want about 0.125; the task %v", r.Failed, a.Failed)
	}
	if off := a.Attempts - 1.75; off > 0.06 || off < -0.06 {
		t.Errorf("%v attempts, want about 1.75", a.Attempts)
	}
	if off := a.Bad - 0.5; off > 0.03 || off < -0.03 {
		t.Errorf("%v of them failed", a.Bad)
	}
	// Three attempts and the two pauses between them, each of which is waited at least by half.
	if w := r.Finish.Worst.D(); w < 3*time.Minute+10*time.Second || w > 3*time.Minute+20*time.Second {
		t.Errorf("worst %v", w)
	}
	if !slices.Equal(r.Failing, []string{"a"}) {
		t.Errorf("failing: %v", r.Failing)
	}
}

func TestRecoveryAndRoutes(t *testing.T) {
	p := read(t, `
plan: p
tasks:
  - {id: build, uses: shell, run: 'true', failure: [{name: full, recover: clean}]}
  - {id: clean, uses: shell, run: 'true'}
  - {id: ship, uses: shell, run: 'true', needs: [build], next: {failure: [tell]}}
  - {id: tell, uses: shell, run: 'true'}
`)
	faults, err := rehearsal.ParseFaults([]string{"build=0.3", "ship=100%"})
	if err != nil {
		t.Fatal(err)
	}
	r := rehearse(t, p, rehearsal.Options{History: exact(t, p, time.Minute), Faults: faults, Times: 1000})
	if task(t, r, "tell").Attempts < 0.8 || task(t, r, "ship").Failed < 0.8 || task(t, r, "clean").Attempts < 0.2 {
		t.Errorf("%+v", r.Tasks)
	}
	if r.Completed < 0.9 { // a failure that was routed is dealt with
		t.Errorf("completed %v", r.Completed)
	}
	if !slices.ContainsFunc(r.Assumed, func(a rehearsal.Assumed) bool { return slices.Equal(a.Tasks, []string{"build"}) }) {
		t.Errorf("assumed: %+v", r.Assumed)
	}
}

func TestTimeoutsCutOffWhatWasEstimated(t *testing.T) {
	p := read(t, "plan: p\ntasks:\n  - {id: a, uses: shell, run: 'true', estimate: 10m, timeout: 5m}\n")
	if r := rehearse(t, p, rehearsal.Options{}); r.Failed < 0.95 {
		t.Errorf("failed %v", r.Failed)
	}
	p = read(t, "plan: p\ntasks:\n  - {id: a, uses: shell, run: 'true', timeout: 1m}\n")
	r := rehearse(t, p, rehearsal.Options{})
	if r.Completed != 1 || r.Finish.Worst.D() > time.Minute || task(t, r, "a").Basis != rehearsal.Timeout {
		t.Errorf("completed %v, %+v: a guess says nothing about the timeout", r.Completed, r.Finish)
	}
}

func TestWhereDurationsComeFrom(t *testing.T) {
	p := read(t, `
plan: p
tasks:
  - {id: learned, uses: shell, run: 'true', estimate: 1h}
  - {id: said, uses: shell, run: 'true', estimate: 7m}
  - {id: promised, uses: web.fetch, with: {url: 'http://localhost/'}}
  - {id: alike, uses: shell, run: 'true'}
  - {id: limited, uses: file.read, with: {path: a}, timeout: 3m}
  - {id: budgeted, uses: file.read, with: {path: a}, budget: {time: 4m}}
  - {id: guessed, kind: validate, uses: file.read, with: {path: a}}
  - {id: by-hand, kind: manual}
  - {id: over, kind: milestone, needs: [by-hand]}
`)
	h := rehearsal.NewHistory()
	if err := h.Learn(p, records(t, "learned", 2*time.Second, 4*time.Second, 3*time.Second)); err != nil {
		t.Fatal(err)
	}
	r := rehearse(t, p, rehearsal.Options{History: h, Lookup: func(id string) (capability.Contract, bool) {
		c := capability.Contract{ID: id}
		if id == "web.fetch" {
			c.Estimate = 9 * time.Second
		}
		return c, true
	}})
	for id, want := range map[string]rehearsal.Task{
		"learned":  {Basis: rehearsal.Learned, Median: plan.Duration(3 * time.Second), Known: 3},
		"said":     {Basis: rehearsal.Estimated, Median: plan.Duration(7 * time.Minute)},
		"promised": {Basis: rehearsal.Promised, Median: plan.Duration(9 * time.Second)},
		"alike":    {Basis: rehearsal.Alike, Median: plan.Duration(3 * time.Second)},
		"limited":  {Basis: rehearsal.Timeout, Median: plan.Duration(time.Minute)},
		"budgeted": {Basis: rehearsal.Budgeted, Median: plan.Duration(2 * time.Minute)},
		"guessed":  {Basis: rehearsal.ByKind, Median: plan.Duration(2 * time.Minute)},
		"by-hand":  {Basis: rehearsal.ByKind, Median: plan.Duration(30 * time.Minute)},
		"over":     {},
	} {
		if got := task(t, r, id); got.Basis != want.Basis || got.Median != want.Median || got.Known != want.Known {
			t.Errorf("%s: %s %v from %d, want %s %v from %d", id, got.Basis, got.Median, got.Known, want.Basis, want.Median, want.Known)
		}
	}
}

func TestFanOutAndConditions(t *testing.T) {
	text := `
plan: p
inputs: {names: [a, b, c, d], fast: true}
policy: {workers: 1}
tasks:
  - {id: listed, each: '${inputs.names}', uses: shell, run: 'true'}
  - {id: counted, each: 'inputs.names.filter(n, n != "a")', uses: shell, run: 'true'}
  - {id: slow, when: '!inputs.fast', uses: shell, run: 'true'}
  - {id: after, when: 'outputs_of.slow.x == 1', needs: [slow], uses: shell, run: 'true'}
  - {id: find, uses: shell, run: 'true', outputs: {found: list}}
  - {id: dig, each: '${find.found}', needs: [find], uses: shell, run: 'true'}
  - {id: maybe, when: 'outputs_of.find.found.size() > 1', needs: [find], uses: shell, run: 'true'}
  - id: group
    each: '${inputs.names}'
    subplan:
      - {id: wash, uses: shell, run: 'true'}
      - {id: dry, needs: [wash], uses: shell, run: 'true'}
`
	r := rehearse(t, read(t, text), rehearsal.Options{Times: 10})
	for id, want := range map[string]float64{"listed": 4, "counted": 3, "slow": 0, "after": 0, "find": 1, "dig": 3, "maybe": 1, "group": 0, "group/wash": 4, "group/dry": 4} {
		if got := task(t, r, id).Attempts; got != want {
			t.Errorf("%s: %v attempts, want %v", id, got, want)
		}
	}
	if len(r.Assumed) != 2 || r.Assumed[0].Tasks[0] != "after" || r.Assumed[1].Tasks[0] != "dig" {
		t.Errorf("assumed: %+v", r.Assumed)
	}
	// What a past run counted is taken over; a damaged one is an error.
	p, n := read(t, text), 9
	body, err := json.Marshal(lifecycle.Assessed{Run: true, Count: &n})
	if err != nil {
		t.Fatal(err)
	}
	h := rehearsal.NewHistory()
	learn := func(r journal.Record, err error) error {
		return h.Learn(p, func(yield func(journal.Record, error) bool) { yield(r, err) })
	}
	if err := learn(journal.Record{Kind: lifecycle.TaskAssessed, Task: "dig", Body: body}, nil); err != nil {
		t.Fatal(err)
	}
	if got := task(t, rehearse(t, p, rehearsal.Options{Times: 1, History: h}), "dig").Attempts; got != 9 {
		t.Errorf("%v items", got)
	}
	if learn(journal.Record{}, context.Canceled) == nil || learn(journal.Record{Kind: lifecycle.TaskEnded, Task: "dig", Body: []byte("{[]}")}, nil) == nil {
		t.Error("a damaged past is no error")
	}
}

func TestHistoryTellsItemsFromTasks(t *testing.T) {
	p := read(t, `
plan: p
tasks:
  - {id: dig, each: '["a", "b"]', subplan: [{id: wash, uses: shell, run: 'true'}]}
  - {id: dig-x, uses: shell, run: 'true'}
`)
	h := rehearsal.NewHistory()
	for _, id := range []string{"dig-1/wash", "dig-2/wash", "dig-2/none", "dig-x/no", "other", "dig-x", "x-1"} {
		if err := h.Learn(p, records(t, id, time.Second, -1)); err != nil {
			t.Fatal(err)
		}
	}
	r := rehearse(t, p, rehearsal.Options{History: h, Times: 1})
	if w := task(t, r, "dig/wash"); w.Known != 2 || w.Fault != 0.3333 {
		t.Errorf("%+v", w)
	}
	if x := task(t, r, "dig-x"); x.Known != 1 || x.Fault != 0.25 {
		t.Errorf("%+v", x)
	}
}

func TestCostBudgetAndDeadline(t *testing.T) {
	p := read(t, `
plan: p
goal: {objective: x, deadline: 2026-05-04}
policy: {budget: {cost: 9 EUR}}
tasks:
  - {id: a, uses: shell, run: 'true', retry: 1, budget: {cost: 1 EUR}, estimate: 3h}
  - {id: b, uses: model, with: {}, needs: [a]}
  - {id: c, uses: shell, run: 'true', budget: {cost: 3 USD}}
`)
	r := rehearse(t, p, rehearsal.Options{Start: time.Date(2026, 5, 4, 22, 0, 0, 0, time.UTC), Lookup: func(id string) (capability.Contract, bool) {
		return capability.Contract{CostTier: map[string]int{"model": 4, "shell": 1}[id]}, true
	}})
	want := []rehearsal.Cost{
		{P50: plan.Money{Micro: 1_500_000, Currency: "EUR"}, P90: plan.Money{Micro: 1_500_000, Currency: "EUR"}, Worst: plan.Money{Micro: 1_500_000, Currency: "EUR"}},
		{P50: plan.Money{Micro: 3_000_000, Currency: "USD"}, P90: plan.Money{Micro: 3_000_000, Currency: "USD"}, Worst: plan.Money{Micro: 3_000_000, Currency: "USD"}},
	}
	if !reflect.DeepEqual(r.Cost, want) {
		t.Errorf("%+v", r.Cost)
	}
	if r.Short != 0 || r.InTime == nil || *r.InTime > 0.2 || !strings.HasPrefix(r.Finish.P50At, "2026-05-05T0") || r.Start != "2026-05-04T22:00:00Z" {
		t.Errorf("%+v, in time %v", r, r.InTime)
	}
}

func TestEqualArgumentsGiveEqualReports(t *testing.T) {
	p := read(t, chain(5))
	o := rehearsal.Options{Seed: 7, Times: 50}
	a, b := rehearse(t, p, o), rehearse(t, p, o)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives another report")
	}
	o.Seed = 8
	if reflect.DeepEqual(a.Finish, rehearse(t, p, o).Finish) {
		t.Error("another seed gives the same report")
	}
}

func TestWhatCannotBeRehearsed(t *testing.T) {
	p := read(t, chain(2))
	for _, o := range []rehearsal.Options{{}, {Times: rehearsal.MaxTimes + 1}, {Times: 1, Workers: -1},
		{Times: 1, Faults: rehearsal.Faults{Task: map[string]float64{"t9": 1}}}, {Times: 1, Faults: rehearsal.Faults{Task: map[string]float64{"xyzzy": 1}}}} {
		if _, err := rehearsal.Run(t.Context(), p, o); !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rehearsal.Run(ctx, p, rehearsal.Options{Times: 1}); err == nil {
		t.Error("it goes on when nobody waits")
	}
	if _, err := rehearsal.Run(t.Context(), &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Needs: []string{"b"}}}}, rehearsal.Options{Times: 1}); err == nil {
		t.Error("a plan that was never checked is rehearsed")
	}
	for _, bad := range []string{"", "5", "-1%", "101%", "=5%", "a=", "a=many"} {
		if _, err := rehearsal.ParseFaults([]string{bad}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken for a rate", bad)
		}
	}
}
