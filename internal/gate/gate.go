// Package gate decides who may let a held task go on, and when enough of them have.
//
// A hold is what stands between a task and its beginning: one demand for each source that asks for people, be it the
// task itself or a rule of a policy. All of them must be met, so whoever asks for more wins. Votes are facts that carry
// the roles their voter had at the time; the same votes therefore always come to the same verdict, whatever the roles
// are today. One function, May, says who may vote, for every door there is or will be.
//
// Everything here is pure: the clock, the roles and the votes are handed in.
package gate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Demand is what one source asks for.
type Demand struct {
	Rule     string        `json:"rule,omitempty"`     // of a policy, with where it stands; empty: the task asks itself
	Roles    []string      `json:"roles,omitempty"`    // any of these may decide; empty: anybody
	Quorum   int           `json:"quorum,omitempty"`   // how many must agree; 0 and 1: one
	Not      string        `json:"not,omitempty"`      // author: whoever wrote the plan does not count
	Within   time.Duration `json:"within,omitempty"`   // how long each round may take
	Escalate []string      `json:"escalate,omitempty"` // who may decide too, one more in each round that passes
}

// Author is the one value of Demand.Not.
const Author = "author"

// Who is somebody who wants to decide.
type Who struct {
	Actor   string   `json:"actor"`             // as named, person:ann
	Claimer string   `json:"claimer,omitempty"` // who acted under that name, where it was another
	Roles   []string `json:"roles,omitempty"`   // at the time
}

// Vote is one decision.
type Vote struct {
	Who
	Approved bool
	Why      string
	Time     time.Time
}

// Hold is a task that waits to be let go on.
type Hold struct {
	Demands []Demand
	Authors []string            // of the plan and its revisions
	Round   int                 // how often the time was up
	Votes   []Vote              // in the order in which they came
	Lent    map[string][]string // roles that somebody handed to another for this hold
}

// Verdict is what the votes have come to.
type Verdict int

// The verdicts.
const (
	Open     Verdict = iota // more votes are wanted
	Approved                // every demand is met
	Rejected                // somebody who may said no
)

// Verdict counts the votes.
func (h *Hold) Verdict() Verdict {
	for _, v := range h.Votes {
		if !v.Approved {
			return Rejected
		}
	}
	for i := range h.Demands {
		if h.lacks(&h.Demands[i]) > 0 {
			return Open
		}
	}
	if len(h.Demands) == 0 && len(h.Votes) == 0 {
		return Open
	}
	return Approved
}

// lacks is how many votes a demand still wants.
func (h *Hold) lacks(d *Demand) int {
	n := max(d.Quorum, 1)
	for _, v := range h.Votes {
		if v.Approved && h.counts(d, v.Who) == "" {
			n--
		}
	}
	return n
}

// Lacks says in words what is still wanted.
func (h *Hold) Lacks() string {
	var parts []string
	for i := range h.Demands {
		d := &h.Demands[i]
		n := h.lacks(d)
		if n <= 0 {
			continue
		}
		text := "somebody"
		if roles := h.roles(d); len(roles) > 0 {
			text = strings.Join(roles, " or ")
		}
		switch {
		case n > 1:
			text = strconv.Itoa(n) + " of " + strings.Replace(text, "somebody", "any people", 1)
		case d.Quorum > 1:
			text = "one more of " + strings.Replace(text, "somebody", "any people", 1)
		}
		if d.Not == Author {
			text += ", not the author"
		}
		if d.Rule != "" {
			text += " (" + d.Rule + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; and ")
}

// roles are those that may decide a demand by now.
func (h *Hold) roles(d *Demand) []string {
	if len(d.Roles) == 0 {
		return nil
	}
	return append(slices.Clone(d.Roles), d.Escalate[:min(h.Round, len(d.Escalate))]...)
}

// counts says why somebody's vote does not count for a demand; empty: it does.
func (h *Hold) counts(d *Demand, w Who) string {
	if d.Not == Author && (slices.Contains(h.Authors, w.Actor) || slices.Contains(h.Authors, w.Claimer)) {
		return "author"
	}
	roles := h.roles(d)
	if len(roles) == 0 {
		return ""
	}
	for _, r := range roles {
		if slices.Contains(w.Roles, r) || slices.Contains(h.Lent[w.Actor], r) {
			return ""
		}
	}
	return "role"
}

// May says whether somebody may decide: their word must count for at least one of the demands. Saying no is also the
// author's right, who may take back what they asked for.
func (h *Hold) May(w Who, approve bool) error {
	if !approve && slices.Contains(h.Authors, w.Actor) {
		return nil
	}
	if len(h.Demands) == 0 {
		return nil
	}
	var author bool
	var want []string
	for i := range h.Demands {
		d := &h.Demands[i]
		switch h.counts(d, w) {
		case "":
			return nil
		case "author":
			author = true
		default:
			want = append(want, h.roles(d)...)
		}
	}
	name := Name(w.Actor)
	if author {
		return fault.New(fault.Denied, "%s wrote this plan, and its author may not approve it", name).
			Remedy("ask somebody else%s to decide", of(want))
	}
	slices.Sort(want)
	return fault.New(fault.Denied, "%s is not %s, and nobody else may decide this", name, strings.Join(slices.Compact(want), " or ")).
		Remedy("ask somebody who is; who has which role stands in cairn.yaml under roles")
}

func of(roles []string) string {
	if len(roles) == 0 {
		return ""
	}
	return " (" + strings.Join(roles, " or ") + ")"
}

// Voted reports whether somebody has decided already, under whatever name.
func (h *Hold) Voted(w Who) bool {
	for _, v := range h.Votes {
		if v.Actor == w.Actor || w.Claimer != "" && v.Claimer == w.Claimer || v.Claimer == w.Actor || w.Claimer == v.Actor && w.Claimer != "" {
			return true
		}
	}
	return false
}

// Within is how long this round may take; 0: as long as it likes. The shortest of the demands counts.
func (h *Hold) Within() time.Duration {
	var least time.Duration
	for _, d := range h.Demands {
		if d.Within > 0 && (least == 0 || d.Within < least) {
			least = d.Within
		}
	}
	return least
}

// Next lists who may decide too once the time of this round is up. None: the hold expires.
func (h *Hold) Next() (to []string) {
	for _, d := range h.Demands {
		if h.Round < len(d.Escalate) && !slices.Contains(to, d.Escalate[h.Round]) {
			to = append(to, d.Escalate[h.Round])
		}
	}
	return to
}

// claim stands between a name and whoever acts under it.
const claim = " by "

// Claim names an actor together with the other one who acts under that name.
func Claim(actor, claimer string) string {
	if claimer == "" || claimer == actor {
		return actor
	}
	return actor + claim + claimer
}

// Claimed takes a claim apart. Nobody has claimed a name that stands alone.
func Claimed(actor string) (name, claimer string) {
	name, claimer, _ = strings.Cut(actor, claim)
	return name, claimer
}

// Name is how people call an actor: without the kind.
func Name(actor string) string {
	if _, name, ok := strings.Cut(actor, ":"); ok {
		return name
	}
	return actor
}
