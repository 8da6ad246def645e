// Package openai writes requests and reads answers as OpenAI's chat completions do, and as the many servers do that speak
// like it. It has no state and makes no call; what it cannot read is an error that says what is missing.
package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cairn-plan/cairn/internal/model"
)

// Provider is its name in the settings.
const Provider = "openai"

// Wire speaks the protocol.
type Wire struct{}

var _ model.Wire = Wire{}

// Usual implements model.Wire.
func (Wire) Usual() (url, key string) { return "https://api.openai.com/v1", "OPENAI_API_KEY" }

type request struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
}

type message struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Refusal string     `json:"refusal,omitempty"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	For     string     `json:"tool_call_id,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type format struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// Encode implements model.Wire.
func (Wire) Encode(s model.Settings, key string, r model.Request) (string, http.Header, []byte, error) {
	out := request{Model: s.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	if r.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: &r.System})
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, turn(m))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", function{model.ToolName(t.Name), t.Summary, t.Inputs}})
	}
	if len(r.Schema) > 0 {
		out.Format = &format{Type: "json_schema"}
		out.Format.Schema.Name, out.Format.Schema.Schema = "answer", r.Schema
	}
	body, err := json.Marshal(out)
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return "/chat/completions", h, body, err
}

func turn(m model.Message) message {
	out := message{Role: string(m.Role), Content: &m.Text, For: m.For}
	for _, c := range m.Calls {
		call := toolCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = model.ToolName(c.Name), string(c.With)
		out.Calls = append(out.Calls, call)
	}
	if m.Text == "" && len(m.Calls) > 0 {
		out.Content = nil
	}
	return out
}

type answer struct {
	Model   string `json:"model"`
	Choices []struct {
		Message message `json:"message"`
		Finish  string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		In  int64 `json:"prompt_tokens"`
		Out int64 `json:"completion_tokens"`
	} `json:"usage"`
}

var finishes = map[string]model.Finish{"stop": model.Stopped, "length": model.CutOff, "tool_calls": model.ForTools, "function_call": model.ForTools, "content_filter": model.Refusal}

// Decode implements model.Wire.
func (Wire) Decode(r model.Request, body []byte) (model.Answer, error) {
	var in answer
	if err := json.Unmarshal(body, &in); err != nil {
		return model.Answer{}, fmt.Errorf("it is no JSON of a chat completion: %w", err)
	}
	if len(in.Choices) == 0 {
		return model.Answer{}, errors.New("there are no choices in it")
	}
	c := in.Choices[0]
	a := model.Answer{Model: in.Model, In: max(in.Usage.In, 0), Out: max(in.Usage.Out, 0), Finish: finishes[c.Finish]}
	if c.Message.Content != nil {
		a.Text = *c.Message.Content
	}
	for _, call := range c.Message.Calls {
		with := strings.TrimSpace(call.Function.Arguments)
		if with == "" {
			with = "{}"
		}
		if !json.Valid([]byte(with)) {
			return model.Answer{}, fmt.Errorf("the arguments of its call of %s are no JSON", call.Function.Name)
		}
		a.Calls = append(a.Calls, model.ToolCall{ID: call.ID, Name: r.ToolID(call.Function.Name), With: json.RawMessage(with)})
	}
	switch {
	case c.Message.Refusal != "":
		a.Text, a.Finish = c.Message.Refusal, model.Refusal
	case len(a.Calls) > 0:
		a.Finish = model.ForTools
	case a.Finish == "":
		a.Finish = model.Stopped
	}
	if c.Message.Content == nil && c.Message.Refusal == "" && len(a.Calls) == 0 && a.Finish == model.Stopped {
		return model.Answer{}, errors.New("its message says nothing")
	}
	return a, nil
}
