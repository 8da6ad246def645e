package view

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func TestProposalsInWords(t *testing.T) {
	for want, b := range map[string]lifecycle.Proposed{
		"proposed to try it again: 503": {Kind: lifecycle.ProposeRetry, Why: "503"},
		"proposed to recover from full, then try it again, which the policy lets happen at once": {Kind: lifecycle.ProposeRecover, Mode: "full", Auto: true},
		"proposed to go on under another revision, by planner":                                   {Kind: lifecycle.ProposeRevision, By: "planner"},
		"asked how to go on: broken":                                                             {Kind: lifecycle.ProposeQuestion, Asks: "how?", Why: "broken"},
	} {
		if got := ProposedLine(&b); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	yes, no := &lifecycle.ReplanVerdict{Accepted: true, Why: "why not"}, &lifecycle.ReplanVerdict{}
	if got := replanPhrase(yes) + "; " + replanPhrase(no); got != "agreed to what was proposed: why not; refused what was proposed" {
		t.Error(got)
	}
}

// Commands can be copied, whatever the plan is called.
func TestProposalCommands(t *testing.T) {
	p := &lifecycle.Proposal{Task: "a b", Proposed: lifecycle.Proposed{Kind: lifecycle.ProposeRevision}}
	got := strings.Join(decisions("my plan", p), "\n")
	if want := "cairn approve 'my plan' replan --why TEXT  # to go on under another revision\ncairn reject 'my plan' replan --why TEXT  # to leave it as it is"; got != want {
		t.Errorf("%s", got)
	}
}
