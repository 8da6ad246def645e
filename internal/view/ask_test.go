package view

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

const desk = `
plan: desk
policy: {budget: {calls: 1}, approve: {budget: [owner]}, review: {at: ["17:00"]}}
tasks:
  - {id: ship, kind: gate, description: "May it go out?", checks: [{judge: it reads well}], approve: {role: lead, quorum: 2, not: author, within: 1h, escalate: [owner], evidence: [diff]}}
  - {id: deploy, uses: shell, run: "deploy --all\n# done", needs: [ship]}
  - {id: push, uses: shell, run: git push}
  - {id: ask, uses: human.ask, with: {question: "Where?", to: eve, default: here}}
  - {id: choose, uses: human.decide, title: Choose}
  - {id: odd, uses: human.ask}
  - {id: hand, title: Carry it, outputs: {proof: {type: file}}}
  - {id: poem, uses: noop, expect: [{judge: it rhymes}]}
  - {id: mail, uses: mail}
  - {id: before, uses: noop}
  - {id: dear, uses: shell, run: "true", needs: [before]}
  - {id: dearer, uses: shell, run: "true", needs: [before]}
`

// atDesk carries the desk plan to where everything waits, under today's law.
func atDesk(t *testing.T) *sim {
	t.Helper()
	p := read(t, desk)
	m := &sim{t: t, st: lifecycle.New(p.Name), now: start, outcome: map[string][]*lifecycle.Ended{}, assess: map[string]*lifecycle.Assessed{}}
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Actor: "person:ann", Time: m.now,
		Body: &lifecycle.Submitted{Tasks: len(p.Tasks), Capabilities: installed, Law: lifecycle.Law, Guarded: []string{"push"}}}
	derived, err := m.st.Submit(f, p)
	if err != nil {
		t.Fatal(err)
	}
	m.record(f, derived)
	subject := digest.Sum([]byte("what is to be seen"))
	m.assess["ship"] = &lifecycle.Assessed{Run: true, Subject: subject, Demands: []gate.Demand{
		{Roles: []string{"lead"}, Quorum: 2, Not: gate.Author, Within: time.Hour, Escalate: []string{"owner"}}}}
	m.assess["push"] = &lifecycle.Assessed{Run: true, Subject: subject, Demands: []gate.Demand{{Rule: "rule pushes of cairn.yaml"}}}
	m.outcome["poem"] = []*lifecycle.Ended{{Outcome: lifecycle.Succeeded, Criteria: []lifecycle.Verdict{{Says: "it rhymes", Judge: true}}}}
	m.start()
	for len(m.todo) > 0 {
		ef := m.todo[0]
		m.todo = m.todo[1:]
		switch {
		case ef.Kind == lifecycle.Arm:
		case ef.Kind == lifecycle.Start && ef.Task == "mail":
			m.take(lifecycle.Fact{Kind: lifecycle.TaskInterrupted, Task: "mail", Attempt: 1, Body: &lifecycle.Interrupted{Then: lifecycle.Ask}})
		default:
			m.do(ef)
		}
	}
	return m
}

func (m *sim) asking(now time.Time) Asking {
	since := Waits{}
	for _, r := range m.records {
		since.Note(r)
	}
	return Asking{State: m.st, Since: since, Now: now, Question: func(task string) (lifecycle.Question, error) {
		t, _ := m.st.Task(task)
		switch task {
		case "ask":
			return lifecycle.ReadQuestion(t.Spec, t.Spec.With)
		case "choose":
			return lifecycle.ReadQuestion(t.Spec, json.RawMessage(`{"question":"Which?","options":[{"id":"a b","says":"A","pros":["p"],"cons":["c"],"cost":3},{"id":"b"}]}`))
		}
		return lifecycle.Question{}, errors.New("it reads what is not there")
	}}
}

func TestAsksTellEverythingThatWaits(t *testing.T) {
	m := atDesk(t)
	m.by("bob", lifecycle.GateDecided, "ship", &lifecycle.Decided{Approved: true, Why: "read it", Roles: []string{"lead"}})
	now := start.Add(30 * time.Minute)
	asks := Asks(m.asking(now))
	Overview(asks)
	var b strings.Builder
	if err := AskText(&b, asks, now); err != nil {
		t.Fatal(err)
	}
	golden(t, "asks", b.String())
	if asks[0].Task != "ship" {
		t.Error("what is due comes first, not", asks[0].Task)
	}
	for _, q := range asks {
		if q.Since.IsZero() || len(q.Answers) == 0 || q.Age <= 0 {
			t.Errorf("%+v", q)
		}
	}
}

func TestAsksOfSomebody(t *testing.T) {
	m := atDesk(t)
	m.by("bob", lifecycle.GateDecided, "ship", &lifecycle.Decided{Approved: true, Roles: []string{"lead"}})
	asks := Asks(m.asking(m.now))
	for _, c := range []struct {
		who  gate.Who
		may  string
		mays string
	}{
		{gate.Who{Actor: "person:bob", Roles: []string{"lead"}}, "push", "ship ask dear"},    // bob has agreed to ship
		{gate.Who{Actor: "person:kim", Roles: []string{"lead"}}, "ship push", "ask dear"},    //
		{gate.Who{Actor: "person:ann", Roles: []string{"lead"}}, "push hand", "ship"},        // the author
		{gate.Who{Actor: "person:eve"}, "ask choose hand poem mail", "ship dear"},            //
		{gate.Who{Actor: "person:joe", Roles: []string{"owner"}}, "dear choose", "ship ask"}, //
	} {
		for _, q := range asks {
			if slices.Contains(strings.Fields(c.may), q.Task) && !q.For(c.who) {
				t.Errorf("%s may not act on %s", c.who.Actor, q.Task)
			}
			if slices.Contains(strings.Fields(c.mays), q.Task) && q.For(c.who) {
				t.Errorf("%s may act on %s", c.who.Actor, q.Task)
			}
		}
	}
}

func TestOverdueAndEscalated(t *testing.T) {
	m := atDesk(t)
	late := m.now.Add(2 * time.Hour)
	q := Asks(m.asking(late))[0]
	if !q.Overdue || !strings.Contains(q.stands(late), "OVERDUE since 15:05") {
		t.Errorf("%+v %s", q, q.stands(late))
	}
	m.now = late
	m.take(lifecycle.Fact{Kind: lifecycle.TimerFired, Task: "ship", Body: &lifecycle.Fired{For: lifecycle.TimerGate}})
	if q = Asks(m.asking(m.now))[0]; q.Overdue || strings.Join(q.By, " ") != "lead owner" {
		t.Errorf("%+v", q)
	}
	if got := clock(q.Due.AddDate(0, 0, 1), m.now); !strings.HasPrefix(got, "2026-01-03 ") {
		t.Error(got)
	}
	if x, is := DecisionOf(m.records[len(m.records)-1]); !is || !strings.Contains(x.text(), "owner may decide too") {
		t.Error(x, is)
	}
}

func TestWindowsOfTheProjectAndOfThePlan(t *testing.T) {
	m := atDesk(t)
	a := m.asking(m.now)
	a.Review = &plan.Review{At: []string{"15:00"}}
	if got := Asks(a)[0].Window.Format("15:04"); got != "17:00" {
		t.Error("the plan's own comes first:", got)
	}
	m.st.Plan.Policy.Review = nil
	if got := Asks(a)[0].Window.Format("15:04"); got != "15:00" {
		t.Error(got)
	}
	past := windows(Asks(a))[0]
	if got := past.says(start.Add(5 * time.Hour)); got != "review since 15:00" {
		t.Error(got)
	}
}

func TestDigestTellsWhatWasDecided(t *testing.T) {
	m := atDesk(t)
	since := m.now
	yes := func(s string) map[string]json.RawMessage {
		return map[string]json.RawMessage{s: json.RawMessage(`"here"`)}
	}
	m.by("bob", lifecycle.GateDecided, "ship", &lifecycle.Decided{Approved: true, Why: "read it", Roles: []string{"lead"}})
	m.by("kim", lifecycle.GateDelegated, "ship", &lifecycle.Delegated{To: "person:joe", Why: "away", Roles: []string{"lead"}})
	m.by("eve", lifecycle.TaskEnded, "ask", &lifecycle.Ended{Outcome: lifecycle.Succeeded, Outputs: yes(lifecycle.AnswerOutput)})
	m.by("eve", lifecycle.TaskJudged, "poem", &lifecycle.Judged{Accepted: true})
	m.by("bob", lifecycle.GateDecided, "push", &lifecycle.Decided{Why: "not today"})
	m.by("ann", lifecycle.TaskEnded, "hand", &lifecycle.Ended{Outcome: lifecycle.Failed, Error: "too heavy", Final: true})
	m.by("joe", lifecycle.BudgetDenied, "", &lifecycle.Denied{Why: "enough"})
	d := Digest{Now: start.Add(time.Hour), Since: since, Asks: Asks(m.asking(start.Add(time.Hour)))}
	Overview(d.Asks)
	m.by("ann", lifecycle.PlanCancelled, "", &lifecycle.Reason{Why: "over"})
	for _, r := range m.records {
		if x, is := DecisionOf(r); is && r.Time.After(since) {
			d.Decided = append(d.Decided, x)
		}
	}
	var b strings.Builder
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "digest", b.String())
	if len(Asks(m.asking(m.now))) > 0 {
		t.Error("a plan that is over asks for something")
	}
}

func TestNothingWaits(t *testing.T) {
	var b strings.Builder
	if err := errors.Join(AskText(&b, nil, start), Digest{Now: start}.Text(&b)); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "nothing waits for anybody\n2026-01-02 14:05: nothing waits for people\n" {
		t.Error(got)
	}
}
