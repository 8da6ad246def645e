package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// paid is a sim under the law that knows budgets.
func paid(t *testing.T, p *plan.Plan) *sim {
	t.Helper()
	m := newSim(t, p)
	caps := map[string]Installed{"shell": installed["shell"], "noop": installed["noop"],
		"model":  {Version: "1", Repeat: capability.Repeatable, Spends: budget.Amount{Cost: 100, Currency: "USD", Tokens: 10}},
		"lookup": {Version: "1", Repeat: capability.Pure}}
	m.s = New("p")
	m.facts[0].Body = &Submitted{Capabilities: caps, Law: 2}
	if _, err := m.s.Submit(m.facts[0], p); err != nil {
		t.Fatal(err)
	}
	return m
}

// again feeds the facts to a fresh state and compares every derived record.
func again(t *testing.T, m *sim, p *plan.Plan) {
	t.Helper()
	fresh := paid(t, p)
	for _, f := range m.facts[1:] {
		derived, err := fresh.s.Take(f)
		if err != nil {
			t.Fatalf("replay refuses %s %s: %v", f.Kind, f.Task, err)
		}
		for _, d := range derived {
			fresh.bodies = append(fresh.bodies, fmt.Sprintf("%s %s %d %s", d.Kind, d.Task, d.Attempt, d.Body))
		}
	}
	if !slices.Equal(fresh.bodies, m.bodies) || fresh.s.Hash() != m.s.Hash() {
		t.Fatalf("replay derives\n%s\ninstead of\n%s", strings.Join(fresh.bodies, "\n"), strings.Join(m.bodies, "\n"))
	}
}

func limited(b plan.Budget, workers int, tasks ...plan.Task) *plan.Plan {
	p := dag(tasks...)
	p.Policy = &plan.Policy{Workers: workers, Budget: &b}
	return p
}

func fan(n int) plan.Task {
	f := task("f")
	f.Each = fmt.Sprint(n)
	return f
}

func (m *sim) raise(by budget.Amount) error {
	return m.try(Fact{Kind: BudgetRaised, Actor: "person:ann", Body: &Raised{By: by, Why: "go on"}})
}

func TestOutOfCalls(t *testing.T) {
	p := limited(plan.Budget{Calls: 10}, 16, fan(100))
	m := paid(t, p)
	m.assess = func(string) *Assessed { return count(100) }
	m.run()
	if len(m.started) != 10 || !m.s.OnlyPeople() {
		t.Fatalf("%d calls were made of 10", len(m.started))
	}
	refusals := 0
	for _, l := range m.log {
		if strings.HasPrefix(l, "budget.refused") {
			refusals++
		}
	}
	a, _ := m.s.Account("")
	if refusals != 1 || a.Waiting != 90 || a.Short != budget.Calls || a.Spent.Calls != 10 || !a.Left.IsZero() || !a.Held.IsZero() {
		t.Fatalf("asked %d times; %+v", refusals, a)
	}
	if err := m.raise(budget.Amount{Tokens: 1}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a limit that is not there was raised: %v", err)
	}
	if err := m.raise(budget.Amount{Calls: 7}); err != nil {
		t.Fatal(err)
	}
	if m.on(); len(m.started) != 17 || !m.s.OnlyPeople() {
		t.Fatalf("%d calls were made of 17", len(m.started))
	}
	m.must(Fact{Kind: BudgetDenied, Actor: "person:bob", Body: &Denied{Why: "enough"}})
	m.on().phase(PlanFailed)
	if len(m.started) != 17 || !m.s.Denied("f-50") || m.s.Denied("f-1") {
		t.Errorf("%d calls were made, and who was refused is told wrongly", len(m.started))
	}
	again(t, m, p)
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
	if m.on(); len(m.started) != 17 {
		t.Error("trying again asked again what was refused")
	}
}

func TestWhatIsNoCall(t *testing.T) {
	idle := task("n")
	idle.Uses = "noop"
	m := paid(t, limited(plan.Budget{Calls: 1}, 4, idle, plan.Task{ID: "m", Kind: plan.Milestone},
		plan.Task{ID: "s", Subplan: &plan.Subplan{Tasks: []plan.Task{task("x")}}}))
	m.run().phase(PlanCompleted)
	if a, _ := m.s.Account(""); a.Spent.Calls != 1 {
		t.Errorf("%d calls", a.Spent.Calls)
	}
	if a, _ := m.s.Account("s"); a.Spent.Calls != 1 {
		t.Errorf("a group spends what is inside it, not %d", a.Spent.Calls)
	}
	if _, ok := m.s.Account("zz"); ok {
		t.Error("there is no such task")
	}
}

// What is paid for is on record before it is done, even where nothing else would need that.
func TestPureWorkIsRecordedWhereItIsPaidFor(t *testing.T) {
	look := task("l")
	look.Uses = "lookup"
	m := paid(t, limited(plan.Budget{Calls: 1}, 4, look)).run().phase(PlanCompleted)
	if !slices.Contains(m.log, "task.started l") {
		t.Errorf("%v", m.log)
	}
	m = paid(t, dag(look)).run().phase(PlanCompleted)
	if slices.Contains(m.log, "task.started l") {
		t.Errorf("%v", m.log)
	}
}

func TestReservedMoneyComesBack(t *testing.T) {
	spend := func(id string) plan.Task { k := task(id); k.Uses = "model"; return k }
	p := limited(plan.Budget{Cost: plan.Money{Micro: 250, Currency: "USD"}}, 4, spend("a"), spend("b"), spend("c"), spend("d"))
	m := paid(t, p)
	m.outcome = func(string, int) *Ended {
		return &Ended{Outcome: Succeeded, Took: time.Second, Spent: &budget.Amount{Cost: 50, Currency: "USD"}}
	}
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	if a, _ := m.s.Account(""); len(m.started) != 2 || a.Held.Cost != 200 || a.Left.Cost != 50 {
		t.Fatalf("%v began: %+v", m.started, a)
	}
	m.on().phase(PlanCompleted)
	if a, _ := m.s.Account(""); a.Spent.Cost != 200 || a.Spent.Calls != 4 || a.Spent.Time != 4*time.Second || a.Waiting > 0 {
		t.Errorf("%+v", a)
	}
	again(t, m, p)
}

func TestMoneyOfAnotherCountryIsChargedAsForeseen(t *testing.T) {
	k := task("a")
	k.Uses = "model"
	m := paid(t, limited(plan.Budget{Cost: plan.Money{Micro: 250, Currency: "USD"}}, 4, k))
	m.outcome = func(string, int) *Ended {
		return &Ended{Outcome: Succeeded, Spent: &budget.Amount{Cost: 5, Currency: "KRW"}}
	}
	m.run()
	if a, _ := m.s.Account(""); a.Spent.Cost != 100 || a.Spent.Currency != "USD" {
		t.Errorf("%+v", a.Spent)
	}
}

func TestACrashChargesInFull(t *testing.T) {
	k := task("a")
	k.Uses = "model"
	m := paid(t, limited(plan.Budget{Calls: 2, Tokens: 100}, 4, k))
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	for range 2 {
		m.todo = nil
		attempt := len(m.started)
		m.must(Fact{Kind: TaskInterrupted, Task: "a", Attempt: attempt, Body: &Interrupted{Then: Repeat}})
	}
	a, _ := m.s.Account("a")
	if a.Spent.Calls != 2 || a.Spent.Tokens != 20 || len(m.started) != 2 || !m.s.OnlyPeople() {
		t.Errorf("%+v after %v", a, m.started)
	}
	m = paid(t, limited(plan.Budget{Calls: 2}, 4, k))
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	m.must(Fact{Kind: TaskEnded, Task: "a", Attempt: 1, Body: &Ended{Outcome: Succeeded, Probed: true}})
	if a, _ := m.s.Account("a"); a.Spent.Tokens != 10 {
		t.Errorf("what was only found out later is charged %+v", a.Spent)
	}
}

func TestBudgetOfATask(t *testing.T) {
	k := task("a")
	k.Budget = &plan.Budget{Time: plan.Duration(time.Minute), Calls: 3}
	k.Retry = &plan.Retry{Times: 9}
	p := dag(k, task("b"))
	m := paid(t, p)
	m.outcome = func(task string, _ int) *Ended {
		if task == "b" {
			return ok()
		}
		return &Ended{Outcome: Failed, Error: "slow", Took: 25 * time.Second}
	}
	m.run()
	a, _ := m.s.Account("a")
	if a.Spent.Calls != 3 || a.Waiting != 1 || a.Short != budget.Calls || !m.s.OnlyPeople() {
		t.Fatalf("%+v", a)
	}
	for _, tc := range []struct {
		f    Fact
		code fault.Code
	}{
		{Fact{Kind: BudgetRaised, Task: "zz", Body: &Raised{}}, fault.NotFound},
		{Fact{Kind: BudgetRaised, Body: &Raised{By: budget.Amount{Calls: 1}}}, fault.Conflict},
		{Fact{Kind: BudgetRaised, Task: "a", Body: &Raised{By: budget.Amount{Cost: 1, Currency: "USD"}}}, fault.Conflict},
		{Fact{Kind: BudgetDenied, Body: &Denied{}}, fault.Conflict},
		{Fact{Kind: BudgetDrawn, Task: "a", Attempt: 3, Body: &Drawn{}}, fault.Conflict},
		{Fact{Kind: TaskEnded, Task: "a", Attempt: 3, Body: ok()}, fault.Conflict},
	} {
		if err := m.try(tc.f); !fault.Is(err, tc.code) {
			t.Errorf("%s: %v", tc.f.Kind, err)
		}
	}
	m.must(Fact{Kind: BudgetRaised, Task: "a", Body: &Raised{By: budget.Amount{Calls: 1}}})
	if m.on(); m.s.OnlyPeople() != true {
		t.Fatal("it has spent more time than it has")
	}
	if a, _ := m.s.Account("a"); a.Short != budget.Time || a.Spent.Calls != 3 {
		t.Fatalf("%+v", a)
	}
	m.outcome = func(string, int) *Ended { return ok() }
	m.must(Fact{Kind: BudgetRaised, Task: "a", Body: &Raised{By: budget.Amount{Time: time.Hour}}})
	m.on().phase(PlanCompleted)
	again(t, m, p)
}

// A fan-out shares what its task may spend.
func TestBudgetOfAFanOut(t *testing.T) {
	f := fan(4)
	f.Budget = &plan.Budget{Cost: plan.Money{Micro: 100, Currency: "USD"}, Calls: 3}
	m := paid(t, dag(f))
	m.assess = func(string) *Assessed { return count(4) }
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	m.do(m.todo[0])
	m.todo = m.todo[1:]
	if a, _ := m.s.Account("f"); len(m.started) != 3 || a.Held.Cost != 75 {
		t.Fatalf("%v: %+v", m.started, a)
	}
	m.on()
	if a, _ := m.s.Account("f"); a.Waiting != 1 || a.Spent.Calls != 3 {
		t.Errorf("%+v", a)
	}
}

func TestNestedCalls(t *testing.T) {
	p := limited(plan.Budget{Calls: 3}, 4, task("a"))
	m := paid(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	draw := func() error {
		return m.try(Fact{Kind: BudgetDrawn, Task: "a", Attempt: 1, Body: &Drawn{budget.Amount{Calls: 1}}})
	}
	if err := draw(); err != nil {
		t.Fatal(err)
	}
	if err := draw(); err != nil {
		t.Fatal(err)
	}
	if err := draw(); !fault.Is(err, fault.Denied) || !strings.Contains(fault.HintOf(err), "cairn budget p --raise calls=+N") {
		t.Fatalf("a fourth call of three: %v", err)
	}
	m.todo = nil
	m.must(Fact{Kind: TaskEnded, Task: "a", Attempt: 1, Body: &Ended{Outcome: Failed, Error: "no more calls",
		Short: budget.Calls, Spent: &budget.Amount{Calls: 2}}})
	if a, _ := m.s.Account(""); a.Spent.Calls != 3 || a.Waiting != 1 || !m.s.OnlyPeople() {
		t.Fatalf("what runs out of its budget waits for more: %+v", a)
	}
	if err := m.raise(budget.Amount{Calls: 5}); err != nil {
		t.Fatal(err)
	}
	m.on().phase(PlanCompleted)
	again(t, m, p)
}

// What a task has reserved covers its nested calls.
func TestNestedCallsWithinAReservation(t *testing.T) {
	k := task("a")
	k.Budget = &plan.Budget{Cost: plan.Money{Micro: 100, Currency: "USD"}}
	m := paid(t, dag(k))
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	for n, want := range []bool{true, true, false} {
		err := m.try(Fact{Kind: BudgetDrawn, Task: "a", Attempt: 1, Body: &Drawn{budget.Amount{Calls: 1, Cost: 50, Currency: "USD"}}})
		if (err == nil) != want {
			t.Errorf("nested call %d: %v", n+1, err)
		}
	}
}

func TestBudgetOfTheDay(t *testing.T) {
	p := dag(task("a"), task("b"))
	m := paid(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	m.todo = nil
	full := &Read{Day: "2026-01-02", Limit: budget.Amount{Calls: 5}, Spent: budget.Amount{Calls: 5}, Want: budget.Amount{Calls: 1}, Short: budget.Calls}
	m.must(Fact{Kind: BudgetRead, Task: "a", Attempt: 1, Body: full})
	m.must(Fact{Kind: BudgetRead, Task: "b", Attempt: 1, Body: full})
	if a, _ := m.s.Account(""); a.Spent.Calls != 0 || !m.s.OnlyPeople() {
		t.Fatalf("%+v", a)
	}
	if n := strings.Count(strings.Join(m.log, " "), "budget.refused"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	for w := range m.s.Withheld() {
		if !w.Day || w.Of != "" || w.Short != budget.Calls {
			t.Errorf("%+v", w)
		}
	}
	if err := m.try(Fact{Kind: BudgetRead, Task: "a", Attempt: 1, Body: full}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	m.must(Fact{Kind: BudgetRead, Body: &Read{Day: "2026-01-03"}})
	m.todo = nil
	m.must(Fact{Kind: BudgetRead, Task: "a", Attempt: 2, Body: full})
	m.must(Fact{Kind: BudgetRaised, Body: &Raised{Day: "2026-01-02", By: budget.Amount{Calls: 1}}})
	m.todo = nil
	m.must(Fact{Kind: BudgetRead, Task: "a", Attempt: 3, Body: full})
	m.must(Fact{Kind: BudgetDenied, Body: &Denied{Day: "2026-01-02", Why: "tomorrow"}})
	m.must(Fact{Kind: TaskEnded, Task: "b", Attempt: 2, Body: ok()})
	m.phase(PlanFailed)
	again(t, m, p)
}

// Giving a plan up charges what is under way: nobody will know what it came to.
func TestGivingUpCharges(t *testing.T) {
	for _, f := range []Fact{{Kind: PlanCancelled, Body: &Reason{}}, {Kind: RollbackAsked, Body: &Asked{}}} {
		m := paid(t, limited(plan.Budget{Calls: 2}, 4, task("a"), task("b"), task("c")))
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		m.must(f)
		if a, _ := m.s.Account(""); a.Spent.Calls != 2 || !a.Held.IsZero() {
			t.Errorf("%s: %+v", f.Kind, a)
		}
	}
}

// An old journal knows no budgets.
func TestOldLawSpendsNothing(t *testing.T) {
	m := newSim(t, limited(plan.Budget{Calls: 1}, 4, task("a"), task("b"))).run().phase(PlanCompleted)
	if a, _ := m.s.Account(""); !a.Spent.IsZero() {
		t.Errorf("%+v", a)
	}
}

// Under any plan, any outcomes, crashes, raises and refusals in any order: no purse ever holds or spends a call more than it may,
// what is held is what is under way, everybody who is kept waiting can be answered, and it all replays.
func TestNoBudgetIsEverOverdrawn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyPlan(r)
		for i := range p.Tasks {
			if rapid.IntRange(0, 3).Draw(r, "budget") == 0 {
				p.Tasks[i].Budget = &plan.Budget{Calls: rapid.IntRange(1, 3).Draw(r, "own calls")}
			}
			if p.Tasks[i].Kind == plan.Gate {
				p.Tasks[i].Kind, p.Tasks[i].Checks = plan.Implement, nil
			}
		}
		p.Policy.Budget = &plan.Budget{Calls: rapid.IntRange(0, 8).Draw(r, "calls"), Time: plan.Duration(rapid.IntRange(0, 20).Draw(r, "time"))}
		m := paid(t, p)
		m.outcome = func(string, int) *Ended {
			e := ok()
			if rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
				e = bad("m")
			}
			e.Took = time.Duration(rapid.IntRange(0, 5).Draw(r, "took"))
			return e
		}
		m.assess = func(string) *Assessed {
			a := count(rapid.IntRange(0, 3).Draw(r, "items"))
			a.Run = rapid.Bool().Draw(r, "when")
			return a
		}
		m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
		for n := 0; !m.s.Phase.Over() && n < 400; n++ {
			solvent(r, m)
			if len(m.todo) == 0 {
				answer(r, m)
				continue
			}
			k := rapid.IntRange(0, len(m.todo)-1).Draw(r, "next")
			ef := m.todo[k]
			m.todo = slices.Delete(m.todo, k, k+1)
			if ef.Kind == Start && rapid.IntRange(0, 5).Draw(r, "crash") == 0 {
				m.must(Fact{Kind: TaskInterrupted, Task: ef.Task, Attempt: ef.Attempt, Body: &Interrupted{Then: Repeat}})
				continue
			}
			m.do(ef)
		}
		solvent(r, m)
		again(t, m, p)
	})
}

// answer does something for the first task that waits for a person.
func answer(r *rapid.T, m *sim) {
	for v := range m.s.Tasks() {
		if !v.Wait.NeedsPerson() {
			continue
		}
		if v.Wait != ForBudget {
			m.must(Fact{Kind: TaskEnded, Task: v.ID, Body: ok()})
			return
		}
		for w := range m.s.Withheld() {
			if w.Task != v.ID {
				continue
			}
			if rapid.IntRange(0, 3).Draw(r, "deny") == 0 {
				m.must(Fact{Kind: BudgetDenied, Task: w.Of, Body: &Denied{}})
			} else {
				m.must(Fact{Kind: BudgetRaised, Task: w.Of, Body: &Raised{By: budget.Amount{}.With(w.Short, 4)}})
			}
			return
		}
	}
	r.Fatalf("nothing runs and nobody is asked: %v", m.log)
}

func solvent(r *rapid.T, m *sim) {
	check(r, m)
	under := int64(0)
	for v := range m.s.Tasks() {
		if v.Status == Running && !v.Group && m.s.counts(v.Spec) {
			under++
		}
	}
	if held := m.s.purseOf(0).Held.Calls; held != under {
		r.Fatalf("%d calls are held, %d are under way", held, under)
	}
	for i := range m.s.nodes {
		limit := m.s.limitOf(int32(i))
		if p := m.s.nodes[i].purse; p != nil && limit.Calls > 0 && p.Spent.Calls+p.Held.Calls > limit.Raised(p.Raised).Calls {
			r.Fatalf("%s: %d calls spent and %d held of %d", m.s.nodes[i].id, p.Spent.Calls, p.Held.Calls, limit.Raised(p.Raised).Calls)
		}
	}
	if len(m.s.aside) > 0 && m.s.running == 0 && m.s.Phase == PlanRunning {
		r.Fatalf("%d tasks stand aside for nobody", len(m.s.aside))
	}
}
