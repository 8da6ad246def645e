package rehearsal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

func team(t testing.TB, text string) rehearsal.Team {
	t.Helper()
	got, err := rehearsal.ParseTeam("team.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const gated = `
plan: gated
tasks:
  - {id: build, uses: shell, run: 'true', estimate: 1m}
  - {id: agree, kind: gate, needs: [build], approve: {role: reviewer}}
  - {id: ship, uses: shell, run: 'true', estimate: 1m, needs: [agree]}
`

// The rehearsal begins on a Monday at nine.
func TestPeopleAnswerInWorkingHours(t *testing.T) {
	r := rehearse(t, read(t, gated), rehearsal.Options{Team: team(t, "roles: {reviewer: {people: [ann], response: 1m, hours: 14-15, days: wed}}")})
	if f := r.Finish; f.P50.D() < 53*time.Hour || f.Worst.D() > 54*time.Hour { // Wednesday from 14:00 on
		t.Errorf("%+v", f)
	}
	if len(r.Holds) != 1 || r.Holds[0].Task != "agree" || !slices.Equal(r.Holds[0].Who, []string{"ann"}) || r.Holds[0].Path != r.Holds[0].Waited {
		t.Errorf("%+v", r.Holds)
	}
	if len(r.People) != 1 || r.People[0].Who != "ann" || r.People[0].Answers != 1 || r.Path[0] != "agree" {
		t.Errorf("%+v, path %v", r.People, r.Path)
	}
}

func TestSomebodyMaySayNo(t *testing.T) {
	p := read(t, gated)
	r := rehearse(t, p, rehearsal.Options{Times: 2000, Team: team(t, "roles: {reviewer: {approve: 75%}}")})
	if r.Completed < 0.71 || r.Completed > 0.79 || r.Failing[0] != "agree" {
		t.Errorf("completed %v, failing %v", r.Completed, r.Failing)
	}
	// Two of three must agree: the first two answers count, and each may be a no.
	p = read(t, strings.Replace(gated, "role: reviewer", "role: reviewer, quorum: 2", 1))
	r = rehearse(t, p, rehearsal.Options{Times: 2000, Team: team(t, "roles: {reviewer: {people: [ann, bob, cem], approve: 75%}}")})
	if r.Completed < 0.52 || r.Completed > 0.60 {
		t.Errorf("completed %v, want about 0.56", r.Completed)
	}
}

func TestJudgementsAndChecks(t *testing.T) {
	p := read(t, `
plan: p
tasks:
  - {id: write, owner: ann, uses: shell, run: 'true', expect: [{judge: it reads well}]}
  - {id: small, kind: gate, needs: [write], checks: ['outputs_of.write.size < 9']}
  - {id: never, kind: gate, checks: ['1 > 2'], next: {failure: [sorry]}}
  - {id: sorry, uses: shell, run: 'true'}
`)
	faults, err := rehearsal.ParseFaults([]string{"small=40%"})
	if err != nil {
		t.Fatal(err)
	}
	r := rehearse(t, p, rehearsal.Options{Times: 1000, Faults: faults, Team: team(t, "roles: {editor: {people: [ann], approve: 50%}}")})
	if r.Completed < 0.26 || r.Completed > 0.34 || r.Holds[0].Task != "write" || task(t, r, "never").Failed != 1 || task(t, r, "sorry").Attempts < 0.99 {
		t.Errorf("completed %v, want about 0.3; %+v", r.Completed, r.Tasks)
	}
}

// One person does one thing after the other; two do them at once.
func TestPeopleAreBusy(t *testing.T) {
	p := read(t, "plan: p\ntasks:\n  - {id: a, kind: manual, owner: hands, estimate: 4h}\n  - {id: b, kind: manual, owner: hands, estimate: 4h}\n")
	one := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {hands: {response: 1s, hours: 0-24, days: sun-sat}}")})
	both := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {hands: {people: [ann, bob], response: 1s, hours: 0-24, days: sun-sat}}")})
	if one.Finish.P50.D() < 7*time.Hour || both.Finish.P50.D() > 6*time.Hour {
		t.Errorf("one alone %v, two %v", one.Finish.P50.D(), both.Finish.P50.D())
	}
	night := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {hands: {response: 1s}}")})
	if night.Finish.P50.D() < one.Finish.P50.D() {
		t.Errorf("%v with nights off", night.Finish.P50.D())
	}
	faults, err := rehearsal.ParseFaults([]string{"b=100%"})
	if err != nil {
		t.Fatal(err)
	}
	if r := rehearse(t, p, rehearsal.Options{Faults: faults}); r.Failed != 1 || r.Finish != nil {
		t.Errorf("failed %v, %+v", r.Failed, r.Finish)
	}
}

func TestSomebodyTheTeamDoesNotKnow(t *testing.T) {
	p := read(t, gated)
	if r := rehearse(t, p, rehearsal.Options{}); len(r.Assumed) != 0 || r.People[0].Who != "reviewer" {
		t.Errorf("%+v, %+v", r.Assumed, r.People)
	}
	r := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {owner: {people: [ann]}}")})
	if len(r.Assumed) != 1 || r.Assumed[0].Tasks[0] != "agree" {
		t.Errorf("%+v", r.Assumed)
	}
}

func TestTeamFiles(t *testing.T) {
	got := team(t, "roles:\n  anyone: {response: 30m, hours: 8:30-12}\n  lead: {days: sat-mon, approve: 0.5}\n")
	lead := got["lead"]
	if lead.Response != 30*time.Minute || lead.From != 8*time.Hour+30*time.Minute || lead.To != 12*time.Hour || lead.Approve != 0.5 ||
		lead.Days != [7]bool{0: true, 1: true, 6: true} || got[rehearsal.Anyone].Approve != 1 {
		t.Errorf("%+v", lead)
	}
	for text, says := range map[string]string{
		"roles: [": "team.yaml:1", "{}": "the one key roles", "roles: 5": "the one key roles", "roles: {}\nx: 1": "the one key roles",
		"roles: {a: 5}": "no map", "roles: {anyone: 5}": "no map", "roles: {a: {respons: 1h}}": "means nothing", "roles: {a: {zzz: 1h}}": "means nothing",
		"roles: {a: {people: ann}}": "list of different names", "roles: {a: {people: [ann, ann]}}": "list of different names", "roles: {a: {people: []}}": "list of",
		"roles: {a: {response: soon}}": "a duration", "roles: {a: {hours: 17-9}}": "range of hours", "roles: {a: {hours: 9-25}}": "range of hours",
		"roles: {a: {hours: all}}": "range of hours", "roles: {a: {hours: '9:x-10'}}": "range of hours", "roles: {a: {days: someday}}": "range of days",
		"roles: {a: {approve: 200%}}": "a share",
	} {
		_, err := rehearsal.ParseTeam("team.yaml", []byte(text))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAPipelineIsOne(t *testing.T) {
	p := &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Run: "f(x=1) -> y; g(y)"}, {ID: "b", Run: "f(x=1) -> y; h(y)"}, {ID: "c", Run: "prose"}}}
	r := rehearse(t, p, rehearsal.Options{Lookup: lookup("pipeline", "f", "g")})
	if task(t, r, "a").Attempts != 1 || task(t, r, "b").Attempts != 0 || len(r.Holds) != 2 {
		t.Errorf("%+v", r)
	}
	if p.Tasks[0].Uses != "" {
		t.Error("the plan was changed")
	}
}

// More must agree than there are: no rehearsal comes to an end, and the report says where.
func TestTooFewPeople(t *testing.T) {
	p := read(t, strings.Replace(gated, "role: reviewer", "role: reviewer, quorum: 2", 1))
	r := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {reviewer: {people: [ann]}}")})
	if r.Unfinished != 1 || r.Finish != nil || !slices.Equal(r.Stuck, []string{"agree"}) {
		t.Errorf("unfinished %v, stuck at %v", r.Unfinished, r.Stuck)
	}
	// Where the team names nobody, enough are made up.
	if r := rehearse(t, p, rehearsal.Options{}); r.Completed != 1 || len(r.People) != 2 || len(r.Holds[0].Who) != 2 {
		t.Errorf("completed %v by %+v", r.Completed, r.People)
	}
}

func TestPoliciesHoldTasks(t *testing.T) {
	p := read(t, "policy: {approve: {deploy: [lead]}}\n"+strings.Replace(gated, "{id: ship", "{id: ship, kind: deploy", 1))
	r := rehearse(t, p, rehearsal.Options{})
	if r.Completed != 1 || len(r.Holds) != 2 || !slices.ContainsFunc(r.People, func(v rehearsal.Person) bool { return v.Who == "lead" }) {
		t.Errorf("%+v, %+v", r.Holds, r.People)
	}
	never, err := policy.New(policy.Source{Name: "cairn.yaml", Policy: &plan.Policy{Rules: []plan.Rule{{Name: "freeze", When: "task.kind == 'deploy'", Deny: "not now"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r = rehearse(t, p, rehearsal.Options{Rules: never})
	if r.Failed != 1 || !slices.Equal(r.Failing, []string{"ship"}) {
		t.Errorf("failed %v: %v", r.Failed, r.Failing)
	}
}

// Ann does not work this week: after a day the lead may decide, and without a lead the gate is given up.
func TestGatesEscalateAndExpire(t *testing.T) {
	slow := team(t, "roles: {reviewer: {people: [ann], days: sat}, lead: {people: [bob], response: 1m}}")
	p := read(t, strings.Replace(gated, "role: reviewer", "role: reviewer, within: 24h, escalate: [lead]", 1))
	r := rehearse(t, p, rehearsal.Options{Team: slow})
	if r.Completed != 1 || r.Finish.P50.D() < 24*time.Hour || r.Finish.Worst.D() > 26*time.Hour || r.People[0].Who != "bob" || r.Holds[0].Waited.D() < 24*time.Hour {
		t.Errorf("%+v by %+v, %+v", r.Finish, r.People, r.Holds)
	}
	p = read(t, strings.Replace(gated, "role: reviewer", "role: reviewer, within: 24h", 1))
	r = rehearse(t, p, rehearsal.Options{Team: slow})
	if r.Failed != 1 || !slices.Equal(r.Failing, []string{"agree"}) || r.Holds[0].Waited.D() != 24*time.Hour {
		t.Errorf("failed %v, %+v", r.Failed, r.Holds)
	}
}

// A budget that is too small is raised by whoever is asked, or not.
func TestBudgetsAreRaisedOrNot(t *testing.T) {
	p := read(t, `
plan: p
policy: {budget: {calls: 1, cost: 1 EUR}}
tasks:
  - {id: a, uses: shell, run: 'true', estimate: 1m, budget: {cost: 1 EUR, time: 30s}}
  - {id: b, uses: shell, run: 'true', estimate: 1m, needs: [a], budget: {cost: 2 EUR}}
`)
	r := rehearse(t, p, rehearsal.Options{})
	if r.Completed != 1 || r.Short != 1 || r.Holds[0].Path == 0 || task(t, r, "b").Attempts != 1 {
		t.Errorf("completed %v, short %v, %+v, %+v", r.Completed, r.Short, r.Holds, r.Tasks)
	}
	if r := rehearse(t, p, rehearsal.Options{Team: team(t, "roles: {anyone: {approve: 0%}}")}); r.Failed != 1 || r.Failing[0] != "a" {
		t.Errorf("failed %v: %v", r.Failed, r.Failing)
	}
}

// What does not hold is not let through: a gate whose checks fail is rejected by whoever is asked.
func TestNobodyApprovesFailingChecks(t *testing.T) {
	p := read(t, "plan: p\ntasks:\n  - {id: g, kind: gate, checks: ['1 > 2'], approve: {role: lead}}\n")
	if r := rehearse(t, p, rehearsal.Options{}); r.Failed != 1 || len(r.Holds) != 1 {
		t.Errorf("failed %v, %+v", r.Failed, r.Holds)
	}
}

// What takes longer than the clock goes is not finished, and neither turns over nor takes for ever.
func TestAHundredYearsAreEnough(t *testing.T) {
	slow := team(t, "roles: {anyone: {response: 4000w, hours: 9-9:01, days: mon}}")
	p := read(t, "plan: p\ntasks:\n  - {id: a, kind: manual, estimate: 4000w}\n  - {id: b, uses: shell, run: 'true', estimate: 4000w}\n  - {id: c, uses: shell, run: 'true', needs: [b], estimate: 4000w}\n")
	if r := rehearse(t, p, rehearsal.Options{Team: slow}); r.Unfinished != 1 || r.Finish != nil {
		t.Errorf("unfinished %v, %+v", r.Unfinished, r.Finish)
	}
}

// Ann is the only reviewer, and may not approve what she wrote herself.
func TestTheAuthorDoesNotCount(t *testing.T) {
	p := read(t, strings.Replace(gated, "role: reviewer", "role: reviewer, not: author", 1))
	alone := team(t, "roles: {reviewer: {people: [ann]}}")
	if r := rehearse(t, p, rehearsal.Options{Team: alone, Author: "person:ann"}); r.Unfinished != 1 || !slices.Equal(r.Stuck, []string{"agree"}) {
		t.Errorf("unfinished %v, stuck at %v", r.Unfinished, r.Stuck)
	}
	if r := rehearse(t, p, rehearsal.Options{Team: alone, Author: "person:bob"}); r.Completed != 1 {
		t.Errorf("completed %v", r.Completed)
	}
}
