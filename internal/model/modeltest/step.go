package modeltest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Reply is an answer by the protocol.
type Reply struct {
	Text    string
	Tool    string // a tool to be called, by its name on the wire
	With    string // its arguments, as JSON
	Finish  string // as the protocol spells it; empty: the usual
	Refusal string
	In, Out int64 // tokens; 0: counted in words
}

// Says answers with a text.
func Says(text string) Step { return Gives(Reply{Text: text}) }

// Answers asks a function what to say.
func Answers(f func(Received) Reply) Step {
	return func(w http.ResponseWriter, _ *http.Request, got Received) { write(w, got, f(got)) }
}

// Gives answers as it is told.
func Gives(r Reply) Step { return Answers(func(Received) Reply { return r }) }

// Echo says what it was told last.
func Echo() Step { return Answers(func(got Received) Reply { return Reply{Text: got.Last()} }) }

func write(w http.ResponseWriter, got Received, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(Body(got, r)) // a client that left is not waited for
}

// Body is the body of an answer.
func Body(got Received, r Reply) []byte {
	if r.In == 0 {
		for _, t := range got.Turns {
			r.In += int64(len(strings.Fields(t.Text)))
		}
	}
	if r.Out == 0 {
		r.Out = int64(len(strings.Fields(r.Text)))
	}
	v := completion(got, r)
	if got.Provider == "anthropic" {
		v = message(got, r)
	}
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts and numbers are always JSON
	}
	return body
}

type object = map[string]any

func completion(got Received, r Reply) any {
	m, finish := object{"role": "assistant", "content": r.Text}, "stop"
	if r.Tool != "" {
		m["tool_calls"] = []object{{"id": "call_1", "type": "function", "function": object{"name": r.Tool, "arguments": r.With}}}
		finish = "tool_calls"
	}
	if r.Refusal != "" {
		m["content"], m["refusal"] = nil, r.Refusal
	}
	if r.Finish != "" {
		finish = r.Finish
	}
	return object{"id": "chatcmpl-1", "object": "chat.completion", "model": got.Model,
		"choices": []object{{"index": 0, "message": m, "finish_reason": finish}},
		"usage":   object{"prompt_tokens": r.In, "completion_tokens": r.Out, "total_tokens": r.In + r.Out}}
}

func message(got Received, r Reply) any {
	content, stop := []object{}, "end_turn"
	if text := r.Text + r.Refusal; text != "" || r.Tool == "" {
		content = append(content, object{"type": "text", "text": text})
	}
	if r.Tool != "" {
		content = append(content, object{"type": "tool_use", "id": "toolu_1", "name": r.Tool, "input": json.RawMessage(r.With)})
		stop = "tool_use"
	}
	if r.Refusal != "" {
		stop = "refusal"
	}
	if r.Finish != "" {
		stop = r.Finish
	}
	return object{"id": "msg_1", "type": "message", "role": "assistant", "model": got.Model, "content": content, "stop_reason": stop,
		"usage": object{"input_tokens": r.In, "output_tokens": r.Out}}
}

// Status answers with an error of that status.
func Status(status int, header map[string]string, says string) Step {
	return func(w http.ResponseWriter, _ *http.Request, _ Received) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": "so_it_is", "message": says}}) // a client that left is not waited for
	}
}

// Limited says that there were too many requests, and to come again in some seconds.
func Limited(seconds int) Step {
	return Status(http.StatusTooManyRequests, map[string]string{"Retry-After": strconv.Itoa(seconds)}, "rate limit reached")
}

// Raw answers with these bytes and status 200.
func Raw(body string) Step {
	return func(w http.ResponseWriter, _ *http.Request, _ Received) { fmt.Fprint(w, body) }
}

// Cut breaks the connection off in the middle of an answer.
func Cut(r Reply) Step {
	return func(w http.ResponseWriter, _ *http.Request, got Received) {
		body := Body(got, r)
		hijacked(w, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2]))
	}
}

// Reset breaks the connection off before an answer.
func Reset() Step {
	return func(w http.ResponseWriter, _ *http.Request, _ Received) { hijacked(w, "") }
}

func hijacked(w http.ResponseWriter, says string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err) // a server of HTTP/1.1 lets its connections go
	}
	_, _ = c.Write([]byte(says)) // a client that left first is fine
	if says == "" {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	_ = c.Close()
}

// Hang never answers.
func Hang() Step {
	return func(_ http.ResponseWriter, r *http.Request, _ Received) { <-r.Context().Done() }
}

// Drip sends its answer a byte at a time, and never all of it.
func Drip() Step {
	return func(w http.ResponseWriter, r *http.Request, _ Received) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	}
}

// Flood sends megabytes without an end in sight.
func Flood(megabytes int) Step {
	return func(w http.ResponseWriter, _ *http.Request, _ Received) {
		piece := []byte(strings.Repeat("x", 1<<20))
		for range megabytes {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
}

// Many is a step n times over.
func Many(n int, step Step) []Step {
	all := make([]Step, n)
	for i := range all {
		all[i] = step
	}
	return all
}
