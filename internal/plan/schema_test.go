package plan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
)

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func validate(t *testing.T, r *jsonschema.Resolved, raw []byte) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return r.Validate(v)
}

func TestSchemaTakesExamples(t *testing.T) {
	r := resolved(t)
	texts := map[string][]byte{"all.yaml": []byte(everything)}
	seeds, _ := filepath.Glob("testdata/seed/*")
	for _, file := range seeds {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = src
	}
	formats, _ := filepath.Glob("testdata/format/*.txtar")
	for _, file := range formats {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[ar.Files[0].Name] = ar.Files[0].Data
	}
	for file, src := range texts {
		p, faults := Read(file, src, Options{})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, r, b); err != nil {
			t.Errorf("%s: %v\n%s", file, err, b)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	r := resolved(t)
	for _, raw := range []string{
		`{}`, `[]`, `{"plan": "p"}`, `{"plan": "a b", "tasks": []}`,
		`{"plan": "p", "tasks": [], "nope": 1}`,
		`{"plan": "p", "tasks": [{"kind": "design"}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "nope": 1}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "kind": "nope"}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "timeout": "soon"}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "budget": {"cost": 5}}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "budget": {"x-y": 5}}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "expect": [{"text": "x"}]}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "repeat": "often"}]}`,
		`{"plan": "p", "tasks": [{"id": "a", "subplan": {"tasks": [{"id": "b", "nope": 1}]}}]}`,
	} {
		if err := validate(t, r, []byte(raw)); err == nil {
			t.Errorf("the schema takes %s", raw)
		}
	}
	if err := validate(t, r, []byte(`{"plan": "p", "x-a": 1, "tasks": [{"id": "a", "x-b": {}}]}`)); err != nil {
		t.Errorf("x- keys: %v", err)
	}
}

// TestSchemaTellsEveryKey keeps descriptions and aliases in step with the types.
func TestSchemaTellsEveryKey(t *testing.T) {
	known := map[string]bool{}
	for _, typ := range []reflect.Type{reflect.TypeFor[Plan](), reflect.TypeFor[Goal](), reflect.TypeFor[Policy](), reflect.TypeFor[Allow](),
		reflect.TypeFor[Budget](), reflect.TypeFor[Hypothesis](), reflect.TypeFor[PlanArtifact](), reflect.TypeFor[Memory](), reflect.TypeFor[Task](),
		reflect.TypeFor[Approval](), reflect.TypeFor[Output](), reflect.TypeFor[Retry](), reflect.TypeFor[FailureMode](), reflect.TypeFor[Next](),
		reflect.TypeFor[Rollback](), reflect.TypeFor[Subplan](), reflect.TypeFor[LabelRule](), reflect.TypeFor[Rule](), reflect.TypeFor[Watch](), reflect.TypeFor[Review]()} {
		r := recordOf(typ)
		if len(r.fields) > 64 {
			t.Errorf("%s has %d keys, and reading counts them in 64 bits", typ, len(r.fields))
		}
		for _, name := range r.names() {
			known[typ.Name()+"."+name] = true
			if says[typ.Name()+"."+name] == "" {
				t.Errorf("%s.%s is not described", typ.Name(), name)
			}
		}
		for alias, name := range aliases[typ] {
			if !known[typ.Name()+"."+name] || known[typ.Name()+"."+alias] {
				t.Errorf("%s.%s cannot be another spelling of %s", typ.Name(), alias, name)
			}
		}
	}
	for key := range says {
		if !known[key] {
			t.Errorf("%s is described but does not exist", key)
		}
	}
	if !strings.Contains(string(Schema()), `"https://json-schema.org/draft/2020-12/schema"`) {
		t.Error("the schema does not name its dialect")
	}
}

// everything uses every key of the language once.
const everything = `
plan: all
title: Everything
description: Every key once.
owner: ann
version: 2
created: 2026-01-01T00:00:00Z
state: draft
labels: [a, b]
goal: {objective: show, scope: all of it, done: [it shows, outputs_of.work.n > 0], constraints: {time: 2h, tools: [go]}, deadline: 2026-12-01, stakeholders: [ann], context: {k: v}, x-goal: 1}
policy: {budget: {time: 2h, cost: 5 USD, calls: 200, tokens: 1000, day: {calls: 900}}, watch: {deadline: escalate, escalate: lead}, workers: 8, approve: {deploy: [lead]}, unjudged: block, replan: auto, workspace: branch, sandbox: require, allow: {read: [/etc], write: [out], hosts: [example.org], commands: [make]}, labels: {pii: {inputs: [q], deny: [model.*], allow: [shell]}}, limits: {api.example.com: 10/min}, requireGateForProd: true, gates: none, review: {every: 4h, at: ["17:00"]},
  rules: [{name: late, when: now.getHours() > 20, gate: {role: lead}, x-rule: 1}, {name: never, deny: nobody may}], x-policy: [1]}
env: {A: "1"}
inputs: {q: retries}
hypotheses: [{id: h1, says: pool exhaustion, prior: 0.4, cost: low, x-h: true}]
artifacts: [{name: notes, from: work.notes, type: markdown, retention: 30d, x-a: 1}]
memory: {keys: [a.b]}
metrics: [latency]
x-plan: {deep: {er: [1, two, null]}}
tasks:
  - id: work
    title: Work
    description: Do it.
    kind: implement
    owner: bob
    labels: [c]
    priority: -3
    status: pending
    when: inputs.q != ""
    pre: [network.online, disk.free >= 50MB, the room is quiet]
    locks: [db]
    uses: shell
    run: |
      make
      make test
    with: {q: "${inputs.q}", list: [1, 2.5, true, null]}
    capabilities: [file.read]
    env: {B: "2"}
    dir: sub
    repeat: once
    expect: [exit == 0, {judge: it is neat}]
    outputs: {n: number, notes: {type: markdown, retention: forever, from: stdout, labels: [pii], declassify: [pii], description: what was found, x-o: 1}, table: {path: out/table.csv}}
    artifacts: [{name: log, type: log, retention: task}]
    validation: {schema: out.json}
    metrics: [coverage]
    budget: {time: 20m, cost: 0.25 EUR}
    estimate: 5m
    timeout: 10m
    heartbeat: 30s
    deadline: 2026-11-01
    retry: {times: 3, backoff: 2s..30s}
    failure: [{name: flaky, detect: 'exit == 1 && stderr.contains("timeout")', recover: mend, x-f: 1}]
    next: {success: [ship], failure: [mend]}
    rollback: {uses: shell, run: undo, with: {n: 1}, x-r: 1}
    writes: false
    assumptions: [it builds]
    risks: [none]
    criticality: moderate
    rationale: because
    evidence: [log]
    x-task: "text"
  - id: mend
    kind: debug
  - id: gate
    kind: gate
    needs: [work]
    checks: [size(outputs_of.work.notes) > 0]
    schemas: {work.n: {type: number, minimum: 1}}
    approve: {role: lead, quorum: 2, not: author, within: 24h, escalate: owner, evidence: [diff], back: work, form: {q: text}, x-ap: 1}
  - id: each
    needs: [gate, work]
    each: "[1, 2, 3]"
    subplan:
      file: inner.yaml
      x-s: 1
      tasks:
        - {id: one, with: {i: "${item}"}}
        - {id: two, needs: [one]}
  - id: ship
    kind: deploy
`
