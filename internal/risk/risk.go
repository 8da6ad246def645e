// Package risk recognises what a command line, a SQL statement or an HTTP request may do that cannot
// be taken back: delete, push, spend, migrate, run what was fetched, gain rights, open a door.
//
// It reads text and runs nothing. A command line is read as a shell reads it, through quotes, here
// documents, substitutions and the wrappers around a command (sudo, env, ssh host '...', sh -c '...'),
// so that a command which only speaks of `rm -rf` is not taken for one that does it. Text that no
// shell would accept is read as far as it makes sense; nothing is an error.
//
// It is a lookout, not a wall. What a program does inside, and what a variable will hold, it cannot
// know: whoever wants to hide something from it can. Confinement is the sandbox's business, and what
// follows from a finding (a gate, an attempt that is not repeated) is decided by its readers. Where
// it cannot read on, it says so with a finding rather than staying silent.
package risk

import (
	"slices"
	"strings"
)

// Effect says what kind of thing cannot be taken back.
type Effect string

// The effects.
const (
	Push       Effect = "push"        // others see it: pushed, published, deployed, sent
	Deletion   Effect = "deletion"    // something that was kept is gone
	Spending   Effect = "spending"    // money moves, or something begins to cost
	Migration  Effect = "migration"   // the shape or the mass of kept data changes
	RemoteCode Effect = "remote-code" // what somebody else wrote is run unread
	Privilege  Effect = "privilege"   // it acts with more rights, or gives them away
	Exposure   Effect = "exposure"    // what was closed can be reached or read
	Outage     Effect = "outage"      // what was running stops
)

// Criticality says how much harm there can be. The words are those of a capability's contract.
type Criticality string

// The criticalities, from none to most.
const (
	Safe      Criticality = "safe"
	Moderate  Criticality = "moderate"
	Critical  Criticality = "critical"
	Dangerous Criticality = "dangerous"
)

// Criticalities lists them from none to most.
var Criticalities = []Criticality{Safe, Moderate, Critical, Dangerous}

// AtLeast reports whether c is d or worse. What is no criticality at all is taken for the worst.
func (c Criticality) AtLeast(d Criticality) bool { return c.rank() >= d.rank() }

func (c Criticality) rank() int {
	if i := slices.Index(Criticalities, c); i >= 0 {
		return i
	}
	return len(Criticalities) - 1
}

// Finding is one thing that a text may do.
type Finding struct {
	Pattern     string      `json:"pattern"` // a stable id, such as rm-recursive
	Effect      Effect      `json:"effect"`
	Criticality Criticality `json:"criticality"`
	Says        string      `json:"says"` // in plain words: deletes a folder and all that is in it
	At          int         `json:"at"`   // where in the text it begins, in bytes
	Text        string      `json:"text"` // the words that say so, at most maxText bytes of them
}

// maxText bounds what a finding quotes.
const maxText = 200

// Once reports whether doing it a second time does more than doing it once. Rights that are had, and
// doors that are open, are not more so the second time; a small deletion finds nothing left.
func (f Finding) Once() bool {
	switch f.Effect {
	case Push, Spending, Migration:
		return true
	case Deletion, RemoteCode, Outage:
		return f.Criticality.AtLeast(Critical)
	}
	return false
}

// Worst sums findings up: the worst criticality, and whether any of them must not be done twice.
func Worst(findings []Finding) (worst Criticality, once bool) {
	worst = Safe
	for _, f := range findings {
		if !worst.AtLeast(f.Criticality) {
			worst = f.Criticality
		}
		once = once || f.Once()
	}
	return worst, once
}

// report collects findings against the text that they are in.
type report struct {
	text     string
	findings []Finding
}

// add notes a finding for text[at:end]. The same pattern at the same place is noted once.
func (r *report) add(v verdict, at, end int) {
	at = max(min(at, len(r.text)), 0)
	end = max(min(end, len(r.text)), at)
	r.findings = append(r.findings, Finding{
		Pattern: v.pattern, Effect: v.effect, Criticality: v.criticality, Says: v.says,
		At: at, Text: clip(r.text[at:end]),
	})
}

// sorted gives the findings in the order of the text.
func (r *report) sorted() []Finding {
	slices.SortStableFunc(r.findings, func(a, b Finding) int {
		if a.At != b.At {
			return a.At - b.At
		}
		return strings.Compare(a.Pattern, b.Pattern)
	})
	return slices.CompactFunc(r.findings, func(a, b Finding) bool { return a.At == b.At && a.Pattern == b.Pattern })
}

// clip shortens a quotation without cutting a character in two.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end]
}

// verdict is what a pattern says of what it matches.
type verdict struct {
	pattern     string
	effect      Effect
	criticality Criticality
	says        string
}
