package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/model/modeltest"
	"github.com/cairn-plan/cairn/internal/model/openai"
	"github.com/cairn-plan/cairn/internal/store/disk"
)

func recordings(t *testing.T) *model.Recordings {
	t.Helper()
	home := t.TempDir()
	store, err := disk.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	return &model.Recordings{Dir: filepath.Join(home, "prompts"), Artifacts: store}
}

func key(name string) digest.ID { return digest.Sum([]byte(name)) }

func (b *bench) as(t *testing.T, e model.Errand, r model.Request) (model.Answer, error) {
	t.Helper()
	m, err := b.set.Named("", e)
	if err != nil {
		t.Fatal(err)
	}
	return m.Generate(t.Context(), r)
}

// Under one effect key the same question is paid for once, each of the exchanges that it took; under another it is asked anew.
func TestPaidOnce(t *testing.T) {
	s := modeltest.New(t, modeltest.Says("no"), modeltest.Says(good), modeltest.Says(`{"city": "Busan"}`))
	b := newBench(openai.Provider, s.URL)
	b.set.Recordings = recordings(t)
	for range 3 { // each time after a crash
		host := &capabilitytest.Host{}
		again := newBench(openai.Provider, s.URL)
		again.set.Recordings, b = b.set.Recordings, again
		if a, err := b.as(t, model.Errand{Key: key("a"), Put: host.Put}, city()); err != nil || string(a.JSON) != good || s.Calls() != 2 {
			t.Fatal(a, err, s.Calls())
		}
		if page, ok := host.Content("prompt-2"); !ok || !strings.Contains(string(page), `"tries":1`) {
			t.Error(string(page))
		}
	}
	if a, err := b.as(t, model.Errand{Key: key("b")}, city()); err != nil || string(a.JSON) != `{"city": "Busan"}` || s.Calls() != 3 {
		t.Error(a, err, s.Calls())
	}
}

// A retry is no repetition: the answer that came to nothing is not given again. Nor is one that could not be used.
func TestRetriesAskAnew(t *testing.T) {
	s := modeltest.New(t, modeltest.Says("one"), modeltest.Says("two"), modeltest.Says("no"), modeltest.Says("no"), modeltest.Says("no"), modeltest.Says(good))
	b := newBench(openai.Provider, s.URL)
	b.set.Recordings = recordings(t)
	for attempt, want := range []string{1: "one", 2: "two"} {
		if attempt == 0 {
			continue
		}
		for range 2 {
			if a, err := b.as(t, model.Errand{Key: key("a"), Attempt: attempt}, model.Ask("", "hi")); err != nil || a.Text != want || s.Calls() != attempt {
				t.Error(attempt, a, err, s.Calls())
			}
		}
	}
	if _, err := b.as(t, model.Errand{Key: key("b"), Attempt: 1}, city()); err == nil || s.Calls() != 5 {
		t.Error(err, s.Calls())
	}
	later := newBench(openai.Provider, s.URL)
	later.set.Recordings = b.set.Recordings
	if a, err := later.as(t, model.Errand{Key: key("b"), Attempt: 2}, city()); err != nil || string(a.JSON) != good || s.Calls() != 6 {
		t.Error(a, err, s.Calls())
	}
}

// A recording whose content is gone is no recording; one that was changed is an error.
func TestDamagedRecordings(t *testing.T) {
	s := modeltest.New(t, modeltest.Many(3, modeltest.Says(good))...)
	b := newBench(openai.Provider, s.URL)
	r := recordings(t)
	b.set.Recordings = r
	ask := func() error {
		_, err := b.as(t, model.Errand{Key: key("a")}, city())
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	for blob, err := range r.Artifacts.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Artifacts.Remove(t.Context(), blob.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(); err != nil || s.Calls() != 2 {
		t.Error(err, s.Calls())
	}
	files, err := filepath.Glob(filepath.Join(r.Dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil || s.Calls() != 3 {
		t.Error(err, s.Calls())
	}
	blob, err := r.Artifacts.Put(t.Context(), strings.NewReader("[]"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte(blob.ID.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(); !fault.Is(err, fault.Tampered) {
		t.Error(err)
	}
}

func TestReplay(t *testing.T) {
	s := modeltest.New(t, modeltest.Says(good), modeltest.Says("A heap."))
	b := newBench(openai.Provider, s.URL)
	kept := recordings(t)
	b.set.Recordings = kept
	for _, r := range []model.Request{city(), model.Ask("be brief", "What is a cairn?\nSay it in Korean.")} {
		if _, err := b.as(t, model.Errand{Key: key("a")}, r); err != nil {
			t.Fatal(err)
		}
	}
	far := newBench(openai.Provider, "http://127.0.0.1:1/v1")
	far.set.Replay = kept
	if a, err := far.as(t, model.Errand{Key: key("another")}, city()); err != nil || string(a.JSON) != good {
		t.Error(a, err)
	}
	_, err := far.as(t, model.Errand{}, model.Ask("be brief", "What is a cairn?\nSay it in English."))
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "- user: Say it in Korean.\n+ user: Say it in English.") || strings.Contains(err.Error(), "What is a cairn") {
		t.Error(err)
	}
	far.set.Replay = recordings(t)
	if _, err := far.as(t, model.Errand{}, city()); !fault.Is(err, fault.NotFound) || strings.Contains(err.Error(), "nearest") {
		t.Error(err)
	}
	if s.Calls() != 2 {
		t.Error(s.Calls())
	}
}

// A long difference is cut short.
func TestReplayOfSomethingElse(t *testing.T) {
	s := modeltest.New(t, modeltest.Says("ok"))
	b := newBench(openai.Provider, s.URL)
	b.set.Recordings = recordings(t)
	long := func(word string) model.Request {
		r := model.Ask("", strings.Repeat(word+"\n", 60))
		r.Tools = []model.Tool{{Name: word + ".do"}}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "1", Name: word + ".do", With: json.RawMessage(`{}`)}}})
		return r
	}
	if _, err := b.as(t, model.Errand{Key: key("a")}, long("one")); err != nil {
		t.Fatal(err)
	}
	b.set.Replay = b.set.Recordings
	if _, err := b.as(t, model.Errand{}, long("two")); err == nil || !strings.Contains(err.Error(), "more lines") || strings.Count(err.Error(), "\n") > 25 {
		t.Error(err)
	}
}

// Neither a server nor a disk is told a secret; a model is told its name.
func TestSecretsStayHere(t *testing.T) {
	s := modeltest.New(t, modeltest.Says("it is hunter22 again"))
	b := newBench(openai.Provider, s.URL).change(func(s *model.Settings) { s.Key = "API" })
	b.set.Recordings = recordings(t)
	b.set.Clean = func(text string) string { return strings.ReplaceAll(text, "hunter22", "[secret PW]") }
	host := &capabilitytest.Host{}
	e := model.Errand{Key: key("a"), Put: host.Put, Secret: func(_ context.Context, name string) (string, error) { return "key of " + name, nil }}
	r := model.Ask("the password is hunter22", "say hunter22")
	r.Messages = append(r.Messages, model.Message{Role: model.ToolRole, For: "1", Text: "hunter22"})
	if _, err := b.as(t, e, r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if strings.Contains(string(got.Body), "hunter22") || got.Header.Get("Authorization") != "Bearer key of API" {
		t.Error(string(got.Body), got.Header)
	}
	page, _ := host.Content("prompt-1")
	if strings.Contains(string(page), "hunter22") || strings.Contains(string(page), "key of API") || !strings.Contains(string(page), "[secret PW]") {
		t.Error(string(page))
	}
	for blob := range b.set.Recordings.Artifacts.List(t.Context()) {
		in, err := b.set.Recordings.Artifacts.Open(t.Context(), blob.ID)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil || strings.Contains(string(body), "hunter22") {
			t.Error(string(body), err)
		}
	}
}

// A provider's usual key goes to its own server and to no other.
func TestKeys(t *testing.T) {
	s := modeltest.New(t, modeltest.Says("ok"))
	b := newBench(openai.Provider, s.URL)
	asked := ""
	find := func(_ context.Context, name string) (string, error) {
		asked = name
		return "", fault.New(fault.NotFound, "there is no secret %s", name).Remedy("set it")
	}
	if _, err := b.as(t, model.Errand{Secret: find}, model.Ask("", "hi")); err != nil || asked != "" || s.Requests()[0].Header.Get("Authorization") != "" {
		t.Error(err, asked)
	}
	b.change(func(s *model.Settings) { s.URL = "" })
	if _, err := b.as(t, model.Errand{Secret: find}, model.Ask("", "hi")); !fault.Is(err, fault.NotFound) || asked != "OPENAI_API_KEY" || fault.HintOf(err) != "set it" {
		t.Error(err, asked)
	}
	if _, err := b.as(t, model.Errand{}, model.Ask("", "hi")); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if keys := b.set.Keys(); len(keys) != 1 || keys[0] != "OPENAI_API_KEY" {
		t.Error(keys)
	}
}

// Who may not reach a server, or pay it, does not ask it.
func TestErrandsAreHeldToTheirLimits(t *testing.T) {
	s := modeltest.New(t)
	b := newBench(openai.Provider, s.URL)
	call := capability.Call{Host: &capabilitytest.Host{}, Limits: capability.Limits{Hosts: []string{"example.com"}}}
	if _, err := b.as(t, model.ErrandOf(call, "x"), city()); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	call = capability.Call{May: func(host string) error { return fault.New(fault.Denied, "data may not reach %s", host) }}
	if _, err := b.as(t, model.ErrandOf(call, "x"), city()); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
	refuse := func(context.Context, budget.Amount) (func(budget.Amount), error) {
		return nil, fault.New(fault.Denied, "too dear")
	}
	if _, err := b.as(t, model.Errand{Reserve: refuse, Allow: func(*url.URL) error { return nil }}, city()); !fault.Is(err, fault.Denied) || s.Calls() != 0 {
		t.Error(err, s.Calls())
	}
}

// What a server said no to costs nothing; what it may have worked on stays charged.
func TestWhatFailuresCost(t *testing.T) {
	for name, c := range map[string]struct {
		step    modeltest.Step
		settled bool
	}{"refused": {modeltest.Status(400, nil, ""), true}, "broken off": {modeltest.Cut(modeltest.Reply{}), false}, "hangs": {modeltest.Hang(), false}} {
		s := modeltest.New(t, c.step)
		b := newBench(openai.Provider, s.URL).change(func(s *model.Settings) { s.Tries, s.Timeout = 1, 200*time.Millisecond })
		settled := false
		reserve := func(context.Context, budget.Amount) (func(budget.Amount), error) {
			return func(spent budget.Amount) { settled = spent.IsZero() }, nil
		}
		if _, err := b.as(t, model.Errand{Reserve: reserve}, city()); err == nil || settled != c.settled {
			t.Error(name, err, settled)
		}
	}
}

func TestFailuresAreLogged(t *testing.T) {
	s := modeltest.New(t, modeltest.Status(400, nil, "no \x1b[2J such\u202e thing"))
	host := &capabilitytest.Host{}
	b := newBench(openai.Provider, s.URL)
	b.set.Recordings = recordings(t)
	if _, err := b.as(t, model.Errand{Key: key("a"), Put: host.Put}, city()); err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("%q", err)
	}
	page, _ := host.Content("prompt-1")
	var e model.Entry
	if err := json.Unmarshal(page, &e); err != nil || !strings.Contains(e.Error, "no [2J such thing") || e.Output != nil || e.Cost != 0 {
		t.Error(string(page), err)
	}
}
