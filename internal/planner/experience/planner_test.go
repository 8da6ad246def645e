package experience_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/planner/experience"
)

var tools = []experience.Tool{
	{ID: "find_room", Description: "Look for meeting rooms that are free", Tags: []string{"office"}},
	{ID: "book_room", Description: "Reserve a meeting room", Tags: []string{"office"}},
	{ID: "sendMail", Description: "Send an e-mail", Tags: []string{"office"}},
	{ID: "play-song", Description: "Play music on the speaker", Tags: []string{"home"}},
	{ID: "lamp.dim", Description: "Dim the lamps of a room", Tags: []string{"home", "light"}},
	{ID: "translate_text", Description: "문장을 다른 언어로 번역", Tags: []string{"language"}},
}

var past = []experience.Case{
	known("room-1", "Get a meeting room for Tuesday at 9 and mail the team", "find_room", "book_room", "sendMail"),
	known("room-2", "Get us a meeting room with a screen on Friday at 14:30", "find_room", "book_room"),
	known("room-3", "We need a meeting room for 12 people on Monday, mail everybody", "find_room", "book_room", "sendMail"),
	known("room-4", "Get the small meeting room for \"Plan A\"", "find_room", "book_room"),
	known("calm-1", "Dim the lights and put on some jazz", "lamp.dim", "play-song"),
	known("calm-2", "Put on some piano music, then dim the lights", "play-song", "lamp.dim"),
	known("calm-3", "Dim the lights in the kitchen and put on Satie", "lamp.dim", "play-song"),
	known("calm-4", "Put on quiet music, then dim the lights a little", "play-song", "lamp.dim"),
	known("lang-1", "이 편지를 영어로 번역해서 메일로 보내 줘", "translate_text", "sendMail"),
	known("lang-2", "보고서를 번역해서 팀에게 메일로 보내", "translate_text", "sendMail"),
}

// known is a case whose plan is a chain.
func known(id, goal string, steps ...string) experience.Case {
	c := experience.Case{ID: id, Goal: goal, Steps: steps}
	for i := 1; i < len(steps); i++ {
		c.Links = append(c.Links, experience.Link{steps[i-1], steps[i]})
	}
	return c
}

func stepsOf(d experience.Draft) []string {
	var ids []string
	for _, s := range d.Steps {
		ids = append(ids, s.Capability)
	}
	return ids
}

func TestPlanFromExperience(t *testing.T) {
	p := experience.New(past, tools)
	tests := []struct {
		goal string
		want []string
	}{
		{"Get us a meeting room with a screen for Thursday", []string{"find_room", "book_room"}},
		{"Get a meeting room for 7 people and mail the team", []string{"find_room", "book_room", "sendMail"}},
		{"Dim the lights and put on some blues", []string{"lamp.dim", "play-song"}},
		{"Put on some soft music, then dim the lights", []string{"play-song", "lamp.dim"}},
		{"계약서를 번역해서 메일로 보내 줘", []string{"translate_text", "sendMail"}},
	}
	for _, tt := range tests {
		t.Run(tt.goal, func(t *testing.T) {
			d := p.Plan(tt.goal)
			if !slices.Equal(stepsOf(d), tt.want) {
				t.Fatalf("steps %v, want %v", stepsOf(d), tt.want)
			}
			if want := known("", "", tt.want...).Links; !slices.Equal(d.Links, want) {
				t.Errorf("links %v, want %v", d.Links, want)
			}
		})
	}
}

func TestDraftSaysWhy(t *testing.T) {
	d := experience.New(past, tools).Plan("Dim the lights and put on some blues")
	if len(d.Cases) == 0 || d.Cases[0].ID != "calm-1" {
		t.Errorf("the nearest case is %v, want calm-1", d.Cases)
	}
	dim := d.Steps[0]
	if !slices.Contains(dim.Cases, "calm-3") || !slices.Contains(dim.Words, "Dim") {
		t.Errorf("the step gives as its reasons cases %v and words %v", dim.Cases, dim.Words)
	}
	least := 1.0
	for _, s := range d.Steps {
		least = min(least, s.Likelihood)
	}
	if d.Confidence != least {
		t.Errorf("confidence %v, but the least sure step has %v", d.Confidence, least)
	}
}

func TestPlanFromTheMenuAlone(t *testing.T) {
	p := experience.New(nil, tools)
	tests := []struct {
		goal string
		want []string
	}{
		{"Reserve a meeting room, then send the team an e-mail.", []string{"book_room", "sendMail"}},
		{"Please play some songs and dim the lamp", []string{"play-song", "lamp.dim"}},
		{"이 문장을 번역, send it by mail", []string{"translate_text", "sendMail"}},
	}
	for _, tt := range tests {
		t.Run(tt.goal, func(t *testing.T) {
			d := p.Plan(tt.goal)
			if !slices.Equal(stepsOf(d), tt.want) {
				t.Fatalf("steps %v, want %v", stepsOf(d), tt.want)
			}
			if len(d.Steps[0].Words) == 0 || len(d.Cases) != 0 {
				t.Errorf("a match by description gives its words, and no cases: %+v", d)
			}
		})
	}
}

func TestNothingKnown(t *testing.T) {
	for name, p := range map[string]*experience.Planner{
		"no experience": experience.New(nil, tools),
		"experience":    experience.New(past, tools),
		"nothing":       experience.New(nil, nil),
	} {
		for _, goal := range []string{"", "xyzzy", "?!"} {
			d := p.Plan(goal)
			if len(d.Steps) != 0 || len(d.Links) != 0 || d.Confidence != 0 {
				t.Errorf("%s: %q gave %+v", name, goal, d)
			}
			if b, _ := json.Marshal(d); string(b) != `{"steps":[],"links":[],"confidence":0}` {
				t.Errorf("%s: %q is written as %s", name, goal, b)
			}
		}
	}
}

func TestOnlyWhatIsOnOffer(t *testing.T) {
	fewer := slices.DeleteFunc(slices.Clone(tools), func(t experience.Tool) bool { return t.ID == "book_room" })
	p := experience.New(past, fewer)
	for _, c := range past {
		for _, d := range []experience.Draft{p.Plan(c.Goal), p.Copy(c.Goal)} {
			if slices.Contains(stepsOf(d), "book_room") {
				t.Errorf("%q was given a capability that is not on offer", c.Goal)
			}
		}
	}
	if got := stepsOf(experience.New(past, nil).Plan(past[1].Goal)); !slices.Contains(got, "book_room") {
		t.Errorf("an empty menu allows all, but the draft is %v", got)
	}
}

func TestCopy(t *testing.T) {
	p := experience.New(past, tools)
	if got := stepsOf(p.Copy(past[0].Goal)); !slices.Equal(got, past[0].Steps) {
		t.Errorf("copied %v, want %v", got, past[0].Steps)
	}
	if got := p.Copy("xyzzy"); len(got.Steps) != 0 {
		t.Errorf("copied %v from nowhere", got)
	}
}

// Where past plans branch, drafts do: two steps that were never linked stay apart.
func TestLinksThatAreNoChain(t *testing.T) {
	var fans []experience.Case
	for i, room := range []string{"hall", "attic", "cellar", "kitchen"} {
		c := known(fmt.Sprint(i), "Read the list, then warm and light the "+room, "read", "warm", "light")
		c.Links = []experience.Link{{"read", "warm"}, {"read", "light"}}
		fans = append(fans, c)
	}
	d := experience.New(fans, nil).Plan("Read the list, then warm and light the garage")
	if want := []experience.Link{{"read", "warm"}, {"read", "light"}}; !slices.Equal(d.Links, want) {
		t.Errorf("links %v, want %v", d.Links, want)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	p, again := experience.New(past, tools), experience.New(past, tools)
	words := rapid.SliceOfN(rapid.SampledFrom([]string{
		"dim", "lights", "and", "then", "mail", "room,", "meeting", "book", "번역해서", "메일로", "12", "'Blue'", "music.", "play", "send",
	}), 0, 20)
	menu := map[string]bool{}
	for _, tool := range tools {
		menu[tool.ID] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		goal := fmt.Sprint(words.Draw(t, "goal"))
		d := p.Plan(goal)
		a, _ := json.Marshal(d)
		b, _ := json.Marshal(again.Plan(goal))
		if string(a) != string(b) {
			t.Fatalf("two drafts of one goal:\n%s\n%s", a, b)
		}
		seen := map[string]bool{}
		for _, s := range d.Steps {
			if !menu[s.Capability] || seen[s.Capability] || s.Likelihood < 0 || s.Likelihood > 1 {
				t.Fatalf("the draft has a step %+v", s)
			}
			seen[s.Capability] = true
		}
		for _, l := range d.Links {
			if !seen[l[0]] || !seen[l[1]] {
				t.Fatalf("link %v joins no steps", l)
			}
		}
	})
}
