package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// anyRevision changes a plan in a few places: work, order, tasks that go and tasks that come.
func anyRevision(r *rapid.T, p *plan.Plan) *plan.Plan {
	q := *p
	q.Tasks = slices.Clone(p.Tasks)
	for range rapid.IntRange(0, 4).Draw(r, "edits") {
		if len(q.Tasks) == 0 {
			break
		}
		k := rapid.IntRange(0, len(q.Tasks)-1).Draw(r, "at")
		t := &q.Tasks[k]
		switch rapid.IntRange(0, 6).Draw(r, "edit") {
		case 0:
			t.Run = fmt.Sprint("run ", rapid.IntRange(0, 9).Draw(r, "run"))
		case 1:
			t.Title = "only prose"
		case 2:
			t.Retry = &plan.Retry{Times: 1}
		case 3:
			id := t.ID
			q.Tasks = slices.Delete(slices.Clone(q.Tasks), k, k+1)
			for i := range q.Tasks {
				q.Tasks[i].Needs = slices.DeleteFunc(slices.Clone(q.Tasks[i].Needs), func(n string) bool { return n == id })
			}
		case 4:
			q.Tasks = append(q.Tasks, needs(plan.Task{ID: fmt.Sprint("n", len(q.Tasks)), Uses: rapid.SampledFrom([]string{"shell", "noop", ""}).Draw(r, "uses")}, t.ID))
		case 5:
			if t.Subplan != nil {
				t.Subplan = &plan.Subplan{Tasks: append(slices.Clone(t.Subplan.Tasks), task(fmt.Sprint("z", len(t.Subplan.Tasks))))}
			}
		case 6:
			if n := len(q.Tasks); k > 0 && len(t.Needs) > 0 && n > 1 {
				t.Needs = nil
			}
		}
	}
	pol := *p.Policy
	pol.Budget = nil
	if n := rapid.IntRange(0, 12).Draw(r, "calls"); n > 0 && n < 6 {
		pol.Budget = &plan.Budget{Calls: n}
	}
	q.Policy = &pol
	// An id twice is no plan.
	seen := map[string]bool{}
	q.Tasks = slices.DeleteFunc(q.Tasks, func(t plan.Task) bool { was := seen[t.ID]; seen[t.ID] = true; return was })
	return &q
}

// After any revision at any point a run comes to an end, replays byte for byte, keeps its counts, and never runs again
// what it kept; what runs again has an effect key of its own.
func TestAnyRevisionAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyPlan(r)
		m := newSimUnder(t, p, rapid.SampledFrom([]int{0, Law}).Draw(r, "law"))
		drawOutcomes(r, m)
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		left := rapid.IntRange(1, 3).Draw(r, "revisions")
		for n := 0; ; n++ {
			if n > 2000 {
				r.Fatalf("it does not end: %v", m.log)
			}
			if left > 0 && rapid.IntRange(0, 4).Draw(r, "revise") == 0 {
				left--
				p = reviseSim(r, m, p)
				check(r, m)
				held(r, m)
				continue
			}
			if len(m.todo) > 0 {
				k := rapid.IntRange(0, len(m.todo)-1).Draw(r, "next")
				ef := m.todo[k]
				m.todo = slices.Delete(m.todo, k, k+1)
				switch ef.Kind { // of a task that was dropped meanwhile, or is not what it was: nobody waits for it
				case Assess:
					_ = m.try(Fact{Kind: TaskAssessed, Task: ef.Task, Body: m.assess(ef.Task)})
				case Arm:
					_ = m.try(Fact{Kind: TimerFired, Task: ef.Task, Body: &Fired{}})
				default:
					m.do(ef)
				}
				check(r, m)
				continue
			}
			if m.s.Phase.Over() {
				if left > 0 {
					left--
					p = reviseSim(r, m, p)
					continue
				}
				break
			}
			if !m.s.Tended {
				m.todo = append(m.todo, m.s.Outstanding()...)
				m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
				continue
			}
			answerOne(r, m)
		}
		check(r, m)
		keptStay(r, m)
		m.replays(m.first)
	})
}

func drawOutcomes(r *rapid.T, m *sim) {
	keys := map[string]string{}
	m.outcome = func(id string, attempt int) *Ended {
		v, _ := m.s.Task(id)
		key, did := m.s.Key(id, v.Execution).String(), v.Spec.Run
		// The first edition counted the executions of an item anew with each expansion.
		if was, used := keys[key]; used && was != did && (m.law >= 2 || v.Item == 0 && v.Depth == 0) {
			r.Fatalf("one effect key for %q and %q", was, did)
		}
		keys[key] = did
		if rapid.IntRange(0, 4).Draw(r, "fails") == 0 {
			return bad("m")
		}
		return ok()
	}
	m.assess = func(string) *Assessed {
		a := count(rapid.IntRange(0, 3).Draw(r, "items"))
		a.Run = rapid.IntRange(0, 3).Draw(r, "when") > 0
		return a
	}
}

// reviseSim hands a revision in, and checks that it did what was said before. It returns the plan that then holds.
func reviseSim(r *rapid.T, m *sim, p *plan.Plan) *plan.Plan {
	q := anyRevision(r, p)
	b := &Revised{Base: m.s.Rev, Capabilities: installed, Why: "drawn", How: ByFile, Plan: q}
	keptStay(r, m)
	before := m.s.Hash()
	impact, err := m.s.Impact(b)
	if m.s.Hash() != before {
		r.Fatal("looking changed the run")
	}
	got := m.try(Fact{Kind: PlanRevised, Actor: "person:ann", Body: b})
	if (err == nil) != (got == nil) {
		r.Fatalf("it was said %v and came %v", err, got)
	}
	if got != nil {
		if c := fault.CodeOf(got); c != fault.Conflict && c != fault.Invalid || m.s.Hash() != before {
			r.Fatalf("refused with %v (%s)", got, c)
		}
		return p
	}
	for _, id := range impact.Kept {
		if v, ok := m.s.Task(id); !ok || v.Status != Completed {
			r.Fatalf("%s was to be kept and is %s", id, v.Status)
		}
		if slices.Contains(effectsOn(m.todo, Start), id) {
			r.Fatalf("%s was kept and starts", id)
		}
	}
	m.kept, m.mark, m.told = impact.Kept, len(m.started), len(m.bodies)
	for _, d := range impact.Dropped {
		if _, ok := m.s.Task(d.Task); ok {
			r.Fatalf("%s was to be dropped", d.Task)
		}
	}
	for _, a := range impact.Again {
		if v, _ := m.s.Task(a.Task); v.Status == Completed && v.Spec.Uses != "" {
			r.Fatalf("%s was to run again", a.Task)
		}
	}
	return q
}

// held checks that what is set aside is what is under way.
func held(r *rapid.T, m *sim) {
	under := int64(0)
	for v := range m.s.Tasks() {
		if v.Status == Running && !v.Group && m.s.counts(v.Spec) {
			under++
		}
	}
	if n := m.s.purseOf(0).Held.Calls; n != under {
		r.Fatalf("%d calls are held, %d are under way", n, under)
	}
}

// keptStay checks that nothing that the last revision kept was started since, unless a route led back.
func keptStay(r *rapid.T, m *sim) {
	for _, b := range m.bodies[min(m.told, len(m.bodies)):] {
		if strings.HasPrefix(b, string(TaskReopened)) && !strings.Contains(b, `"by":"revision`) {
			return
		}
	}
	for _, id := range m.started[min(m.mark, len(m.started)):] {
		if slices.Contains(m.kept, id) {
			r.Fatalf("%s was kept and ran again: %v", id, m.log)
		}
	}
}

func effectsOn(effects []Effect, k EffectKind) (ids []string) {
	for _, ef := range effects {
		if ef.Kind == k {
			ids = append(ids, ef.Task)
		}
	}
	return ids
}

// answerOne answers for the first person who is asked.
func answerOne(r *rapid.T, m *sim) {
	for v := range m.s.Tasks() {
		if !v.Wait.NeedsPerson() {
			continue
		}
		f := Fact{Kind: TaskEnded, Actor: "person:eve", Task: v.ID, Attempt: v.Attempt, Body: ok()}
		if v.Wait == ForBudget {
			f = Fact{Kind: BudgetRaised, Actor: "person:eve", Body: &Raised{By: budget.Amount{Calls: 3}}}
		}
		if v.Wait == ForDecision {
			f.Kind, f.Body = GateDecided, &Decided{Approved: rapid.Bool().Draw(r, "approve")}
		}
		m.must(f)
		return
	}
	r.Fatalf("nothing runs and nobody is asked: %v", m.log)
}
