// Package anthropic writes requests and reads answers as Anthropic's messages do. It has no state and makes no call; what it
// cannot read is an error that says what is missing.
package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-plan/cairn/internal/model"
)

// Provider is its name in the settings.
const Provider = "anthropic"

const version = "2023-06-01"

// Wire speaks the protocol.
type Wire struct{}

var _ model.Wire = Wire{}

// Usual implements model.Wire.
func (Wire) Usual() (url, key string) { return "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY" }

type request struct {
	Model       string    `json:"model"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature *float64  `json:"temperature,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of a message: text, tool_use or tool_result.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	For     string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Inputs      json.RawMessage `json:"input_schema"`
}

// asJSON asks for structure in words: the protocol has no field for it.
const asJSON = "Answer with one JSON object that fits this JSON Schema, and nothing around it:\n"

// Encode implements model.Wire.
func (Wire) Encode(s model.Settings, key string, r model.Request) (string, http.Header, []byte, error) {
	out := request{Model: s.Model, System: r.System, MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	if len(r.Schema) > 0 {
		if out.System != "" {
			out.System += "\n\n"
		}
		out.System += asJSON + string(r.Schema)
	}
	for _, m := range r.Messages {
		role, blocks := turn(m)
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == role { // turns alternate
			out.Messages[n-1].Content = append(out.Messages[n-1].Content, blocks...)
			continue
		}
		out.Messages = append(out.Messages, message{role, blocks})
	}
	for _, t := range r.Tools {
		inputs := t.Inputs
		if len(inputs) == 0 {
			inputs = json.RawMessage(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, tool{model.ToolName(t.Name), t.Summary, inputs})
	}
	body, err := json.Marshal(out)
	h := http.Header{"Anthropic-Version": {version}}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return "/messages", h, body, err
}

func turn(m model.Message) (role string, blocks []block) {
	switch {
	case m.Role == model.ToolRole:
		return "user", []block{{Type: "tool_result", For: m.For, Content: m.Text}}
	case m.Text != "":
		blocks = append(blocks, block{Type: "text", Text: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: model.ToolName(c.Name), Input: c.With})
	}
	return string(m.Role), blocks
}

type answer struct {
	Type    string  `json:"type"`
	Model   string  `json:"model"`
	Content []block `json:"content"`
	Stop    string  `json:"stop_reason"`
	Usage   struct {
		In      int64 `json:"input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Out     int64 `json:"output_tokens"`
	} `json:"usage"`
}

var finishes = map[string]model.Finish{"end_turn": model.Stopped, "stop_sequence": model.Stopped, "max_tokens": model.CutOff, "tool_use": model.ForTools, "refusal": model.Refusal}

// Decode implements model.Wire.
func (Wire) Decode(r model.Request, body []byte) (model.Answer, error) {
	var in answer
	if err := json.Unmarshal(body, &in); err != nil {
		return model.Answer{}, fmt.Errorf("it is no JSON of a message: %w", err)
	}
	if in.Type != "message" {
		return model.Answer{}, fmt.Errorf("its type is %q, not message", in.Type)
	}
	a := model.Answer{Model: in.Model, In: max(in.Usage.In+in.Usage.Created+in.Usage.Read, 0), Out: max(in.Usage.Out, 0), Finish: finishes[in.Stop]}
	for _, b := range in.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "tool_use":
			with := b.Input
			if len(with) == 0 {
				with = json.RawMessage("{}")
			}
			a.Calls = append(a.Calls, model.ToolCall{ID: b.ID, Name: r.ToolID(b.Name), With: with})
		}
	}
	if a.Finish == "" {
		a.Finish = model.Stopped
	}
	if len(in.Content) == 0 && a.Finish != model.Refusal {
		return model.Answer{}, errors.New("it has no content")
	}
	return a, nil
}
