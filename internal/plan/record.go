package plan

import (
	"reflect"
	"strings"
	"sync"
)

// record is what reading, writing and the schema share about a struct of the language: its keys in
// order, from the json tags, with their other spellings.
type record struct {
	fields []field
	keys   map[string]int // key or alias: place in fields
	extra  int            // struct index of Extra, -1 without
}

type field struct {
	name  string
	index int
	omit  string // omitempty, omitzero, or nothing
}

// aliases are the spellings of the source systems, by the type that has the key.
var aliases = map[reflect.Type]map[string]string{
	reflect.TypeFor[Plan](): {
		"plan_id": "plan", "planId": "plan", "id": "plan", "name": "plan", "nodes": "tasks", "steps": "tasks",
		"policies": "policy", "created_at": "created", "createdAt": "created", "environment": "env", "status": "state",
		"summary": "description", "revision": "version",
	},
	reflect.TypeFor[Goal](): {
		"definition_of_done": "done", "definitionOfDone": "done", "dod": "done", "success_criteria": "done",
		"due": "deadline", "goal": "objective", "says": "objective",
	},
	reflect.TypeFor[Policy](): {
		"budgets": "budget", "concurrency": "workers", "parallel": "workers", "approvals": "approve",
		"require_gate_for_prod": "requireGateForProd",
	},
	reflect.TypeFor[Hypothesis]():   {"statement": "says", "text": "says", "likelihood": "prior"},
	reflect.TypeFor[PlanArtifact](): {"task": "from"},
	reflect.TypeFor[Task](): {
		"task": "id", "task_id": "id", "name": "title", "depends_on": "needs", "dependsOn": "needs", "waitingForId": "needs",
		"dependencies": "needs", "command": "run", "commands": "run", "using": "uses", "capability": "uses",
		"input": "with", "inputs": "with", "success_criteria": "expect", "successCriteria": "expect",
		"acceptance_criteria": "expect", "failure_modes": "failure", "failureModes": "failure", "preconditions": "pre",
		"environment": "env", "retries": "retry", "budgets": "budget", "timebox": "timeout", "if": "when",
		"validations": "validation", "validate": "validation", "approval": "approve", "lock": "locks", "cwd": "dir",
		"estimated_duration": "estimate", "repeatability": "repeat",
	},
	reflect.TypeFor[Approval]():    {"approver": "role", "approver_role": "role", "approvers": "role", "timeout": "within"},
	reflect.TypeFor[Output]():      {"file": "path", "says": "description"},
	reflect.TypeFor[Retry]():       {"max": "times", "attempts": "times", "count": "times", "delay": "backoff", "wait": "backoff"},
	reflect.TypeFor[FailureMode](): {"when": "detect", "recovery": "recover"},
	reflect.TypeFor[Next]():        {"on_success": "success", "on_failure": "failure"},
	reflect.TypeFor[Rollback]():    {"command": "run", "using": "uses", "input": "with", "inputs": "with"},
	reflect.TypeFor[Subplan]():     {"nodes": "tasks", "steps": "tasks"},
}

var records sync.Map // reflect.Type: *record; made on first use

func recordOf(t reflect.Type) *record {
	if r, ok := records.Load(t); ok {
		return r.(*record)
	}
	r := &record{keys: map[string]int{}, extra: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Name == "Extra" {
			r.extra = i
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		r.keys[name] = len(r.fields)
		r.fields = append(r.fields, field{name, i, omit})
	}
	for alias, name := range aliases[t] {
		r.keys[alias] = r.keys[name]
	}
	records.Store(t, r)
	return r
}

// names lists the keys as we spell them.
func (r *record) names() []string {
	out := make([]string, len(r.fields))
	for i, f := range r.fields {
		out[i] = f.name
	}
	return out
}
