package lifecycle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
)

func question(id string) plan.Task { return plan.Task{ID: id, Uses: HumanAsk} }

func TestQuestionWaitsAndItsAnswerIsAnOutput(t *testing.T) {
	m := gated(t, nil, question("q"), needs(task("after"), "q")).work()
	m.want("q:waiting after:pending")
	if !m.s.OnlyPeople() {
		t.Error("something else is under way")
	}
	m.must(Fact{Kind: TaskEnded, Task: "q", Actor: "person:bob", Body: &Ended{Outcome: Succeeded, Outputs: map[string]json.RawMessage{AnswerOutput: json.RawMessage(`"yes"`)}}})
	m.work().want("q:completed after:completed").phase(PlanCompleted).replays(m.first)
	if got, _ := m.s.Task("q"); string(got.Result.Outputs[AnswerOutput]) != `"yes"` {
		t.Error(got.Result)
	}
}

// What an old journal derived from a task of that name stays.
func TestFirstEditionStartsWhatLooksLikeAQuestion(t *testing.T) {
	m := newSimUnder(t, dag(question("q")), 1)
	m.must(Fact{Kind: PlanStarted, Body: &Session{Epoch: 1}})
	m.want("q:running")
}

func TestAnswers(t *testing.T) {
	ask, decide := plan.Task{ID: "q", Uses: HumanAsk, Title: "Where?"}, plan.Task{ID: "q", Uses: HumanDecide}
	for _, c := range []struct {
		task plan.Task
		with string
		text string
		want string // the output, or what is wrong
		hint string
	}{
		{ask, `{"question":"Where?"}`, "here", `answer:"here"`, ""},
		{ask, ``, "here", `answer:"here"`, ""},
		{ask, `{"question":"Where?"}`, " \n", "the answer is empty", "some words"},
		{ask, `{"question":"Where?","default":"there"}`, "", `answer:"there"`, ""},
		{decide, `{"question":"?","options":[{"id":"red","cost":3},{"id":"blue"}]}`, " red\n", `choice:"red"`, ""},
		{decide, `{"question":"?","options":[{"id":"red"},{"id":"blue"}]}`, "bleu", `"bleu" is none of the options`, "did you mean blue? choose one of: red, blue"},
		{decide, `{"question":"?","options":[{"id":"red"}]}`, "", "the answer is empty", "choose one of: red"},
		{decide, `{"question":"?"}`, "red", "q has no options", ""},
		{ask, `{"options":3}`, "red", "what q asks cannot be read", "capability show human.ask"},
	} {
		q, err := ReadQuestion(&c.task, json.RawMessage(c.with))
		var got map[string]json.RawMessage
		if err == nil {
			got, err = q.Answer(c.text)
		}
		said := ""
		for name, v := range got {
			said = name + ":" + string(v)
		}
		if err != nil {
			said = err.Error()
			if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.HintOf(err), c.hint) {
				t.Errorf("%s %q: %v, %s", c.with, c.text, fault.CodeOf(err), fault.HintOf(err))
			}
		}
		if !strings.HasPrefix(said, c.want) {
			t.Errorf("%s %q: %s", c.with, c.text, said)
		}
	}
}

func TestQuestionShowsWhateverAReferenceBrought(t *testing.T) {
	decide := plan.Task{ID: "q", Uses: HumanDecide}
	q, err := ReadQuestion(&decide, json.RawMessage(`{"question":{"a":1},"options":[{"id":"x","says":"S","pros":["p",2],"cons":["c"],"cost":20}]}`))
	if err != nil || q.Asks != `{"a":1}` || q.Inputs.IsZero() {
		t.Fatal(q, err)
	}
	if o := q.Options[0]; o.Says != "S" || strings.Join(o.Pros, " ") != "p 2" || o.Cons[0] != "c" || o.Cost != "20" {
		t.Error(o)
	}
}

func TestWhoMayAnswer(t *testing.T) {
	for _, c := range []struct {
		to  string
		who gate.Who
		ok  bool
	}{
		{"", gate.Who{Actor: "person:eve"}, true},
		{"lead", gate.Who{Actor: "person:bob", Roles: []string{"lead"}}, true},
		{"lead", gate.Who{Actor: "person:eve", Roles: []string{"dev"}}, false},
		{"eve", gate.Who{Actor: "person:eve"}, true},
		{"agent:eve", gate.Who{Actor: "agent:eve"}, true},
		{"agent:eve", gate.Who{Actor: "person:eve"}, false},
	} {
		h := Question{To: c.to}.Hold([]string{"person:ann"})
		if err := h.May(c.who, true); (err == nil) != c.ok {
			t.Errorf("%q %v: %v", c.to, c.who, err)
		}
	}
}
