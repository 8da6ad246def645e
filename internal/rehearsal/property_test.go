package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

func lookup(ids ...string) func(string) (capability.Contract, bool) {
	return func(id string) (capability.Contract, bool) {
		return capability.Contract{ID: id, Version: "1", Repeat: capability.Repeatable, CostTier: 2}, slices.Contains(ids, id)
	}
}

// anyPlan draws a plan with every feature that moves a run.
func anyPlan(r *rapid.T) *plan.Plan {
	n := rapid.IntRange(1, 10).Draw(r, "tasks")
	p := &plan.Plan{Name: "p", Inputs: json.RawMessage(`{"list":[1,2]}`), Policy: &plan.Policy{Workers: rapid.IntRange(1, 3).Draw(r, "workers"),
		Budget: &plan.Budget{Calls: rapid.IntRange(0, 9).Draw(r, "calls"), Cost: plan.Money{Micro: 20_000, Currency: "USD"}}}}
	other := func() string { return fmt.Sprint("t", rapid.IntRange(0, n-1).Draw(r, "other")) }
	for i := range n {
		t := plan.Task{ID: fmt.Sprint("t", i), Estimate: plan.Duration(rapid.IntRange(1, 90).Draw(r, "minutes")) * plan.Duration(time.Minute)}
		for k := range i {
			if rapid.IntRange(0, 3).Draw(r, "need") == 0 {
				t.Needs = append(t.Needs, fmt.Sprint("t", k))
			}
		}
		t.Uses = rapid.SampledFrom([]string{"shell", "shell", "noop", ""}).Draw(r, "uses")
		switch rapid.IntRange(0, 11).Draw(r, "extra") {
		case 0:
			t.When = rapid.SampledFrom([]string{"true", "false", "outputs_of.t0.x > 1"}).Draw(r, "when")
		case 1:
			t.Each = rapid.SampledFrom([]string{"${inputs.list}", "outputs_of.t0.list"}).Draw(r, "each")
		case 2:
			t.Retry = &plan.Retry{Times: 2}
		case 3:
			t.Failure = []plan.FailureMode{{Name: "m", Recover: other()}}
		case 4:
			t.Next = &plan.Next{Failure: []string{other()}}
		case 5:
			t.Subplan, t.Uses = &plan.Subplan{Tasks: []plan.Task{{ID: "x", Uses: "shell"}, {ID: "y", Uses: "shell", Needs: []string{"x"}}}}, ""
		case 6:
			t.Locks = []string{"l"}
		case 7:
			t.Kind = plan.Gate
		case 8:
			t.Timeout = plan.Duration(time.Hour)
		case 9:
			t.Expect = []plan.Criterion{{Says: "it is good", Judge: true}}
		case 10:
			t.Budget = &plan.Budget{Time: plan.Duration(time.Hour), Calls: 1}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// Whatever the plan, the faults and the answers: every rehearsal ends as completed or failed, the critical path is as long as
// the rehearsal, and nothing that is not certain to be is counted above one.
func TestAnyPlanCanBeRehearsed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyPlan(r)
		approve := rapid.SampledFrom([]string{"0%", "60%", "100%"}).Draw(r, "approve")
		rate := rapid.SampledFrom([]string{"0%", "30%", "100%"}).Draw(r, "faults")
		faults, err := rehearsal.ParseFaults([]string{rate})
		if err != nil {
			r.Fatal(err)
		}
		got, err := rehearsal.Run(t.Context(), p, rehearsal.Options{Times: 5, Seed: rapid.Uint64().Draw(r, "seed"), Faults: faults,
			Lookup: lookup("shell", "noop"), Team: team(t, "roles: {anyone: {approve: "+approve+"}}")})
		if err != nil {
			r.Fatal(err)
		}
		if got.Unfinished > 0 || got.Completed+got.Failed < 0.999 || got.Workers.Busy > 1 {
			r.Fatalf("unfinished %v, completed %v, failed %v, busy %v", got.Unfinished, got.Completed, got.Failed, got.Workers.Busy)
		}
		for _, v := range got.Tasks {
			if v.OnPath > 1 || v.Failed > 1 || v.Bad > 1 {
				r.Fatalf("%+v", v)
			}
		}
	})
}
