package plan

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// What policy.replan says may follow when a task has failed for good.
const (
	ReplanAsk  = "ask"  // what is proposed waits for a person
	ReplanAuto = "auto" // trying again is done without asking; a revision still waits for a person
	ReplanOff  = "off"  // nothing is proposed
)

// Replans is the word by which policy.approve names who may agree to what is proposed.
const Replans = "replan"

// replans is ordered by how much it lets happen.
var replans = []string{ReplanOff, ReplanAsk, ReplanAuto}

// StricterReplan is the one of two that lets less happen. Where neither says anything it is ask.
func StricterReplan(a, b string) string {
	switch {
	case a == "" && b == "":
		return ReplanAsk
	case a == "" || b != "" && slices.Index(replans, b) < slices.Index(replans, a):
		return b
	}
	return a
}

func (c *checker) replanning(p *Policy, n source.Node) {
	if p.Replan == "" || slices.Contains(replans, p.Replan) {
		return
	}
	if v, ok := n.Get("replan"); ok {
		n = v
	}
	c.notOneOf(n, "replan", p.Replan, replans)
}
