// Package modeltest is a provider of models on this machine that speaks the real protocols and does what it is told, good or
// bad: it answers by a script, one step for each request, and keeps what it was sent.
//
// A script that is used up answers with a status nobody tries again after, so that counts of calls are exact. Whatever hangs
// ends when its client leaves, or with the test.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Received is a request as it came over the wire, with what both protocols have in common read out of it.
type Received struct {
	Path     string
	Header   http.Header
	Body     []byte
	Provider string // openai or anthropic, by the path
	Model    string
	System   string
	Turns    []Turn
}

// Turn is one message of a request.
type Turn struct{ Role, Text string }

// Last is the text of the last turn.
func (r Received) Last() string {
	if len(r.Turns) == 0 {
		return ""
	}
	return r.Turns[len(r.Turns)-1].Text
}

// Step answers one request.
type Step func(w http.ResponseWriter, r *http.Request, got Received)

// Server is the provider.
type Server struct {
	URL string // with /v1: what the settings of a model take

	mu    sync.Mutex
	got   []Received
	steps []Step
	rest  Step
}

// New starts a server with a script; it ends with the test.
func New(t testing.TB, steps ...Step) *Server {
	s := &Server{steps: steps, rest: Status(http.StatusTeapot, nil, "the script is over")}
	h := httptest.NewServer(s)
	s.URL = h.URL + "/v1"
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// Always makes a handler that answers every request by one step.
func Always(step Step) http.Handler { return &Server{rest: step} }

// Requests is what was received so far.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.got...)
}

// Calls counts them.
func (s *Server) Calls() int { return len(s.Requests()) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its client left
	}
	got := read(r, body)
	s.mu.Lock()
	s.got = append(s.got, got)
	step := s.rest
	if len(s.steps) > 0 {
		step, s.steps = s.steps[0], s.steps[1:]
	}
	s.mu.Unlock()
	step(w, r, got)
}

func read(r *http.Request, body []byte) Received {
	got := Received{Path: r.URL.Path, Header: r.Header, Body: body, Provider: "openai"}
	if strings.HasSuffix(r.URL.Path, "/messages") {
		got.Provider = "anthropic"
	}
	var in struct {
		Model    string `json:"model"`
		System   string `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &in) // what cannot be read shows as empty, and fails the test that looks
	got.Model, got.System = in.Model, in.System
	for _, m := range in.Messages {
		text := said(m.Content)
		if m.Role == "system" {
			got.System = text
			continue
		}
		got.Turns = append(got.Turns, Turn{m.Role, text})
	}
	return got
}

// said is the text of a message: a string, or blocks.
func said(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct{ Text, Content string }
	_ = json.Unmarshal(raw, &blocks) // neither: it says nothing
	for _, b := range blocks {
		text += b.Text + b.Content
	}
	return text
}
