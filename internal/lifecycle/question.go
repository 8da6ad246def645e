package lifecycle

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
)

// The capabilities that people have: nothing is started for them, and no process waits.
const (
	HumanAsk    = "human.ask"
	HumanDecide = "human.decide"
)

// The outputs that an answer becomes.
const (
	AnswerOutput = "answer" // of human.ask
	ChoiceOutput = "choice" // of human.decide
)

// IsQuestion reports whether a task is put to people.
func IsQuestion(t *plan.Task) bool { return strings.HasPrefix(t.Uses, "human.") }

// asks reports whether a task waits for an answer instead of starting. Under the first edition it would have started.
func (s *State) asks(t *plan.Task) bool { return s.law >= 2 && IsQuestion(t) }

// Question is what a task asks of people.
type Question struct {
	Asks    string
	To      string // a role or a person; empty: anybody may answer
	Default string // what is taken where nothing else is said
	Options []Option
	Decides bool // the answer is one of the options

	Inputs digest.ID // of all this
}

// Option is one way to decide.
type Option struct {
	ID   string   `json:"id"`
	Says string   `json:"says,omitempty"`
	Pros []string `json:"pros,omitempty"`
	Cons []string `json:"cons,omitempty"`
	Cost string   `json:"cost,omitempty"`
}

// word is a text, or whatever a reference to a result put in its place.
type word string

// UnmarshalJSON takes any value.
func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	*w = word(s)
	return nil
}

// ReadQuestion reads what a task asks from its inputs, in which every reference is replaced.
func ReadQuestion(t *plan.Task, with json.RawMessage) (Question, error) {
	var in struct {
		Question, To, Default word
		Options               []struct {
			ID, Says, Cost word
			Pros, Cons     []word
		}
	}
	if len(with) == 0 {
		with = json.RawMessage("{}")
	}
	if err := json.Unmarshal(with, &in); err != nil {
		return Question{}, fault.Wrap(fault.Invalid, err, "what %s asks cannot be read", t.ID).Remedy("see what it takes with: cairn capability show %s", t.Uses)
	}
	q := Question{Asks: string(in.Question), To: string(in.To), Default: string(in.Default), Decides: t.Uses == HumanDecide, Inputs: digest.Sum(with)}
	if q.Asks == "" {
		q.Asks = t.Title
	}
	for _, o := range in.Options {
		q.Options = append(q.Options, Option{ID: string(o.ID), Says: string(o.Says), Pros: texts(o.Pros), Cons: texts(o.Cons), Cost: string(o.Cost)})
	}
	if q.Decides && len(q.Options) == 0 {
		return q, fault.New(fault.Invalid, "%s has no options to decide between", t.ID).Remedy("give up on it with: cairn fail, and list options in the plan")
	}
	return q, nil
}

func texts(words []word) (out []string) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}

// Hold says who may answer, by the rule that gates go by: whoever has the role that is asked, or is the person.
func (q Question) Hold(authors []string) gate.Hold {
	h := gate.Hold{Authors: authors}
	if q.To == "" {
		return h
	}
	actor := q.To
	if !strings.Contains(actor, ":") {
		actor = "person:" + actor
	}
	h.Demands, h.Lent = []gate.Demand{{Roles: []string{q.To}}}, map[string][]string{actor: {q.To}}
	return h
}

// Answer makes outputs of what somebody said. Nothing means the default, where there is one.
func (q Question) Answer(text string) (map[string]json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		if text = q.Default; text == "" {
			return nil, fault.New(fault.Invalid, "the answer is empty, and there is no default").Remedy("%s", q.wants())
		}
	}
	name := AnswerOutput
	if q.Decides {
		name = ChoiceOutput
		text = strings.TrimSpace(text)
		if !slices.Contains(q.ids(), text) {
			remedy := q.wants()
			if near := fault.Nearest(text, q.ids()); near != "" {
				remedy = "did you mean " + near + "? " + remedy
			}
			return nil, fault.New(fault.Invalid, "%q is none of the options", text).Remedy("%s", remedy)
		}
	}
	b, err := json.Marshal(text)
	return map[string]json.RawMessage{name: b}, err
}

func (q Question) wants() string {
	if q.Decides {
		return "choose one of: " + strings.Join(q.ids(), ", ")
	}
	return "answer with some words"
}

func (q Question) ids() []string {
	out := make([]string, len(q.Options))
	for i, o := range q.Options {
		out[i] = o.ID
	}
	return out
}
