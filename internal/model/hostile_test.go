package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/model/anthropic"
	"github.com/cairn-plan/cairn/internal/model/modeltest"
	"github.com/cairn-plan/cairn/internal/model/openai"
)

// bench is a set of one model at a scripted server, whose clock is told rather than waited for.
type bench struct {
	set   *model.Set
	waits []time.Duration
	now   time.Time
}

func wires() map[string]model.Wire {
	return map[string]model.Wire{openai.Provider: openai.Wire{}, anthropic.Provider: anthropic.Wire{}}
}

func newBench(provider, url string) *bench {
	b := &bench{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	b.set = &model.Set{
		Config: model.Config{model.Default: {Provider: provider, Model: "m-1", URL: url, Price: model.Price{In: 2, Out: 10}}},
		Wires:  wires(),
		Clock: model.Clock{Now: func() time.Time { return b.now }, Wait: func(ctx context.Context, d time.Duration) error {
			b.waits = append(b.waits, d)
			return ctx.Err()
		}},
	}
	return b
}

func (b *bench) change(f func(*model.Settings)) *bench {
	s := b.set.Config[model.Default]
	f(&s)
	b.set.Config[model.Default] = s
	return b
}

func (b *bench) ask(t *testing.T, r model.Request) (model.Answer, error) {
	t.Helper()
	m, err := b.set.Named("", model.Errand{Tool: "test", Plan: "p", Task: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return m.Generate(t.Context(), r)
}

func city() model.Request {
	r := model.Ask("be brief", "Which city?")
	r.Schema = json.RawMessage(`{"type": "object", "properties": {"city": {"type": "string"}, "people": {"type": "integer"}}, "required": ["city"], "additionalProperties": false}`)
	return r
}

// both runs a test over each of the protocols.
func both(t *testing.T, f func(t *testing.T, provider string)) {
	for _, p := range []string{openai.Provider, anthropic.Provider} {
		t.Run(p, func(t *testing.T) { f(t, p) })
	}
}

const good = `{"city": "Seoul"}`

// steps is a script by itself.
func steps(s ...modeltest.Step) []modeltest.Step { return s }

func TestHostileProviders(t *testing.T) {
	say, limited := modeltest.Says, modeltest.Limited
	status := func(n int) modeltest.Step { return modeltest.Status(n, nil, "it is so") }
	deep := strings.Repeat(`{"a":`, 20_000)
	for name, c := range map[string]struct {
		script []modeltest.Step
		calls  int
		fails  string // empty: the answer is good
	}{
		"at once":                      {steps(say(good)), 1, ""},
		"two rate limits":              {steps(limited(1), limited(2), say(good)), 3, ""},
		"three rate limits":            {steps(limited(1), limited(1), limited(1), say(good)), 3, "429 Too Many Requests: rate limit"},
		"a rate limit for an hour":     {steps(limited(3600), say(good)), 1, "answered once 429"},
		"server error":                 {steps(status(500), say(good)), 2, ""},
		"overloaded":                   {steps(status(529), status(503), say(good)), 3, ""},
		"always failing":               {steps(status(500), status(502), status(500), say(good)), 3, "the last of 3 times 500"},
		"not implemented":              {steps(status(501), say(good)), 1, "501"},
		"wrong key":                    {steps(status(401), say(good)), 1, "401 Unauthorized: it is so"},
		"forbidden":                    {steps(status(403)), 1, "403"},
		"no such model":                {steps(status(404)), 1, "404"},
		"bad request":                  {steps(status(400)), 1, "400"},
		"a redirect":                   {steps(modeltest.Status(307, map[string]string{"Location": "/elsewhere"}, ""), say(good)), 1, "307"},
		"reset":                        {steps(modeltest.Reset(), say(good)), 2, ""},
		"cut in the middle":            {steps(modeltest.Cut(modeltest.Reply{Text: good}), say(good)), 2, ""},
		"cut every time":               {steps(modeltest.Cut(modeltest.Reply{Text: good}), modeltest.Cut(modeltest.Reply{}), modeltest.Cut(modeltest.Reply{})), 3, "broke the connection off"},
		"not JSON":                     {steps(modeltest.Raw("<html>"), say(good)), 2, ""},
		"empty body":                   {steps(modeltest.Raw(""), modeltest.Raw(""), modeltest.Raw("")), 3, "no answer: it is no JSON"},
		"null":                         {steps(modeltest.Raw("null"), modeltest.Raw("[]"), say(good)), 3, ""},
		"another document":             {steps(modeltest.Raw(`{"choices": [], "type": "ping"}`), say(good)), 2, ""},
		"huge":                         {steps(modeltest.Flood(20), say(good)), 1, "more than 8388608 bytes"},
		"truncated JSON":               {steps(say(`{"city": "Se`), say(good)), 2, ""},
		"cut off by max_tokens":        {steps(modeltest.Answers(cutOff), say(good)), 2, ""},
		"prose around it":              {steps(say("Sure! Here it is:\n```json\n" + good + "\n```\nAnything else {for you}?")), 1, ""},
		"a byte order mark":            {steps(say("\uFEFF\u200B " + good + "\u2060")), 1, ""},
		"two values":                   {steps(say(good+good), say(good)), 2, ""},
		"an array":                     {steps(say("["+good+"]"), say(good)), 2, ""},
		"a key twice":                  {steps(say(`{"city": "Paris", "city": "Seoul"}`), say(good)), 2, ""},
		"wrong type":                   {steps(say(`{"city": 5}`), say(good)), 2, ""},
		"unknown key":                  {steps(say(`{"city": "Seoul", "tool": "shell"}`), say(good)), 2, ""},
		"look-alike letters":           {steps(say(`{"сity": "Seoul"}`), say(good)), 2, ""},
		"never as asked":               {steps(say("no"), say(`{"town": 1}`), say(`{"city": 1}`), say(good)), 3, `never answered as it was asked; the last time: "city"`},
		"deeply nested":                {steps(say(deep), say(deep+"x"), say(good)), 3, ""},
		"a refusal":                    {steps(modeltest.Gives(modeltest.Reply{Refusal: "I will not."}), say(good)), 1, "would not answer: I will not."},
		"a refusal in words":           {steps(say("I’m sorry, but I can't help with that."), say(good)), 1, "would not answer: I’m sorry"},
		"an empty answer":              {steps(say(""), say(good)), 2, ""},
		"limits and wrong answers mix": {steps(limited(0), say("no"), say(good)), 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, provider string) {
				s := modeltest.New(t, c.script...)
				a, err := newBench(provider, s.URL).ask(t, city())
				if n := s.Calls(); n != c.calls {
					t.Errorf("%d calls, not %d", n, c.calls)
				}
				switch {
				case c.fails == "" && (err != nil || string(a.JSON) != good):
					t.Errorf("%s, %v", a.JSON, err)
				case c.fails != "" && (!fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), c.fails) || fault.HintOf(err) == ""):
					t.Errorf("%v (%s)", err, fault.HintOf(err))
				}
			})
		})
	}
}

func cutOff(got modeltest.Received) modeltest.Reply {
	finish := "length"
	if got.Provider == anthropic.Provider {
		finish = "max_tokens"
	}
	return modeltest.Reply{Text: good, Finish: finish}
}

func TestPauses(t *testing.T) {
	s := modeltest.New(t, modeltest.Status(500, nil, ""), modeltest.Reset(), modeltest.Limited(7), modeltest.Status(503, nil, ""),
		modeltest.Status(429, map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:09 GMT"}, ""), modeltest.Status(429, nil, ""), modeltest.Says("done"))
	b := newBench(openai.Provider, s.URL).change(func(s *model.Settings) { s.Tries = 7 })
	b.change(func(s *model.Settings) { s.Timeout = time.Minute })
	a, err := b.ask(t, model.Ask("", "go"))
	want := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, 7 * time.Second, 2 * time.Second, 9 * time.Second, 4 * time.Second}
	if err != nil || a.Text != "done" || !slices.Equal(b.waits, want) {
		t.Error(a, err, b.waits)
	}
}

// What never comes to an end is ended by the request's own timeout, and by whoever stops it.
func TestNothingOutlastsItsTimeout(t *testing.T) {
	for name, step := range map[string]modeltest.Step{"hang": modeltest.Hang(), "drip": modeltest.Drip()} {
		both(t, func(t *testing.T, provider string) {
			s := modeltest.New(t, step)
			b := newBench(provider, s.URL).change(func(s *model.Settings) { s.Timeout = 100 * time.Millisecond })
			_, err := b.ask(t, city())
			if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "no answer within 100ms") || s.Calls() != 1 {
				t.Error(name, err, s.Calls())
			}
		})
	}
}

func TestStoppedByItsCaller(t *testing.T) {
	arrived := make(chan struct{})
	s := modeltest.New(t, func(w http.ResponseWriter, r *http.Request, got modeltest.Received) {
		close(arrived)
		modeltest.Hang()(w, r, got)
	})
	m, err := newBench(openai.Provider, s.URL).set.Named("", model.Errand{})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the plan was given up")
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		stop(why)
	}()
	if _, err := m.Generate(ctx, city()); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := m.Generate(ctx, city()); !errors.Is(err, why) || s.Calls() != 1 {
		t.Error(err, s.Calls())
	}
}

func TestBreaker(t *testing.T) {
	var script []modeltest.Step
	for range 4 {
		script = append(script, modeltest.Status(500, nil, ""))
	}
	script = append(script, modeltest.Status(400, nil, ""))
	for range 5 {
		script = append(script, modeltest.Status(500, nil, ""))
	}
	s := modeltest.New(t, append(script, modeltest.Says("well again"))...)
	b := newBench(openai.Provider, s.URL)
	ask := func() error {
		_, err := b.ask(t, model.Ask("", "go"))
		return err
	}
	for i, calls := range []int{3, 5, 8, 10, 10} { // 4xx is an answer: it begins the count anew
		if err := ask(); err == nil || s.Calls() != calls {
			t.Fatalf("request %d: %d calls, %v", i, s.Calls(), err)
		}
	}
	if err := ask(); !strings.Contains(err.Error(), "not asked again before 2026-03-01T12:01:00Z") {
		t.Error(err)
	}
	b.now = b.now.Add(time.Minute)
	if err := ask(); err != nil || s.Calls() != 11 {
		t.Error(err, s.Calls())
	}
}

// The reasons go back to the model, after its own words.
func TestWrongAnswersGoBackWithTheReasons(t *testing.T) {
	both(t, func(t *testing.T, provider string) {
		s := modeltest.New(t, modeltest.Says(`{"people": "many", "x": 1}`), modeltest.Says(good))
		if _, err := newBench(provider, s.URL).ask(t, city()); err != nil {
			t.Fatal(err)
		}
		turns := s.Requests()[1].Turns
		if len(turns) != 3 || turns[1].Role != "assistant" || turns[1].Text != `{"people": "many", "x": 1}` {
			t.Fatal(turns)
		}
		for _, reason := range []string{`"city" is missing`, `"people"`, `"x" is not among them`} {
			if !strings.Contains(turns[2].Text, reason) {
				t.Errorf("%s does not say %s", turns[2].Text, reason)
			}
		}
	})
}

func TestConnections(t *testing.T) {
	for url, says := range map[string]string{"http://127.0.0.1:1/v1": "nobody listens", "https://" + strings.TrimPrefix(modeltest.New(t).URL, "http://"): "no safe connection"} {
		if _, err := newBench(openai.Provider, url).ask(t, city()); err == nil || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Error(url, err)
		}
	}
}

// The machine's own clock waits as long as it is told, and no longer than its caller does.
func TestWaitsByTheMachinesClock(t *testing.T) {
	s := modeltest.New(t, modeltest.Limited(0), modeltest.Says("done"), modeltest.Limited(30))
	b := newBench(openai.Provider, s.URL)
	b.set.Clock = model.Clock{}
	if a, err := b.ask(t, model.Ask("", "go")); err != nil || a.Text != "done" {
		t.Error(a, err)
	}
	m, err := b.set.Named("", model.Errand{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	looks := 0
	b.set.Clock.Now = func() time.Time { // the third look after an answer is the last before the wait
		if s.Calls() == 3 {
			if looks++; looks == 3 {
				stop()
			}
		}
		return time.Now()
	}
	if _, err := m.Generate(ctx, model.Ask("", "go")); !errors.Is(err, context.Canceled) || s.Calls() != 3 {
		t.Error(err, s.Calls())
	}
}

func FuzzExtract(f *testing.F) {
	for _, text := range []string{good, "x {" + good, "```json\n" + good + "```", good + good, `{"a": {"a": 1, "a": 2}}`, "{\"a\": \"\u202e}\"}", `[{}]`, "{", "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := model.Extract(text)
		if err == nil && !json.Valid(raw) {
			t.Errorf("%q gave %q", text, raw)
		}
		if wrapped, werr := model.Extract("Here: " + text + "\nDone."); err == nil && strings.HasPrefix(string(raw), "{") && (werr != nil || string(wrapped) != string(raw)) {
			t.Errorf("%q in prose gave %q, %v", text, wrapped, werr)
		}
	})
}
