package view

import (
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// AskReplan is the sort of ask that an open proposal is.
const AskReplan = "replan"

// Proposes tells in a line what is proposed.
func Proposes(p *lifecycle.Proposal) string {
	return because(proposes(&p.Proposed, plain(p.Task)), p.Why)
}

func proposes(b *lifecycle.Proposed, task string) string {
	switch b.Kind {
	case lifecycle.ProposeRetry:
		return "try " + task + " again"
	case lifecycle.ProposeRecover:
		return "recover from " + plain(b.Mode) + ", then try " + task + " again"
	case lifecycle.ProposeRevision:
		return "go on under another revision"
	}
	return because("somebody has to say how to go on with "+task, b.Asks)
}

// replan adds the proposal that waits for somebody.
func (a Asking) replan() (q Ask, ok bool) {
	p := proposal(a.State)
	if p == nil {
		return q, false
	}
	q = Ask{Plan: a.State.Name, Task: lifecycle.ReplanTask, Kind: AskReplan, Asks: "proposed: " + Proposes(p), Options: p.Options,
		Since: a.Since[lifecycle.ReplanTask].In(a.Now.Location()), Answers: commands(decisions(a.State.Name, p))}
	if p.Kind == lifecycle.ProposeQuestion {
		q.Asks = because(p.Asks, p.Why)
	}
	q.hold.Authors = a.State.Authors()
	if pol := a.State.Plan.Policy; pol != nil && len(pol.Approve[plan.Replans]) > 0 {
		q.hold.Demands = []gate.Demand{{Roles: pol.Approve[plan.Replans]}}
	}
	q.By = answerers(&q.hold)
	q.Age = int64(max(0, a.Now.Sub(q.Since)) / time.Second)
	return q, true
}

// proposal is the one that people can decide on by its name, which a task may have taken.
func proposal(st *lifecycle.State) *lifecycle.Proposal {
	if _, taken := st.Task(lifecycle.ReplanTask); taken {
		return nil
	}
	return st.Proposal()
}

// decisions are the commands that decide on a proposal, each with what it does.
func decisions(name string, p *lifecycle.Proposal) []string {
	at := quote(name) + " " + lifecycle.ReplanTask + " --why TEXT"
	yes := note("cairn approve "+at, "to "+proposes(&p.Proposed, plain(p.Task)))
	if p.Kind == lifecycle.ProposeQuestion {
		yes = note("cairn approve "+at, "to try "+plain(p.Task)+" again")
	}
	out := []string{yes, note("cairn reject "+at, "to leave it as it is")}
	if p.Kind == lifecycle.ProposeQuestion {
		out = append(out, note("cairn replan "+quote(name)+" --edit --why TEXT", "to change the plan"))
	}
	return out
}

// commands are what can be copied, without when.
func commands(all []string) []string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i], _, _ = strings.Cut(c, remark)
	}
	return out
}

// ProposedLine tells a proposal as it is recorded.
func ProposedLine(b *lifecycle.Proposed) string {
	said := "proposed to " + proposes(b, "it")
	if b.Kind == lifecycle.ProposeQuestion {
		said = "asked how to go on"
	}
	if b.Auto {
		said += ", which the policy lets happen at once"
	}
	if b.By != "" {
		said += ", by " + plain(b.By)
	}
	return because(said, b.Why)
}

// replanPhrase tells a proposal, and what somebody said to it.
func replanPhrase(body any) string {
	switch b := body.(type) {
	case *lifecycle.Proposed:
		return ProposedLine(b)
	case *lifecycle.ReplanVerdict:
		if b.Accepted {
			return because("agreed to what was proposed", b.Why)
		}
		return because("refused what was proposed", b.Why)
	}
	return ""
}
