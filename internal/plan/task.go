package plan

import (
	"encoding/json"
	"strings"
)

// Task is one unit of work: by a capability (Uses), by a chain of them (a pipeline in Run), by a
// person or an agent (neither), as a subplan, or as a gate.
type Task struct {
	ID          string   `json:"id"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Kind        Kind     `json:"kind,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Priority    *int     `json:"priority,omitempty"` // higher runs first; absent: by kind
	Status      string   `json:"status,omitempty"`   // as the author wrote it; never believed

	Needs []string `json:"needs,omitempty"`
	When  string   `json:"when,omitempty"`
	Each  string   `json:"each,omitempty"`
	Pre   []string `json:"pre,omitempty"`
	Locks []string `json:"locks,omitempty"`

	Uses         string            `json:"uses,omitempty"`
	Run          string            `json:"run,omitempty"`
	With         json.RawMessage   `json:"with,omitempty"` // an object of inputs, with ${...} references
	Capabilities []string          `json:"capabilities,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Dir          string            `json:"dir,omitempty"`
	Repeat       string            `json:"repeat,omitempty"` // pure, repeatable, keyed, once: overrides the contract

	Expect    []Criterion     `json:"expect,omitempty"`
	Checks    []Criterion     `json:"checks,omitempty"`
	Schemas   json.RawMessage `json:"schemas,omitempty"` // an object: task.output to the JSON Schema that it must fit, for a gate
	Approve   *Approval       `json:"approve,omitempty"`
	Outputs   Outputs         `json:"outputs,omitempty"`
	Artifacts []PlanArtifact  `json:"artifacts,omitempty"`
	Validate  json.RawMessage `json:"validation,omitempty"`
	Metrics   []string        `json:"metrics,omitempty"`

	Budget    *Budget       `json:"budget,omitempty"`
	Estimate  Duration      `json:"estimate,omitzero"`
	Timeout   Duration      `json:"timeout,omitzero"`
	Heartbeat Duration      `json:"heartbeat,omitzero"`
	Deadline  string        `json:"deadline,omitempty"`
	Retry     *Retry        `json:"retry,omitempty"`
	Failure   []FailureMode `json:"failure,omitempty"`
	Next      *Next         `json:"next,omitempty"`
	Rollback  *Rollback     `json:"rollback,omitempty"`
	Subplan   *Subplan      `json:"subplan,omitempty"`
	Writes    *bool         `json:"writes,omitempty"`

	Assumptions []string                   `json:"assumptions,omitempty"`
	Risks       []string                   `json:"risks,omitempty"`
	Criticality string                     `json:"criticality,omitempty"`
	Rationale   string                     `json:"rationale,omitempty"`
	Evidence    []string                   `json:"evidence,omitempty"`
	Extra       map[string]json.RawMessage `json:"-"`
}

// Kind says what sort of work a task is. It decides the default priority and the default gates.
type Kind string

// The kinds.
const (
	Intake     Kind = "intake"
	Research   Kind = "research"
	Analyze    Kind = "analyze"
	Synthesize Kind = "synthesize"
	Design     Kind = "design"
	Implement  Kind = "implement"
	Validate   Kind = "validate"
	Debug      Kind = "debug"
	Refactor   Kind = "refactor"
	Deploy     Kind = "deploy"
	Document   Kind = "document"
	Gate       Kind = "gate"
	Manual     Kind = "manual"
	Milestone  Kind = "milestone"
)

// Kinds in the order in which they run by default: what is learnt first makes the rest cheaper.
var Kinds = []Kind{Intake, Research, Analyze, Debug, Synthesize, Design, Gate, Manual, Implement, Refactor,
	Validate, Document, Deploy, Milestone}

// Rank is the priority of a task: its own, or that of its kind.
func (t *Task) Rank() int {
	if t.Priority != nil {
		return *t.Priority
	}
	for i, k := range Kinds {
		if k == t.Kind {
			return 10 * (len(Kinds) - i)
		}
	}
	return 0
}

// Criterion is one thing that must hold: a CEL expression, or prose that somebody has to judge.
type Criterion struct {
	Says  string
	Judge bool // prose: judged by a model, an agent or a person, never passed in silence
}

// MarshalJSON writes CEL as a string and prose as {"judge": ...}, so that reading back cannot
// take one for the other.
func (c Criterion) MarshalJSON() ([]byte, error) {
	if c.Judge {
		return json.Marshal(struct {
			Judge string `json:"judge"`
		}{c.Says})
	}
	return json.Marshal(c.Says)
}

// Approval says who must agree before a gate opens.
type Approval struct {
	Role     string                     `json:"role,omitempty"`
	Quorum   int                        `json:"quorum,omitempty"`
	Not      string                     `json:"not,omitempty"` // author: whoever wrote the plan may not approve it
	Within   Duration                   `json:"within,omitzero"`
	Escalate []string                   `json:"escalate,omitempty"` // who may decide too, one more each time that Within is up
	Evidence []string                   `json:"evidence,omitempty"` // diff, task.output, or the name of what is handed in with the decision
	Back     string                     `json:"back,omitempty"`     // where pushing back leads, unless the decision says
	Form     map[string]string          `json:"form,omitempty"`     // what may be answered when it is pushed back: input and its type
	Extra    map[string]json.RawMessage `json:"-"`
}

// Output is one declared result of a task.
type Output struct {
	Name        string                     `json:"-"`
	Type        string                     `json:"type,omitempty"`       // text (default), json, number, bool, list, markdown, file, ...
	Retention   string                     `json:"retention,omitempty"`  // task, plan (default), forever, or a duration
	From        string                     `json:"from,omitempty"`       // stdout, stderr, or a reference
	Path        string                     `json:"path,omitempty"`       // a file that the task leaves behind
	Labels      []string                   `json:"labels,omitempty"`     // of its data, beside those of the task and of what it read
	Declassify  []string                   `json:"declassify,omitempty"` // labels that it does not carry on
	Description string                     `json:"description,omitempty"`
	Extra       map[string]json.RawMessage `json:"-"`
}

// Outputs are the declared results in the order of their names, which is that of the canonical form.
type Outputs []Output

// MarshalJSON writes an object keyed by name, in order.
func (o Outputs) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, out := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(out.Name)
		body, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), body...)
	}
	return append(b, '}'), nil
}

// Retry says how often a failed attempt is tried again, and how long to wait before each.
type Retry struct {
	Times   int     `json:"times,omitempty"`
	Backoff Backoff `json:"backoff,omitzero"`
}

// FailureMode is a way of failing that was foreseen, how to recognise it and what to do then.
type FailureMode struct {
	Name    string                     `json:"name"`
	Detect  string                     `json:"detect,omitempty"`  // CEL over exit, stdout, stderr, outputs, error; prose is for a person
	Recover string                     `json:"recover,omitempty"` // a task; prose is for a person
	Extra   map[string]json.RawMessage `json:"-"`
}

// Next routes to other tasks by how this one ended.
type Next struct {
	Success []string `json:"success,omitempty"`
	Failure []string `json:"failure,omitempty"`
}

// Rollback undoes a task.
type Rollback struct {
	Uses  string                     `json:"uses,omitempty"`
	Run   string                     `json:"run,omitempty"`
	With  json.RawMessage            `json:"with,omitempty"`
	Extra map[string]json.RawMessage `json:"-"`
}

// Subplan is a DAG inside a task: its tasks are known outside as parent/child.
type Subplan struct {
	File  string                     `json:"file,omitempty"` // where it was read from
	Tasks []Task                     `json:"tasks"`
	Extra map[string]json.RawMessage `json:"-"`
}

// IsGroup reports whether the task does nothing itself but hold others.
func (t *Task) IsGroup() bool { return t.Subplan != nil }

func shortname(name string) string {
	if s, ok := strings.CutPrefix(name, "plan-"); ok && s != "" {
		return s
	}
	return name
}
