package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

func TestWhenARehearsalBegins(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "0001-01-01T00:00:00Z",
		"2026-05-04":                "2026-05-04T09:00:00Z",
		"2026-05-04 13:30":          "2026-05-04T13:30:00Z",
		"2026-05-04T13:30":          "2026-05-04T13:30:00Z",
		"2026-05-04T13:30:00+02:00": "2026-05-04T13:30:00+02:00",
	} {
		got, err := parseStart(text)
		if err != nil || got.Format("2006-01-02T15:04:05Z07:00") != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := parseStart("May"); !fault.Is(err, fault.Invalid) {
		t.Errorf("May is taken for a time: %v", err)
	}
}

// The people of the settings have the roles of the settings, unless the team file names others.
func TestPeopleOfTheSettings(t *testing.T) {
	team := rehearsal.DefaultTeam()
	team["lead"] = rehearsal.Role{People: []string{"dee"}, Approve: 0.5}
	team["owner"] = rehearsal.Role{Approve: 0.5}
	join(team, map[string][]string{"lead": {"person:ann"}, "owner": {"person:bob", "agent:bot"}, "reviewer": {"person:cem"}})
	if got := team["lead"].People; !slices.Equal(got, []string{"dee"}) {
		t.Errorf("lead: %v", got)
	}
	if got := team["owner"]; !slices.Equal(got.People, []string{"bob", "bot"}) || got.Approve != 0.5 {
		t.Errorf("owner: %+v", got)
	}
	if got := team["reviewer"]; !slices.Equal(got.People, []string{"cem"}) || got.Approve != 1 {
		t.Errorf("reviewer: %+v", got)
	}
}

func TestSharesAreNotRoundedToCertainty(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 0.0001: "<1%", 0.01: "1%", 0.5: "50%", 0.99: "99%", 0.9999: ">99%", 1: "100%"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, not %s", share, got, want)
		}
	}
	if got := dated("2026-05-04T13:30:00+02:00"); got != "Mon 2026-05-04 13:30 +02:00" {
		t.Error(got)
	}
	if got := dated("some day"); got != "some day" {
		t.Error(got)
	}
}

func TestALongReportIsCutShort(t *testing.T) {
	r := &rehearsal.Report{Plan: "p", Times: 1, Failed: 1, Unfinished: 0.5, Short: 0.2, Stuck: []string{"t1"}}
	for i := range mostLines + 3 {
		id := fmt.Sprint("t", i)
		r.Tasks = append(r.Tasks, rehearsal.Task{Task: id, Basis: rehearsal.ByKind, OnPath: 1, Failed: 1})
		r.Path, r.Failing = append(r.Path, id), append(r.Failing, id)
		r.Holds = append(r.Holds, rehearsal.Hold{Task: id, Who: []string{"ann"}, Path: plan.Duration(1e9)})
		r.People = append(r.People, rehearsal.Person{Who: "p" + id})
	}
	var b strings.Builder
	if err := writeRehearsal(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "and 3 more\n") != 4 || strings.Contains(text, "P50") {
		t.Errorf("%s", text)
	}
	words := strings.Join(strings.Fields(text), " ")
	for _, line := range []string{"rehearsed plan p 1 time, from Monday 9:00", "bottleneck t0, which waits for ann", "short of budget 20%", "waits for ever: t1"} {
		if !strings.Contains(words, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	if taskOf(r, "nobody") != (rehearsal.Task{}) {
		t.Error("a task that is not there")
	}
}
