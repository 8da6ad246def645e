// Package plan is the language in which work is written down: a goal, a DAG of tasks, their
// contracts and the policy they run under.
//
// A Plan is a value that nobody changes once it is read: an edit is a new revision. Reading keeps
// every field an author wrote; what the engine does not act on yet it still carries. Reading never
// stops at the first fault: it returns all of them, each with its place, code and remedy.
package plan

import (
	"encoding/json"
)

// Plan is one revision of a DAG of tasks for a goal.
type Plan struct {
	Name        string                     `json:"plan"`
	Title       string                     `json:"title,omitempty"`
	Description string                     `json:"description,omitempty"`
	Owner       string                     `json:"owner,omitempty"`
	Version     int                        `json:"version,omitempty"`
	Created     string                     `json:"created,omitempty"`
	State       string                     `json:"state,omitempty"` // as the author wrote it; never believed
	Labels      []string                   `json:"labels,omitempty"`
	Goal        *Goal                      `json:"goal,omitempty"`
	Policy      *Policy                    `json:"policy,omitempty"`
	Env         map[string]string          `json:"env,omitempty"`
	Inputs      json.RawMessage            `json:"inputs,omitempty"` // an object; ${inputs.x} reads it
	Hypotheses  []Hypothesis               `json:"hypotheses,omitempty"`
	Artifacts   []PlanArtifact             `json:"artifacts,omitempty"`
	Memory      *Memory                    `json:"memory,omitempty"`
	Metrics     []string                   `json:"metrics,omitempty"`
	Tasks       []Task                     `json:"tasks"`
	Extra       map[string]json.RawMessage `json:"-"` // keys under x-, kept as they are
}

// Goal is what the plan is for and how one will know that it is reached.
type Goal struct {
	Objective    string                     `json:"objective,omitempty"`
	Scope        string                     `json:"scope,omitempty"`
	Done         []Criterion                `json:"done,omitempty"`
	Constraints  []string                   `json:"constraints,omitempty"`
	Deadline     string                     `json:"deadline,omitempty"` // a date or an RFC 3339 time
	Stakeholders []string                   `json:"stakeholders,omitempty"`
	Context      json.RawMessage            `json:"context,omitempty"`
	Extra        map[string]json.RawMessage `json:"-"`
}

// Policy bounds how a plan may be carried out.
type Policy struct {
	Budget             *Budget                    `json:"budget,omitempty"`
	Workers            int                        `json:"workers,omitempty"`
	Approve            map[string][]string        `json:"approve,omitempty"` // kind of task: roles
	Watch              *Watch                     `json:"watch,omitempty"`
	Unjudged           string                     `json:"unjudged,omitempty"` // block (default) or accept
	Workspace          string                     `json:"workspace,omitempty"`
	Sandbox            string                     `json:"sandbox,omitempty"` // on (default), require or off
	Allow              *Allow                     `json:"allow,omitempty"`
	Labels             map[string]*LabelRule      `json:"labels,omitempty"` // label of data: what it may reach
	Limits             map[string]Rate            `json:"limits,omitempty"` // host, capability or provider: how often it may be called
	RequireGateForProd bool                       `json:"requireGateForProd,omitempty"`
	Rules              []Rule                     `json:"rules,omitempty"`
	Review             *Review                    `json:"review,omitempty"` // when people look at what waits for their consent
	Replan             string                     `json:"replan,omitempty"` // what follows when a task failed for good: ask (default), auto or off
	Gates              string                     `json:"gates,omitempty"`  // none, in a project's or a home's policy: no built-in rule holds
	Extra              map[string]json.RawMessage `json:"-"`
}

// Rule asks for consent, or forbids, where an expression holds for a task.
type Rule struct {
	Name  string                     `json:"name"`
	When  string                     `json:"when,omitempty"` // CEL over task and now; absent: always
	Gate  *Approval                  `json:"gate,omitempty"`
	Deny  string                     `json:"deny,omitempty"` // why it is forbidden
	Extra map[string]json.RawMessage `json:"-"`
}

// Allow lists what tasks may touch. A list that is there and empty allows nothing.
type Allow struct {
	Read     []string `json:"read,omitzero"`
	Write    []string `json:"write,omitzero"`
	Hosts    []string `json:"hosts,omitzero"`
	Commands []string `json:"commands,omitzero"`
}

// Budget is what may be spent. A zero field is no limit.
type Budget struct {
	Time   Duration `json:"time,omitzero"`
	Cost   Money    `json:"cost,omitzero"`
	Calls  int      `json:"calls,omitempty"`
	Tokens int      `json:"tokens,omitempty"`
	Day    *Budget  `json:"day,omitempty"` // of a policy: what all plans of the home may spend in a day
}

// Watch says what follows when something is late.
type Watch struct {
	Deadline string `json:"deadline,omitempty"` // fail (the default for tasks), warn (the default for plans) or escalate
	Escalate string `json:"escalate,omitempty"` // the role that is told
}

// Hypothesis is a falsifiable statement that evidence will move.
type Hypothesis struct {
	ID    string                     `json:"id"`
	Says  string                     `json:"says,omitempty"`
	Prior *float64                   `json:"prior,omitempty"`
	Cost  string                     `json:"cost,omitempty"`
	Extra map[string]json.RawMessage `json:"-"`
}

// PlanArtifact names an output of a task as an artifact of the plan.
type PlanArtifact struct { //nolint:revive // an Artifact is stored content; this is a plan's name for one
	Name      string                     `json:"name"`
	From      string                     `json:"from,omitempty"` // task, or task.output
	Type      string                     `json:"type,omitempty"`
	Retention string                     `json:"retention,omitempty"`
	Extra     map[string]json.RawMessage `json:"-"`
}

// Memory lists the facts a plan means to read or write.
type Memory struct {
	Keys []string `json:"keys,omitempty"`
}

// Shortname is the plan's name without the customary prefix; generated task ids are made of it.
func (p *Plan) Shortname() string { return shortname(p.Name) }

// Workers is how many tasks may run at once.
func (p *Plan) Workers() int {
	if p.Policy != nil && p.Policy.Workers > 0 {
		return p.Policy.Workers
	}
	return DefaultWorkers
}

// DefaultWorkers is how many tasks run at once where the policy is silent.
const DefaultWorkers = 4
