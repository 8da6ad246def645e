package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// fifty is a plan of the size that is promised to be rehearsed ten thousand times in ten seconds: three strands that meet now
// and then, with retries, a fan-out, gates and a subplan.
func fifty() *plan.Plan {
	p := &plan.Plan{Name: "fifty", Inputs: json.RawMessage(`{"list":[1,2,3]}`)}
	for i := range 46 {
		t := plan.Task{ID: fmt.Sprint("t", i), Uses: "shell", Estimate: plan.Duration(time.Duration(1+i%7) * time.Minute)}
		if i > 2 {
			t.Needs = []string{fmt.Sprint("t", i-3)}
		}
		switch {
		case i%10 == 9:
			t.Needs = append(t.Needs, fmt.Sprint("t", i-1), fmt.Sprint("t", i-2))
		case i%10 == 5:
			t.Retry = &plan.Retry{Times: 2}
		case i == 21 || i == 41:
			t.Uses, t.Kind, t.Estimate = "", plan.Gate, 0
		case i == 32:
			t.Each = "${inputs.list}"
		}
		p.Tasks = append(p.Tasks, t)
	}
	return append50(p)
}

func append50(p *plan.Plan) *plan.Plan {
	p.Tasks = append(p.Tasks, plan.Task{ID: "group", Needs: []string{"t45"}, Subplan: &plan.Subplan{Tasks: []plan.Task{
		{ID: "a", Uses: "shell"}, {ID: "b", Uses: "shell", Needs: []string{"a"}}, {ID: "c", Uses: "shell", Needs: []string{"a"}}}}})
	return p
}

func shell(id string) (capability.Contract, bool) {
	return capability.Contract{ID: id, Version: "1", Repeat: capability.Repeatable, CostTier: 2}, true
}

// BenchmarkRehearse plays a plan of fifty tasks ten thousand times.
func BenchmarkRehearse(b *testing.B) {
	o := Options{Times: 10_000, Seed: 1, Lookup: shell, Faults: Faults{Any: 0.02, Set: true}}
	for b.Loop() {
		r, err := Run(b.Context(), fifty(), o)
		if err != nil || r.Completed < 0.2 {
			b.Fatal(err, r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(o.Times), "µs/rehearsal")
}

// No attempt begins before what its task needs is over, and the critical path is as long as the rehearsal.
func TestNeedsAreKeptOnTheVirtualClock(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 15).Draw(r, "tasks")
		p := &plan.Plan{Name: "p", Policy: &plan.Policy{Workers: rapid.IntRange(1, 4).Draw(r, "workers")}}
		for i := range n {
			v := plan.Task{ID: fmt.Sprint("t", i), Uses: rapid.SampledFrom([]string{"shell", ""}).Draw(r, "uses"), Retry: &plan.Retry{Times: 1}}
			for k := range i {
				if rapid.IntRange(0, 2).Draw(r, "need") == 0 {
					v.Needs = append(v.Needs, fmt.Sprint("t", k))
				}
			}
			p.Tasks = append(p.Tasks, v)
		}
		sc, err := newScript(t.Context(), p, Options{Times: 1, Start: monday, Lookup: shell, Seed: rapid.Uint64().Draw(r, "seed"), Faults: Faults{Any: 0.1, Set: true}})
		if err != nil {
			r.Fatal(err)
		}
		st := newStage(sc)
		if err := st.play(0); err != nil {
			r.Fatal(err)
		}
		ended := map[string]span{}
		for i := range st.acts {
			if a := &st.acts[i]; a.fact.Kind == lifecycle.TaskEnded {
				ended[a.fact.Task] = a.end
			}
		}
		for i := range st.acts {
			a := &st.acts[i]
			for _, need := range a.part.spec.Needs {
				if end, ok := ended[need]; !ok || a.begin < end {
					r.Fatalf("%s begins at %v, and %s ends at %v", a.part.id, time.Duration(a.begin), need, time.Duration(end))
				}
			}
		}
		length := span(0)
		for i := st.last; i != nobody; i = st.acts[i].cause {
			length += st.acts[i].end - st.acts[i].begin
		}
		if whole := st.now - span(9*time.Hour); length != whole {
			r.Fatalf("the critical path takes %v of %v", time.Duration(length), time.Duration(whole))
		}
	})
}

// A task that the law makes of its own is asked about like any other.
func TestTasksThatThePlanDoesNotName(t *testing.T) {
	sc, err := newScript(t.Context(), &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "dig", Each: "[1]", Uses: "shell"}}}, Options{Times: 1, Start: monday})
	if err != nil {
		t.Fatal(err)
	}
	if got := sc.partOf("dig-1", &plan.Task{ID: "dig"}); got != sc.parts[0] {
		t.Errorf("an item is %s", got.id)
	}
	made := &plan.Task{ID: "raise", Owner: "owner"}
	p := sc.partOf("raise", made)
	if p.id != "raise" || sc.people[p.owner.who[0]] != "owner" || sc.partOf("raise", made) != p {
		t.Errorf("%+v of %v", p, sc.people)
	}
}

// Work that the law calls off does not end.
func TestWorkThatIsCalledOff(t *testing.T) {
	sc, err := newScript(t.Context(), &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Uses: "shell"}}}, Options{Times: 1, Start: monday})
	if err != nil {
		t.Fatal(err)
	}
	st := newStage(sc)
	if err := st.play(0); err != nil {
		t.Fatal(err)
	}
	spec := sc.parts[0].spec
	st.perform(nobody, lifecycle.Effect{Kind: lifecycle.Start, Task: "a", Spec: spec, Attempt: 2})
	st.perform(nobody, lifecycle.Effect{Kind: lifecycle.Stop, Task: "a", Spec: spec})
	st.perform(nobody, lifecycle.Effect{Kind: lifecycle.Undo, Task: "a", Spec: spec})
	st.perform(nobody, lifecycle.Effect{Kind: 99, Task: "a", Spec: spec})
	kinds := []journal.Kind{}
	for _, i := range st.queue {
		if !st.acts[i].void {
			kinds = append(kinds, st.acts[i].fact.Kind)
		}
	}
	if !slices.Equal(kinds, []journal.Kind{lifecycle.TaskUndone}) {
		t.Errorf("under way: %v", kinds)
	}
	for len(st.queue) > 0 { // the law has no use for any of it, which is no error
		st.next()
	}
	if st.look() {
		t.Error("somebody is asked when the plan is over")
	}
}

func TestDrawsKeepTheirMedian(t *testing.T) {
	c := newChance()
	c.begin(1, 1)
	below, n := 0, 20_000
	for range n {
		if around(time.Hour, spreadGuessed).draw(c) < time.Hour {
			below++
		}
	}
	if share := float64(below) / float64(n); share < 0.48 || share > 0.52 {
		t.Errorf("%v are below the median", share)
	}
	past := among([]time.Duration{50, 10, 30, 20, 40})
	for range 1000 {
		if d := past.draw(c); d < 10 || d > 50 {
			t.Fatalf("%d was drawn from 10 to 50", d)
		}
	}
}

func TestWorkingTimeIsExact(t *testing.T) {
	r := DefaultTeam()[Anyone]
	for _, c := range []struct{ from, work, want time.Duration }{ // hours since the midnight before a Monday
		{9, 8, 17}, {9, 9, 34}, {0, 1, 10}, {18, 1, 34}, {9, 40, 113}, {9, 41, 178}, {10, 40, 178}, {9, 80, 281}, {120, 1, 178}, {9, 400, 1625},
	} {
		if got := r.after(span(c.from*time.Hour), span(c.work*time.Hour), time.Monday); got != span(c.want*time.Hour) {
			t.Errorf("%d hours of work from hour %d are over at %v, not %d", c.work, c.from, time.Duration(got), c.want)
		}
	}
}
