package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
)

func dag(tasks ...plan.Task) *plan.Plan { return &plan.Plan{Name: "p", Tasks: tasks} }

func TestDiamondRunsInOrder(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"), needs(task("c"), "a"), needs(task("d"), "b", "c"))
	m := newSim(t, p).run().want("a:completed b:completed c:completed d:completed").phase(PlanCompleted)
	if got := strings.Join(m.started, " "); got != "a b c d" {
		t.Error(got)
	}
	m.replays(p)
}

func TestPureStartsAreNotRecorded(t *testing.T) {
	a := task("a")
	a.Uses = "noop"
	m := newSim(t, dag(a)).run().phase(PlanCompleted)
	if got := strings.Join(m.log, ","); got != "plan.started,task.ended a,plan.ended" {
		t.Error(got)
	}
}

func TestOrderIsPriorityThenCriticalPathThenID(t *testing.T) {
	low, high := 1, 5
	a, b, c, d := task("a"), task("b"), task("c"), task("d")
	a.Priority, b.Priority, c.Priority, d.Priority = &low, &low, &high, &low
	long := needs(task("long"), "d")
	long.Estimate = plan.Duration(time.Hour)
	p := dag(a, b, c, d, long)
	p.Policy = &plan.Policy{Workers: 1}
	m := newSim(t, p).run()
	if got := strings.Join(m.started, " "); got != "c d a b long" {
		t.Error(got)
	}
}

func TestWorkersBoundWhatRuns(t *testing.T) {
	p := dag(task("a"), task("b"), task("c"))
	p.Policy = &plan.Policy{Workers: 2}
	m := newSim(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	if len(m.todo) != 2 {
		t.Fatalf("%d started", len(m.todo))
	}
	m.on().phase(PlanCompleted)
}

func TestLocksExclude(t *testing.T) {
	a, b := task("a"), task("b")
	a.Locks, b.Locks = []string{"db"}, []string{"db", "net"}
	m := newSim(t, dag(a, b, task("c")))
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	if got := strings.Join(m.started, " "); got != "a c" {
		t.Fatal(got)
	}
	m.on().phase(PlanCompleted)
}

func TestRetriesWaitLongerEachTimeAndThenFail(t *testing.T) {
	a := task("a")
	a.Retry = &plan.Retry{Times: 2, Backoff: plan.Backoff{Min: plan.Duration(2 * time.Second), Max: plan.Duration(30 * time.Second)}}
	p := dag(a, needs(task("b"), "a"), task("c"))
	m := newSim(t, p)
	m.outcome = func(id string, attempt int) *Ended {
		if id == "a" {
			return bad("")
		}
		return ok()
	}
	m.run().want("a:failed b:pending c:completed").phase(PlanFailed)
	if n := strings.Count(strings.Join(m.log, "\n"), "task.retried a"); n != 2 {
		t.Errorf("%d retries", n)
	}
	for v := range m.s.Tasks() {
		if v.ID == "b" && v.Blocked != "a" {
			t.Error("b is not shown as blocked by a")
		}
	}
	m.replays(p)
	m.outcome = func(string, int) *Ended { return ok() }
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
	m.on().want("a:completed b:completed c:completed").phase(PlanCompleted)
	m.replays(p)
}

func TestRecoveryRunsAndTheTaskIsTriedAgain(t *testing.T) {
	a := task("a")
	a.Failure = []plan.FailureMode{{Name: "flaky", Recover: "fix"}}
	p := dag(a, task("fix"), needs(task("b"), "a"))
	m := newSim(t, p)
	m.outcome = func(id string, attempt int) *Ended {
		if id == "a" && attempt < 3 {
			return bad("flaky")
		}
		return ok()
	}
	m.run().want("a:completed fix:completed b:completed").phase(PlanCompleted)
	if got := strings.Join(m.started, " "); got != "a fix a fix a b" {
		t.Error(got)
	}
	m.replays(p)

	unneeded := newSim(t, p).run().want("a:completed fix:skipped b:completed").phase(PlanCompleted)
	unneeded.replays(p)

	hopeless := newSim(t, p)
	hopeless.outcome = func(id string, _ int) *Ended {
		if id == "a" {
			return bad("flaky")
		}
		return ok()
	}
	hopeless.run().want("a:failed fix:completed b:pending").phase(PlanFailed)
	if n := strings.Count(strings.Join(hopeless.started, " "), "fix"); n != maxExecutions {
		t.Errorf("recovered %d times", n)
	}

	broken := newSim(t, p)
	broken.outcome = func(id string, _ int) *Ended {
		if id == "b" {
			return ok()
		}
		return bad("flaky")
	}
	broken.run().want("a:failed fix:failed b:pending").phase(PlanFailed).replays(p)
}

func TestProseRecoveryAsksAPerson(t *testing.T) {
	a := task("a")
	a.Failure = []plan.FailureMode{{Name: "none", Recover: "broaden the query"}}
	p := dag(a)
	m := newSim(t, p)
	m.outcome = func(string, int) *Ended { return bad("none") }
	m.run().want("a:waiting")
	m.must(Fact{Kind: TaskEnded, Task: "a", Attempt: 1, Body: ok()})
	m.phase(PlanCompleted).replays(p)
}

func TestFailureRoute(t *testing.T) {
	a := task("a")
	a.Next = &plan.Next{Success: []string{"ship"}, Failure: []string{"widen"}}
	p := dag(a, task("ship"), task("widen"), needs(task("after"), "widen"))
	good := newSim(t, p).run().want("a:completed ship:completed widen:skipped after:completed").phase(PlanCompleted)
	good.replays(p)
	m := newSim(t, p)
	m.outcome = func(id string, _ int) *Ended {
		if id == "a" {
			return bad("")
		}
		return ok()
	}
	m.run().phase(PlanCompleted).replays(p)
	m.want("a:failed ship:skipped widen:completed after:completed")
}

func TestNeedsOfARoutedFailureAreSkipped(t *testing.T) {
	a := task("a")
	a.Next = &plan.Next{Failure: []string{"widen"}}
	p := dag(a, needs(task("ship"), "a"), task("widen"))
	m := newSim(t, p)
	m.outcome = func(id string, _ int) *Ended {
		if id == "a" {
			return bad("")
		}
		return ok()
	}
	m.run().want("a:failed ship:skipped widen:completed").phase(PlanCompleted).replays(p)
}

func TestRouteBackRunsThePathAgainAtMostThreeTimes(t *testing.T) {
	check := needs(task("check"), "build")
	check.Next = &plan.Next{Failure: []string{"draft"}}
	p := dag(task("draft"), needs(task("build"), "draft"), check, needs(task("ship"), "check"))
	m := newSim(t, p)
	m.outcome = func(id string, attempt int) *Ended {
		if id == "check" && attempt < 3 {
			return bad("")
		}
		return ok()
	}
	m.run().want("draft:completed build:completed check:completed ship:completed").phase(PlanCompleted).replays(p)
	if got := strings.Join(m.started, " "); got != "draft build check draft build check draft build check ship" {
		t.Error(got)
	}
	never := newSim(t, p)
	never.outcome = func(id string, _ int) *Ended {
		if id == "check" {
			return bad("")
		}
		return ok()
	}
	never.run().want("draft:completed build:completed check:failed ship:pending").phase(PlanFailed).replays(p)
}

func TestWhenSkipsAndWhatReadsItIsSkipped(t *testing.T) {
	a, b := task("a"), needs(task("b"), "a")
	a.When = "false"
	b.Run = "echo ${a.x}"
	p := dag(a, b, needs(task("c"), "a"))
	m := newSim(t, p)
	m.assess = func(string) *Assessed { return &Assessed{Run: false, Why: "not the case"} }
	m.run().want("a:skipped b:skipped c:completed").phase(PlanCompleted).replays(p)

	broken := newSim(t, p)
	broken.assess = func(string) *Assessed { return &Assessed{Failed: true, Why: "no such key"} }
	broken.run().want("a:failed b:pending c:pending").phase(PlanFailed)
}

func TestEachFansOut(t *testing.T) {
	dig := needs(task("dig"), "a")
	dig.Each = "${a.list}"
	p := dag(task("a"), dig, needs(task("sum"), "dig"))
	m := newSim(t, p)
	m.assess = func(string) *Assessed { return count(11) }
	m.run().phase(PlanCompleted).replays(p)
	if got := strings.Join(m.started, " "); got != "a dig-1 dig-2 dig-3 dig-4 dig-5 dig-6 dig-7 dig-8 dig-9 dig-10 dig-11 sum" {
		t.Error(got)
	}
	none := newSim(t, p)
	none.assess = func(string) *Assessed { return count(0) }
	none.run().want("a:completed dig:completed sum:completed").phase(PlanCompleted)

	asks := newSim(t, p)
	asks.run().want("a:completed dig:waiting sum:pending")

	half := newSim(t, p)
	half.assess = func(string) *Assessed { return count(2) }
	half.outcome = func(id string, _ int) *Ended {
		if id == "dig-1" {
			return bad("")
		}
		return ok()
	}
	half.run().want("a:completed dig:failed dig-1:failed dig-2:completed sum:pending").phase(PlanFailed).replays(p)

	taken := dag(task("a"), dig, task("dig-2"))
	clash := newSim(t, taken)
	clash.assess = func(string) *Assessed { return count(3) }
	clash.run().want("a:completed dig:failed dig-2:completed").phase(PlanFailed)
}

func TestEachThatIsReachedAgainHasNewItems(t *testing.T) {
	dig := needs(task("dig"), "a")
	dig.Each = "${a.list}"
	check := needs(task("check"), "dig")
	check.Next = &plan.Next{Failure: []string{"a"}}
	p := dag(task("a"), dig, check)
	m := newSim(t, p)
	n := 3
	m.assess = func(string) *Assessed { n--; return count(n) }
	m.outcome = func(id string, attempt int) *Ended {
		if id == "check" && attempt == 1 {
			return bad("")
		}
		return ok()
	}
	m.run().want("a:completed dig:completed dig-1:completed check:completed").phase(PlanCompleted).replays(p)
}

func TestSubplan(t *testing.T) {
	sub := func(inner ...plan.Task) plan.Task {
		return plan.Task{ID: "sub", Subplan: &plan.Subplan{Tasks: inner}}
	}
	p := dag(sub(task("x"), needs(task("y"), "x")), needs(task("z"), "sub"))
	newSim(t, p).run().want("sub:completed sub/x:completed sub/y:completed z:completed").phase(PlanCompleted).replays(p)

	m := newSim(t, p)
	m.outcome = func(id string, _ int) *Ended {
		if id == "sub/x" {
			return bad("")
		}
		return ok()
	}
	m.run().want("sub:failed sub/x:failed sub/y:pending z:pending").phase(PlanFailed).replays(p)
	m.outcome = func(string, int) *Ended { return ok() }
	m.must(Fact{Kind: PlanRetried, Body: &Reason{}})
	m.on().want("sub:completed sub/x:completed sub/y:completed z:completed").phase(PlanCompleted).replays(p)

	empty := dag(sub(), needs(task("z"), "sub"))
	newSim(t, empty).run().want("sub:completed z:completed").phase(PlanCompleted)

	s := sub(task("x"), needs(task("y"), "x"))
	s.Each = "[1,2]"
	each := dag(s, needs(task("z"), "sub"))
	e := newSim(t, each)
	e.assess = func(string) *Assessed { return count(2) }
	e.run().phase(PlanCompleted).replays(each)
	e.want("sub:completed sub-1:completed sub-1/x:completed sub-1/y:completed sub-2:completed sub-2/x:completed sub-2/y:completed z:completed")

	skipped := sub(task("x"))
	skipped.When = "false"
	k := newSim(t, dag(skipped))
	k.assess = func(string) *Assessed { return &Assessed{} }
	k.run().want("sub:skipped sub/x:skipped").phase(PlanCompleted)

	routed := sub(task("x"))
	routed.Next = &plan.Next{Failure: []string{"plan-b"}}
	r := newSim(t, dag(routed, task("plan-b")))
	r.outcome = func(id string, _ int) *Ended {
		if id == "sub/x" {
			return bad("")
		}
		return ok()
	}
	r.run().want("sub:failed sub/x:failed plan-b:completed").phase(PlanCompleted)
}

func TestRouteBackOverASubplan(t *testing.T) {
	sub := plan.Task{ID: "sub", Needs: []string{"a"}, Subplan: &plan.Subplan{Tasks: []plan.Task{task("x"), needs(task("y"), "x")}}}
	check := needs(task("check"), "sub")
	check.Next = &plan.Next{Failure: []string{"a"}}
	p := dag(task("a"), sub, check)
	m := newSim(t, p)
	m.outcome = func(id string, attempt int) *Ended {
		if id == "check" && attempt == 1 {
			return bad("")
		}
		return ok()
	}
	m.run().want("a:completed sub:completed sub/x:completed sub/y:completed check:completed").phase(PlanCompleted).replays(p)
	if got := strings.Join(m.started, " "); got != "a sub/x sub/y check a sub/x sub/y check" {
		t.Error(got)
	}
}

func TestPeople(t *testing.T) {
	manual := plan.Task{ID: "sign"}
	gate := plan.Task{ID: "gate", Kind: plan.Gate}
	auto := plan.Task{ID: "auto", Kind: plan.Gate, Checks: []plan.Criterion{{Says: "1 == 1"}}}
	mile := plan.Task{ID: "mile", Kind: plan.Milestone, Needs: []string{"sign", "gate", "auto"}}
	p := dag(manual, gate, auto, mile)
	m := newSim(t, p).run().want("sign:waiting gate:waiting auto:completed mile:pending")
	if !m.s.OnlyPeople() || !m.s.Idle() {
		t.Error("only people can go on, and it does not say so")
	}
	m.must(Fact{Kind: TaskEnded, Task: "sign", Body: ok()})
	m.must(Fact{Kind: GateDecided, Task: "gate", Body: &Decided{Approved: true}})
	m.want("sign:completed gate:completed auto:completed mile:completed").phase(PlanCompleted).replays(p)

	no := newSim(t, p).run()
	no.must(Fact{Kind: GateDecided, Task: "gate", Body: &Decided{Why: "no"}})
	no.phase(PlanBlocked).want("sign:waiting gate:failed auto:completed mile:pending")

	checks := newSim(t, p)
	checks.assess = func(string) *Assessed { return &Assessed{Run: true, Checks: []Verdict{{Says: "1 == 1"}}} }
	checks.run().want("sign:waiting gate:waiting auto:failed mile:pending")
}

func TestProseCriteriaWaitForAJudge(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"))
	judged := func(id string, _ int) *Ended {
		e := ok()
		if id == "a" {
			e.Criteria = []Verdict{{Says: "reads well", Judge: true}}
		}
		return e
	}
	m := newSim(t, p)
	m.outcome = judged
	m.run().want("a:waiting b:pending")
	m.must(Fact{Kind: TaskJudged, Task: "a", Body: &Judged{Accepted: true}})
	m.on().phase(PlanCompleted).replays(p)

	no := newSim(t, p)
	no.outcome = judged
	no.run()
	no.must(Fact{Kind: TaskJudged, Task: "a", Body: &Judged{Why: "it does not"}})
	no.on().want("a:failed b:pending").phase(PlanFailed)

	q := dag(task("a"))
	q.Policy = &plan.Policy{Unjudged: "accept"}
	lax := newSim(t, q)
	lax.outcome = judged
	lax.run().phase(PlanCompleted)
}

func TestPauseHoldsStartsAndCancelEndsAll(t *testing.T) {
	p := dag(task("a"), needs(task("b"), "a"))
	m := newSim(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	m.must(Fact{Kind: PlanPaused, Body: &Reason{}})
	m.on().want("a:completed b:ready").phase(PlanIsPaused)
	if !m.s.Idle() {
		t.Error("a paused plan with nothing running is not idle")
	}
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2, Workers: 7}})
	if m.s.Epoch != 2 || m.s.Workers != 7 {
		t.Error("the session was not taken over")
	}
	m.must(Fact{Kind: PlanCancelled, Body: &Reason{}})
	if len(m.todo) != 0 {
		t.Error("the attempt under way is not stopped")
	}
	m.want("a:completed b:abandoned").phase(PlanAbandoned).replays(p)
}

func TestInterruptedAttemptsDoNotCountAsRetries(t *testing.T) {
	a := task("a")
	a.Retry = &plan.Retry{Times: 1}
	p := dag(a)
	m := newSim(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	for range 5 {
		un := m.s.Unfinished()
		if len(un) != 1 {
			t.Fatalf("%d unfinished", len(un))
		}
		attempt := un[0].Attempt
		m.todo = nil
		m.must(Fact{Kind: PlanResumed, Body: &Session{}})
		m.must(Fact{Kind: TaskInterrupted, Task: "a", Attempt: attempt, Body: &Interrupted{Then: Repeat}})
	}
	m.on().phase(PlanCompleted).replays(p)
	undisturbed := newSim(t, p).run()
	if m.s.Hash() != undisturbed.s.Hash() {
		t.Error("a disturbed run ends in another hash")
	}
}

func TestUnknownOutcomeAsks(t *testing.T) {
	p := dag(task("a"))
	m := newSim(t, p)
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	m.todo = nil
	m.must(Fact{Kind: TaskInterrupted, Task: "a", Attempt: 1, Body: &Interrupted{Then: Ask, Why: "cut off"}})
	m.want("a:waiting")
	m.must(Fact{Kind: TaskInterrupted, Task: "a", Body: &Interrupted{Then: Repeat}})
	m.on().phase(PlanCompleted).replays(p)
}

func TestOutstandingIsWhatANewEngineTakesUp(t *testing.T) {
	pure, timed, asked := task("pure"), task("timed"), task("asked")
	pure.Uses = "noop"
	timed.Retry = &plan.Retry{Times: 1}
	asked.When = "true"
	m := newSim(t, dag(pure, timed, asked))
	m.must(Fact{Kind: PlanStarted, Body: &Session{}})
	m.must(Fact{Kind: TaskEnded, Task: "timed", Attempt: 1, Body: bad("")})
	kinds := map[string]EffectKind{}
	for _, ef := range m.s.Outstanding() {
		kinds[ef.Task] = ef.Kind
	}
	if len(kinds) != 3 || kinds["pure"] != Start || kinds["timed"] != Arm || kinds["asked"] != Assess {
		t.Error(kinds)
	}
}

func TestNothingStartsWhileNobodyTendsThePlan(t *testing.T) {
	p := dag(plan.Task{ID: "sign"}, needs(task("b"), "sign"))
	m := newSim(t, p).run()
	m.must(Fact{Kind: PlanLeft, Body: &Reason{}})
	m.must(Fact{Kind: TaskEnded, Task: "sign", Body: ok()})
	m.want("sign:completed b:ready")
	m.must(Fact{Kind: PlanResumed, Body: &Session{Epoch: 2}})
	m.on().want("sign:completed b:completed").phase(PlanCompleted).replays(p)
}
