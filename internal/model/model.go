// Package model is the port behind which language models answer, and everything that makes an answer worth having:
// tries within one deadline, a breaker for each server, structured answers checked against their schema, prices, and the
// prompt log.
//
// A Set owns the models that the settings name and what is remembered of their servers. It lends out a Model for one
// Errand: on whose behalf it is asked, with whose key, within whose budget. What a model answers, and what tools put into a
// prompt, is data; nothing in it is ever obeyed here.
//
// Every exchange is stored, without secrets, before anybody sees it, under the effect key of the errand: whoever asks the
// same again after a crash gets the stored answer, and pays once. Losing the folder of recordings costs money and nothing
// else. Under replay no server is asked at all.
//
// A failure is an error that says what to do. An answer that does not fit goes back to the model with the reasons, within the
// same number of tries; one that never fits is a failure, never a half-right answer.
package model

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Model answers requests.
type Model interface {
	Generate(ctx context.Context, r Request) (Answer, error)
}

// Role says who speaks.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // what a tool gave back: data
)

// Message is one turn of a conversation.
type Message struct {
	Role  Role       `json:"role"`
	Text  string     `json:"text,omitempty"`
	Calls []ToolCall `json:"calls,omitempty"` // what the assistant wants called
	For   string     `json:"for,omitempty"`   // the id of the call that a tool's message answers
}

// Tool is something that a model may ask to be called.
type Tool struct {
	Name    string          `json:"name"` // noun.verb
	Summary string          `json:"summary"`
	Inputs  json.RawMessage `json:"inputs,omitempty"` // JSON Schema of an object
}

// ToolCall is a model's wish that a tool be called. Name may be one that there is not, and With may not fit.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	With json.RawMessage `json:"with"`
}

// Request is what a model is asked.
type Request struct {
	System      string          `json:"system,omitempty"`
	Messages    []Message       `json:"messages"`
	Tools       []Tool          `json:"tools,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`      // of an object: the answer must fit
	MaxTokens   int             `json:"max_tokens,omitempty"`  // 0: as the settings say
	Temperature *float64        `json:"temperature,omitempty"` // nil: as the settings say
}

// Finish says why a model stopped.
type Finish string

// The reasons.
const (
	Stopped  Finish = "stop"
	CutOff   Finish = "length"
	ForTools Finish = "tools"
	Refusal  Finish = "refused"
)

// Answer is what a model said. JSON is set when a schema was asked for, and fits it.
type Answer struct {
	Text   string          `json:"text,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	Calls  []ToolCall      `json:"calls,omitempty"`
	In     int64           `json:"tokens_in"`
	Out    int64           `json:"tokens_out"`
	Model  string          `json:"model"`
	Finish Finish          `json:"finish"`
}

// ErrRefused is in the error of a request that the model would not answer.
var ErrRefused = errors.New("the model refused")

// Ask is a request of one message.
func Ask(system, prompt string) Request {
	return Request{System: system, Messages: []Message{{Role: User, Text: prompt}}}
}

// id is the identity of a request to a model: the same whenever the same is asked.
func (r Request) id(s Settings) (digest.ID, error) {
	canon, err := digest.Canonical(struct {
		Provider string  `json:"provider"`
		Model    string  `json:"model"`
		Request  Request `json:"request"`
	}{s.Provider, s.Model, r})
	if err != nil {
		return digest.ID{}, err
	}
	return digest.Sum(canon), nil
}
