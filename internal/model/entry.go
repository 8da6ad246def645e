package model

import (
	"strings"
	"time"
	"unicode"
)

// A page of the prompt log is an artifact of the task that asked, known by its type.
const (
	PageType   = "prompt"
	PagePrefix = "prompt-" // and a number: which exchange of the attempt it was
)

// Entry is one exchange, as the prompt log has it.
type Entry struct {
	ID      string    `json:"id"` // of the request: equal requests have equal ids
	Time    time.Time `json:"timestamp"`
	Plan    string    `json:"plan_id,omitempty"`
	Task    string    `json:"task_id,omitempty"`
	Attempt int       `json:"attempt,omitempty"`

	Tool     string `json:"tool,omitempty"` // the capability that asked
	Name     string `json:"name"`           // of the model in the settings
	Provider string `json:"provider"`
	Model    string `json:"model"`

	InputSummary  string  `json:"input_summary"`
	OutputSummary string  `json:"output_summary,omitempty"`
	Input         Request `json:"input"`
	Output        *Answer `json:"output,omitempty"` // none: there was no answer
	Error         string  `json:"error,omitempty"`

	TokensIn  int64         `json:"tokens_in"`
	TokensOut int64         `json:"tokens_out"`
	Cost      int64         `json:"cost_micro"` // millionths of the currency
	Currency  string        `json:"currency,omitempty"`
	Unpriced  bool          `json:"unpriced,omitempty"` // the settings say no price, so that the cost is not known
	Latency   time.Duration `json:"latency_ns"`
	Tries     int           `json:"tries"` // how often the server was asked
}

func (e Entry) answer() Answer {
	if e.Output == nil {
		return Answer{}
	}
	return *e.Output
}

// entry writes an exchange down.
func (c *client) entry(r Request, a Answer, err error) Entry {
	spent := c.settings.Price.of(a.In, a.Out)
	e := Entry{Plan: c.errand.Plan, Task: c.errand.Task, Attempt: c.errand.Attempt,
		Tool: c.errand.Tool, Name: c.name, Provider: c.settings.Provider, Model: c.settings.Model,
		InputSummary: brief(lastText(r)), Input: r, TokensIn: a.In, TokensOut: a.Out,
		Cost: spent.Cost, Currency: spent.Currency, Unpriced: !c.settings.Price.known()}
	if err != nil {
		e.Error = err.Error()
		return e
	}
	e.Output, e.OutputSummary = &a, brief(a.said())
	return e
}

// said is an answer in words.
func (a Answer) said() string {
	if strings.TrimSpace(a.Text) != "" || len(a.Calls) == 0 {
		return a.Text
	}
	names := make([]string, len(a.Calls))
	for i, call := range a.Calls {
		names[i] = call.Name
	}
	return "calls " + strings.Join(names, ", ")
}

func lastText(r Request) string {
	if len(r.Messages) == 0 {
		return r.System
	}
	return r.Messages[len(r.Messages)-1].Text
}

// longestBrief is how much of a text is shown where there is one line for it, in characters.
const longestBrief = 120

// brief is the beginning of a text on one line, without anything that could move a cursor or turn the text around.
func brief(text string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if !unicode.IsPrint(r) { // controls, and marks that turn the direction of text
			continue
		}
		if n >= longestBrief {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
