package gate_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
)

func who(name string, roles ...string) gate.Who {
	return gate.Who{Actor: "person:" + name, Roles: roles}
}

func yes(w gate.Who) gate.Vote { return gate.Vote{Who: w, Approved: true} }

func TestEveryDemandMustBeMet(t *testing.T) {
	h := gate.Hold{Authors: []string{"person:ann"}, Demands: []gate.Demand{
		{Roles: []string{"lead"}, Quorum: 2},
		{Rule: "prod of cairn.yaml", Roles: []string{"owner"}, Not: gate.Author},
	}}
	steps := []struct {
		vote  gate.Vote
		lacks string
	}{
		{yes(who("ann", "lead", "owner")), "one more of lead; and owner, not the author (prod of cairn.yaml)"},
		{yes(who("bob", "lead")), "owner, not the author (prod of cairn.yaml)"},
		{yes(who("eve", "owner")), ""},
	}
	if got := h.Lacks(); got != "2 of lead; and owner, not the author (prod of cairn.yaml)" {
		t.Error(got)
	}
	for i, s := range steps {
		if got := h.Verdict(); got != gate.Open {
			t.Fatalf("step %d: %v", i, got)
		}
		h.Votes = append(h.Votes, s.vote)
		if got := h.Lacks(); got != s.lacks {
			t.Errorf("step %d: lacks %q, want %q", i, got, s.lacks)
		}
	}
	if got := h.Verdict(); got != gate.Approved {
		t.Error(got)
	}
	h.Votes = append(h.Votes, gate.Vote{Who: who("bob", "lead")})
	if got := h.Verdict(); got != gate.Rejected {
		t.Error("one no is a no:", got)
	}
}

func TestWhoMayDecide(t *testing.T) {
	h := gate.Hold{Authors: []string{"person:ann"}, Demands: []gate.Demand{{Roles: []string{"lead"}, Not: gate.Author, Escalate: []string{"owner"}}}}
	for _, c := range []struct {
		who     gate.Who
		approve bool
		says    string
	}{
		{who("bob", "lead"), true, ""},
		{who("bob", "owner"), true, "bob is not lead"},
		{who("ann", "lead"), true, "ann wrote this plan"},
		{who("ann", "lead"), false, ""},
		{gate.Who{Actor: "person:bob", Claimer: "person:ann", Roles: []string{"lead"}}, true, "its author may not approve it"},
		{who("eve"), true, "eve is not lead"},
		{who("eve"), false, "eve is not lead"},
	} {
		err := h.May(c.who, c.approve)
		if c.says == "" && err != nil || c.says != "" && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v %v: %v", c.who, c.approve, err)
		}
	}
	h.Round = 1
	if err := h.May(who("bob", "owner"), true); err != nil {
		t.Error("after the first round the owner may too:", err)
	}
	h.Round, h.Lent = 0, map[string][]string{"person:eve": {"lead"}}
	if err := h.May(who("eve"), true); err != nil {
		t.Error("a role can be lent:", err)
	}
	if err := (&gate.Hold{}).May(who("eve"), true); err != nil {
		t.Error("a gate that asks for nobody takes anybody:", err)
	}
}

func TestRounds(t *testing.T) {
	h := gate.Hold{Demands: []gate.Demand{{Within: time.Hour, Escalate: []string{"a", "b"}, Roles: []string{"x"}}, {Within: time.Minute, Escalate: []string{"a"}}}}
	if h.Within() != time.Minute {
		t.Error(h.Within())
	}
	for _, want := range []string{"a", "b", ""} {
		if got := strings.Join(h.Next(), " "); got != want {
			t.Errorf("round %d: %q", h.Round, got)
		}
		h.Round++
	}
}

func TestNobodyVotesTwice(t *testing.T) {
	h := gate.Hold{Votes: []gate.Vote{yes(gate.Who{Actor: "person:bob", Claimer: "person:ann"})}}
	for _, c := range []struct {
		who  gate.Who
		want bool
	}{
		{who("bob"), true}, {who("ann"), true}, {who("eve"), false},
		{gate.Who{Actor: "person:eve", Claimer: "person:ann"}, true},
		{gate.Who{Actor: "person:eve", Claimer: "person:bob"}, true},
	} {
		if got := h.Voted(c.who); got != c.want {
			t.Errorf("%v: %v", c.who, got)
		}
	}
}

// However demands are put together, the author's own word never opens a gate that excludes the author, and every
// approval that opens it came from somebody who may give it.
func TestAuthorNeverCounts(t *testing.T) {
	names := []string{"ann", "bob", "eve", "kim"}
	roles := []string{"lead", "owner", "dev"}
	rapid.Check(t, func(t *rapid.T) {
		h := gate.Hold{Authors: []string{"person:ann"}, Round: rapid.IntRange(0, 2).Draw(t, "round")}
		for range rapid.IntRange(1, 3).Draw(t, "demands") {
			h.Demands = append(h.Demands, gate.Demand{Not: gate.Author, Quorum: rapid.IntRange(0, 3).Draw(t, "quorum"),
				Roles: rapid.SliceOfN(rapid.SampledFrom(roles), 0, 2).Draw(t, "roles"), Escalate: rapid.SliceOfN(rapid.SampledFrom(roles), 0, 2).Draw(t, "escalate")})
		}
		for range rapid.IntRange(0, 6).Draw(t, "votes") {
			w := who(rapid.SampledFrom(names).Draw(t, "name"), rapid.SliceOfN(rapid.SampledFrom(roles), 0, 3).Draw(t, "has")...)
			if !h.Voted(w) && h.May(w, true) == nil {
				h.Votes = append(h.Votes, yes(w))
			}
		}
		others := 0
		for _, v := range h.Votes {
			if v.Actor == "person:ann" {
				t.Fatal("the author voted")
			}
			others++
		}
		if h.Verdict() == gate.Approved {
			for _, d := range h.Demands {
				if others < d.Quorum {
					t.Fatalf("%d votes meet a quorum of %d", others, d.Quorum)
				}
			}
		}
	})
}
