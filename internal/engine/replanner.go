package engine

import (
	"context"
	"regexp"
	"slices"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Replanner proposes how to go on when a task has failed for good. It is asked when nothing else can happen, decides
// nothing and changes nothing: the policy says whether a person has to agree. An error of its own is no error of the run;
// the rules that are built in are asked instead.
type Replanner interface {
	Propose(ctx context.Context, d Divergence) (Proposal, error)
}

// Divergence is how a run came to differ from its plan.
type Divergence struct {
	Plan     string
	Rev      int
	Spec     *plan.Plan          // that revision, which is not to be changed
	State    lifecycle.PlanState // failed, or blocked
	Statuses map[string]lifecycle.Status
	Task     lifecycle.Task // the one that failed
	Error    string
	Unmet    []string // what it was expected to come to and did not
	Modes    []string // its failure modes that a task recovers from, and whose recovery was not tried
	Attempts int
	Once     bool // it must not run twice
}

// Proposal is a way to go on.
type Proposal struct {
	Kind     string // lifecycle.ProposeRetry and its like
	Why      string
	By       string             // what proposes it
	Mode     string             // of recover: the failure mode
	Plan     *plan.Plan         // of revision
	Question string             // of question
	Options  []lifecycle.Option // of question
}

// passing tells a failure that may be gone the next time.
var passing = regexp.MustCompile(`(?i)time[d]?[ -]?out|deadline exceeded|connection (refused|reset)|broken pipe|temporar(y|ily)|try again|unavailable|too many requests|\b(429|50[0234])\b|\block(ed)?\b`)

// ruleReplanner is the replanner that is built in: it knows failures that pass and recoveries that were foreseen, and asks else.
type ruleReplanner struct{}

// Propose implements Replanner.
func (ruleReplanner) Propose(_ context.Context, d Divergence) (Proposal, error) {
	switch {
	case d.Once:
		return ask(d, "it must not run twice, and nobody but you can tell whether it took effect"), nil
	case len(d.Modes) > 0:
		return Proposal{Kind: lifecycle.ProposeRecover, Mode: d.Modes[0], Why: "its failure may be " + d.Modes[0] + ", whose recovery was not tried"}, nil
	case len(d.Unmet) == 0 && passing.MatchString(d.Error):
		return Proposal{Kind: lifecycle.ProposeRetry, Why: "it looks like something that passes: " + d.Error}, nil
	}
	return ask(d, d.Error), nil
}

func ask(d Divergence, why string) Proposal {
	return Proposal{Kind: lifecycle.ProposeQuestion, Why: why, Question: "task " + d.Task.ID + " failed for good: how shall it go on?",
		Options: []lifecycle.Option{{ID: "retry", Says: "try it again"}, {ID: "give up", Says: "leave it failed"}, {ID: "revise", Says: "change the plan"}}}
}

// replanning is what the policies say of proposals, the strictest first.
func (e *Engine) replanning(p *plan.Plan) (mode string, err error) {
	if p.Policy != nil {
		mode = p.Policy.Replan
	}
	if e.Policies != nil {
		sources, err := e.Policies()
		if err != nil {
			return "", err
		}
		for _, s := range sources {
			if s.Policy != nil {
				mode = plan.StricterReplan(mode, s.Policy.Replan)
			}
		}
	}
	return plan.StricterReplan(mode, ""), nil
}

// divergence tells of a task that failed for good.
func (r *Run) divergence(id string) Divergence {
	t, _ := r.State.Task(id)
	d := Divergence{Plan: r.State.Name, Rev: r.State.Rev, Spec: r.State.Plan, State: r.State.State(), Task: t, Error: t.Error,
		Attempts: t.Attempt, Once: t.Spec.Uses != "" && r.engine.classOf(t.Spec) == capability.Once, Statuses: map[string]lifecycle.Status{}}
	for other := range r.State.Tasks() {
		d.Statuses[other.ID] = other.Status
	}
	for _, v := range r.State.Criteria(id) {
		if !v.OK && !v.Judge {
			d.Unmet = append(d.Unmet, v.Says)
		}
	}
	can := r.State.Recoveries(id)
	for _, m := range t.Spec.Failure {
		// One that is told by an expression was looked at when the task failed, and is not it.
		if isCEL, _ := expr.Kind(m.Detect); m.Detect != "" && !isCEL && slices.Contains(can, m.Name) {
			d.Modes = append(d.Modes, m.Name)
		}
	}
	return d
}
