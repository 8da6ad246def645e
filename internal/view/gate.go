package view

import (
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// seenLength is how much of a subject's hash people are asked to give back.
const seenLength = 12

// Seen is what somebody who looked at a subject gives back to say so.
func Seen(subject digest.ID) string {
	if subject.IsZero() {
		return ""
	}
	return subject.String()[:seenLength]
}

// gateRows tell who has to agree to a task, who has, and to what.
func gateRows(st *lifecycle.State, t lifecycle.Task) [][]string {
	g, ok := st.Gate(t.ID)
	if !ok {
		return nil
	}
	var rows [][]string
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, []string{name, text})
		}
	}
	if !g.Closed {
		add("wants", wants(g))
		if !g.Due.IsZero() {
			add("until", Date(g.Due.Local()))
		}
		if next := g.Next(); len(next) > 0 && !g.Due.IsZero() {
			add("then also", strings.Join(plains(next), ", "))
		}
	}
	for _, c := range g.Failing {
		add("does not hold", plain(c))
	}
	for _, v := range g.Votes {
		add(map[bool]string{true: "approved by", false: "rejected by"}[v.Approved], because(who(v.Actor), v.Why))
	}
	if g.Closed {
		return rows
	}
	add("lets through", released(st, t))
	if a := t.Spec.Approve; a != nil {
		add("evidence", strings.Join(plains(a.Evidence), ", "))
		add("can be pushed back to", plain(a.Back))
	}
	add("seen", Seen(g.Subject))
	return rows
}

// wants says who still has to agree.
func wants(g lifecycle.Gate) string {
	if lacks := g.Lacks(); lacks != "" {
		return plain(lacks)
	}
	return "somebody"
}

// released names what follows once somebody has agreed.
func released(st *lifecycle.State, t lifecycle.Task) string {
	var names []string
	for _, k := range st.Releases(t.ID) {
		if k.Kind == plan.Gate && k == t.Spec {
			continue
		}
		name := plain(k.ID)
		if k.Run != "" {
			name += " ($ " + cut(plain(k.Run), 60) + ")"
		} else if k.Uses != "" {
			name += " (" + plain(k.Uses) + ")"
		}
		names = append(names, name)
	}
	return few(names, 6)
}

// decidedPhrase tells a decision.
func decidedPhrase(b *lifecycle.Decided) string {
	said := "rejected"
	switch {
	case b.Approved:
		said = "approved"
	case b.Back != "":
		said = "pushed back to " + plain(b.Back)
	}
	if b.Override {
		said += " in spite of its checks"
	}
	if b.Late {
		said += ", when it was decided already"
	}
	return because(said+claimed(b.Claimer), b.Why)
}

func claimed(by string) string {
	if by == "" {
		return ""
	}
	return " (under that name: " + who(by) + ")"
}

// openedPhrase tells what a gate asked for.
func openedPhrase(d derived) string {
	h := gate.Hold{Demands: d.Demands}
	said := "the gate asked for a decision"
	if lacks := h.Lacks(); lacks != "" {
		said = "it asked for the consent of " + plain(lacks)
	}
	if !d.Due.IsZero() {
		said += ", until " + Date(d.Due.Local())
	}
	if len(d.Failing) > 0 {
		said += "; these checks do not hold: " + list(plains(d.Failing))
	}
	return said
}

func escalatedPhrase(d derived) string {
	said := "nobody had decided in time, so that " + list(plains(d.To)) + " may too"
	if !d.Due.IsZero() {
		said += ", until " + Date(d.Due.Local())
	}
	return said
}

// firedPhrase tells which wait was over.
func firedPhrase(b *lifecycle.Fired) string {
	switch b.For {
	case lifecycle.TimerGate:
		return "the time for a decision was up"
	case lifecycle.TimerDeadline:
		return "its deadline had come"
	}
	return "the wait was over"
}

// gateBody is what the bodies of gate records say beside those of other kinds.
type gateBody struct {
	Demands []gate.Demand `json:"demands"`
	Failing []string      `json:"failing"`
	Due     time.Time     `json:"due"`
	To      []string      `json:"to"`
}

// gateRecord reports whether a record belongs to a decision.
func gateRecord(k journal.Kind) bool {
	return k == lifecycle.GateDecided || k == lifecycle.GateDelegated || k == lifecycle.GateEscalated
}
