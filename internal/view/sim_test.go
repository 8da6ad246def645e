package view

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with testdata/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.ReplaceAll(string(want), "\r\n", "\n"); got != w {
		t.Errorf("%s differs; got\n%s\nwant\n%s", file, got, w)
	}
}

// sim carries a plan out by a script, under the real law, and keeps the records that a journal would have.
type sim struct {
	t       testing.TB
	st      *lifecycle.State
	head    journal.Head
	now     time.Time
	records []journal.Record
	todo    []lifecycle.Effect
	outcome map[string][]*lifecycle.Ended // of a task: of its first attempt, second, ...; the last goes on
	assess  map[string]*lifecycle.Assessed
}

var start = time.Date(2026, 1, 2, 14, 5, 0, 0, time.UTC)

var installed = map[string]lifecycle.Installed{"shell": {Version: "1", Repeat: capability.Repeatable},
	"noop": {Version: "1", Repeat: capability.Pure}, "mail": {Version: "1", Repeat: capability.Once}}

func read(t testing.TB, yaml string) *plan.Plan {
	t.Helper()
	p, faults := plan.Read("test.yaml", []byte(yaml), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func submit(t testing.TB, p *plan.Plan) *sim {
	t.Helper()
	m := &sim{t: t, st: lifecycle.New(p.Name), now: start, outcome: map[string][]*lifecycle.Ended{}, assess: map[string]*lifecycle.Assessed{}}
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Actor: "person:ann", Time: m.now,
		Body: &lifecycle.Submitted{Title: p.Title, Tasks: len(p.Tasks), Source: "first.yaml", Capabilities: installed}}
	derived, err := m.st.Submit(f, p)
	if err != nil {
		t.Fatal(err)
	}
	m.record(f, derived)
	return m
}

func sample(t testing.TB, yaml string) *sim { t.Helper(); return submit(t, read(t, yaml)) }

func (m *sim) record(f lifecycle.Fact, derived []lifecycle.Derived) {
	m.t.Helper()
	body, err := f.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	m.add(journal.Record{Plan: m.st.Name, Rev: 1, Kind: f.Kind, Time: f.Time, Actor: f.Actor, Task: f.Task, Attempt: f.Attempt, Body: body})
	cause := m.head.Seq
	for _, d := range derived {
		m.add(journal.Record{Plan: m.st.Name, Rev: 1, Kind: d.Kind, Time: f.Time, Actor: lifecycle.Engine, Cause: cause, Task: d.Task,
			Attempt: d.Attempt, Body: d.Body})
	}
}

// add seals a record and reads it back, so that what is told is what was stored.
func (m *sim) add(r journal.Record) {
	m.t.Helper()
	e := journal.Seal(r, m.head)
	got, err := journal.Decode(e)
	if err != nil {
		m.t.Fatal(err)
	}
	m.head, m.records = e.Head(), append(m.records, got)
}

func (m *sim) take(f lifecycle.Fact) *sim {
	m.t.Helper()
	m.now = m.now.Add(time.Second)
	f.Time = m.now
	if f.Actor == "" {
		f.Actor = lifecycle.Engine
	}
	derived, err := m.st.Take(f)
	if err != nil {
		m.t.Fatalf("%s %s: %v", f.Kind, f.Task, err)
	}
	m.record(f, derived)
	m.todo = append(m.todo, m.st.Effects()...)
	return m
}

func (m *sim) start() *sim {
	m.t.Helper()
	return m.take(lifecycle.Fact{Kind: lifecycle.PlanStarted, Body: &lifecycle.Session{Epoch: 1, Engine: "1.0", Host: "bench", PID: 4711}})
}

// run does what is to be done, at most so many things; 0 is all.
func (m *sim) run(most int) *sim {
	m.t.Helper()
	for n := 0; len(m.todo) > 0 && (most == 0 || n < most); n++ {
		ef := m.todo[0]
		m.todo = m.todo[1:]
		m.do(ef)
	}
	return m
}

func (m *sim) do(ef lifecycle.Effect) {
	m.t.Helper()
	switch ef.Kind {
	case lifecycle.Start:
		e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Took: 1200 * time.Millisecond}
		if list := m.outcome[ef.Task]; len(list) > 0 {
			e = list[min(ef.Attempt, len(list))-1]
		}
		m.take(lifecycle.Fact{Kind: lifecycle.TaskEnded, Task: ef.Task, Attempt: ef.Attempt, Body: e})
	case lifecycle.Assess:
		a := m.assess[ef.Task]
		if a == nil {
			a = &lifecycle.Assessed{Run: true}
		}
		m.take(lifecycle.Fact{Kind: lifecycle.TaskAssessed, Task: ef.Task, Body: a})
	case lifecycle.Arm:
		if ef.Due.After(m.now) {
			m.now = ef.Due
		}
		m.take(lifecycle.Fact{Kind: lifecycle.TimerFired, Task: ef.Task, Body: &lifecycle.Fired{}})
	}
}

func (m *sim) by(actor string, kind journal.Kind, task string, body any) *sim {
	m.t.Helper()
	t, _ := m.st.Task(task)
	return m.take(lifecycle.Fact{Kind: kind, Task: task, Attempt: t.Attempt, Actor: "person:" + actor, Body: body})
}

func ok(outputs string, refs ...capability.Ref) *lifecycle.Ended {
	e := &lifecycle.Ended{Outcome: lifecycle.Succeeded, Took: 1400 * time.Millisecond, Artifacts: refs}
	if outputs != "" {
		if err := json.Unmarshal([]byte(outputs), &e.Outputs); err != nil {
			panic(err)
		}
	}
	return e
}

func bad(text, stderr, mode string) *lifecycle.Ended {
	return &lifecycle.Ended{Outcome: lifecycle.Failed, Took: 3 * time.Second, Error: text, Stderr: stderr, Mode: mode}
}

func blob(name, content string) capability.Ref {
	return capability.Ref{Name: name, Hash: digest.Sum([]byte(content)), Size: int64(len(content)), Type: "markdown"}
}

func items(n int) *lifecycle.Assessed { return &lifecycle.Assessed{Run: true, Count: &n} }

// feature is a plan that uses whatever a text has to tell.
const feature = `
plan: feature-x
title: Add partial retries to the HTTP client
goal: {objective: fewer failed downloads}
inputs: {topic: retries}
tasks:
  - id: sources
    title: Find out which methods are idempotent 🔎
    kind: research
    uses: shell
    run: search ${inputs.topic}
    expect: [exit == 0, {judge: each claim cites a primary source}]
    outputs: {notes: {type: markdown}}
  - id: options
    title: 선택지를 비교한다
    kind: analyze
    uses: noop
    needs: [sources]
    with: {notes: "${sources.notes}"}
  - id: dig
    kind: research
    uses: shell
    needs: [options]
    each: "${options.gaps}"
    run: dig ${item}
  - id: agree
    kind: gate
    needs: [options]
    approve: {role: lead}
  - id: build
    title: Build it
    kind: implement
    uses: shell
    run: go test ./...
    needs: [agree]
    when: outputs_of.options.pick == "A"
    retry: {times: 1, backoff: 2s..30s}
    failure: [{name: flaky, detect: exit == 1, recover: calm}]
    next: {success: ship, failure: widen}
  - {id: calm, title: Calm the network down, uses: shell, run: sleep 1}
  - {id: widen, uses: noop}
  - id: ship
    title: Ship it
    uses: mail
  - id: docs
    kind: document
    subplan:
      tasks:
        - {id: draft, title: Write a draft, outputs: {text: {type: markdown, path: docs/draft.md}}}
        - {id: proof, uses: noop, needs: [draft]}
`

// scripted is the plan feature with its outcomes, begun.
func scripted(t testing.TB) *sim {
	t.Helper()
	m := sample(t, feature)
	m.outcome["sources"] = []*lifecycle.Ended{ok(`{"count":3}`, blob("notes", strings.Repeat("All of it.\n", 130)))}
	m.outcome["sources"][0].Criteria = []lifecycle.Verdict{{Says: "exit == 0", OK: true}, {Says: "each claim cites a primary source", Judge: true}}
	m.outcome["options"] = []*lifecycle.Ended{ok(`{"pick":"A","gaps":["one","two","three"],"why":"because it is the smallest change of all that were looked at"}`)}
	m.assess["dig"] = items(3)
	m.outcome["build"] = []*lifecycle.Ended{bad("exit status 1", "ok  client\n--- FAIL: TestBurst\ndial: timeout\n", "flaky"),
		bad("exit status 1", "dial: timeout", "flaky"), ok(`{"tests":212}`)}
	return m.start()
}

// accepted is scripted up to where it waits for people.
func accepted(t testing.TB) *sim {
	t.Helper()
	m := scripted(t).run(0)
	m.by("ann", lifecycle.TaskJudged, "sources", &lifecycle.Judged{Accepted: true, Why: "all cite RFC 9110"})
	return m.run(0)
}

// finished is all of it.
func finished(t testing.TB) *sim {
	t.Helper()
	m := accepted(t).by("bob", lifecycle.GateDecided, "agree", &lifecycle.Decided{Approved: true, Why: "small enough"}).run(0)
	m.by("ann", lifecycle.TaskEnded, "docs/draft", ok("", blob("text", "# Retries"))).run(0)
	return m
}
