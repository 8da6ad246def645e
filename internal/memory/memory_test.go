package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/redact"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

var (
	noon    = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	project = memory.Place{Scope: memory.Project, Of: ".."}
)

// open makes a memory of a home of its own, at noon.
func open(t testing.TB) *memory.Memory {
	t.Helper()
	s, err := sqlite.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &memory.Memory{Store: s, Now: func() time.Time { return noon }, Project: ".."}
}

func set(t testing.TB, m *memory.Memory, key, value string, change ...func(*memory.Fact)) memory.Fact {
	t.Helper()
	f := memory.Fact{Key: key, Value: memory.Value(value), Place: project, Confidence: 1, Author: "person:ann"}
	for _, c := range change {
		c(&f)
	}
	got, err := m.Set(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestExpiry(t *testing.T) {
	m := open(t)
	now := noon
	m.Now = func() time.Time { return now }
	until, err := memory.After(now, "30d")
	if err != nil {
		t.Fatal(err)
	}
	set(t, m, "host", "the mirror", func(f *memory.Fact) { f.Expires = until })
	for _, tc := range []struct {
		at   time.Time
		want bool
	}{{noon, true}, {until.Add(-1), true}, {until, false}, {until.Add(time.Hour), false}} {
		now = tc.at
		_, err := m.Get(t.Context(), "host", m.Seen(""))
		hits, rerr := m.Recall(t.Context(), memory.Ask{Text: "mirror", In: m.Seen("")})
		if (err == nil) != tc.want || (len(hits) == 1) != tc.want || rerr != nil {
			t.Errorf("at %s: %v, %d hits, %v", tc.at, err, len(hits), rerr)
		}
	}
	if all, err := m.History(t.Context(), "host", project); err != nil || len(all) != 1 {
		t.Errorf("what expired is no longer in the history: %v %v", all, err)
	}
	for _, bad := range []string{"soon", "-1h", "0s"} {
		if _, err := memory.After(now, bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestNarrowestScopeAnswers(t *testing.T) {
	m := open(t)
	for _, p := range m.Seen("release") {
		set(t, m, "region", string(p.Scope), func(f *memory.Fact) { f.Place = p })
	}
	for plan, want := range map[string]string{"release": `"plan"`, "other": `"project"`, "": `"project"`} {
		if a, err := m.Get(t.Context(), "region", m.Seen(plan)); err != nil || string(a.Value) != want {
			t.Errorf("%q sees %s, %v", plan, a.Value, err)
		}
	}
	if _, err := m.Forget(t.Context(), memory.Fact{Key: "region", Place: project, Why: "gone"}); err != nil {
		t.Fatal(err)
	}
	if a, err := m.Get(t.Context(), "region", m.Seen("")); err != nil || a.Scope != memory.Global {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestRefusals(t *testing.T) {
	m := open(t)
	good := memory.Fact{Key: "k", Value: json.RawMessage(`1`), Place: project}
	for says, change := range map[string]func(*memory.Fact){
		"a fact needs a key":     func(f *memory.Fact) { f.Key = "" },
		"is no key":              func(f *memory.Fact) { f.Key = "two words" },
		"is no JSON":             func(f *memory.Fact) { f.Value = json.RawMessage(`{`) },
		"are remembered":         func(f *memory.Fact) { f.Value = memory.Value(strings.Repeat("long ", 20_000)) },
		"between 0 and 1":        func(f *memory.Fact) { f.Confidence = 1.1 },
		"which is over":          func(f *memory.Fact) { f.Expires = noon },
		"is no scope":            func(f *memory.Fact) { f.Scope = "world" },
		"a fact of a plan needs": func(f *memory.Fact) { f.Place = memory.Place{Scope: memory.Plan} },
	} {
		f := good
		change(&f)
		if _, err := m.Set(t.Context(), f); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", says, err, fault.HintOf(err))
		}
	}
	if _, err := m.Recall(t.Context(), memory.Ask{Text: "the of?"}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := m.Get(t.Context(), "a b", m.Seen("")); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := m.Forget(t.Context(), memory.Fact{Key: "k", Place: project, Why: " "}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := m.Forget(t.Context(), memory.Fact{Key: "k", Place: project, Why: "x"}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func TestNearestKeys(t *testing.T) {
	m := open(t)
	for _, key := range []string{"deploy.region", "deploy.window", "배포.순서", "billing"} {
		set(t, m, key, "x")
	}
	for key, want := range map[string]string{
		"deploy.regoin": "did you mean deploy.region or deploy.window?", "window": "did you mean deploy.window?",
		"순서": "did you mean 배포.순서?", "zebra": "cairn memory search",
	} {
		if _, err := m.Get(t.Context(), key, m.Seen("")); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: %v, %s", key, err, fault.HintOf(err))
		}
	}
	if _, err := m.History(t.Context(), "biling", project); !strings.Contains(fault.HintOf(err), "billing") {
		t.Error(err)
	}
}

func TestSecretsAreNotRemembered(t *testing.T) {
	m := open(t)
	m.Redact = func(context.Context) *redact.Redactor {
		return redact.New(map[string]string{"TOKEN": "correct-horse-battery"})
	}
	for _, change := range []func(*memory.Fact){
		func(f *memory.Fact) { f.Value = memory.Value("it is correct-horse-battery") },
		func(f *memory.Fact) { f.Key = "correct-horse-battery" },
		func(f *memory.Fact) { f.Source.Note = "correct-horse-battery" },
		func(f *memory.Fact) { f.Value = memory.Value("Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5") }, // base64
	} {
		f := memory.Fact{Key: "k", Value: memory.Value("v"), Place: project}
		change(&f)
		_, err := m.Set(t.Context(), f)
		if !fault.Is(err, fault.Denied) || strings.Contains(err.Error(), "horse") {
			t.Error(err)
		}
	}
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	if got := set(t, m, "remote", "use "+token+" there"); strings.Contains(string(got.Value), token) {
		t.Errorf("%s is remembered", got.Value)
	}
	if _, err := m.Set(t.Context(), memory.Fact{Key: token, Value: memory.Value("v"), Place: project}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}

// gone is where some tasks were run again, and others cannot be asked about.
type gone map[string]bool

func (g gone) Outdated(_ context.Context, s memory.Source) (string, error) {
	if s.Task == "broken" {
		return "", errors.New("the disk failed")
	}
	if g[s.Task] {
		return s.String() + " was run again", nil
	}
	return "", nil
}

func (gone) Locate(_ context.Context, text string) (memory.Source, error) {
	plan, task, _ := strings.Cut(text, "/")
	return memory.Source{Plan: plan, Task: task}, nil
}

func TestOutdatedSources(t *testing.T) {
	m := open(t)
	m.Sources = gone{"old": true}
	now := noon
	m.Now = func() time.Time { now = now.Add(time.Minute); return now }
	from := func(text string) func(*memory.Fact) {
		return func(f *memory.Fact) {
			var err error
			if f.Source, err = m.Source(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	set(t, m, "a", "the suite is large", from("p/old"))
	set(t, m, "b", "the suite is slow", from("p/new"))
	set(t, m, "c", "the suite is loud", from("said Ann, at lunch"))
	for stale, want := range map[bool]string{false: "cb", true: "cba"} {
		hits, err := m.Recall(t.Context(), memory.Ask{Text: "suite", In: m.Seen(""), Stale: stale})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range hits {
			got += h.Key
			if (h.Stale != "") != (h.Key == "a") {
				t.Errorf("%s is outdated: %q", h.Key, h.Stale)
			}
		}
		if got != want {
			t.Errorf("found %s, not %s", got, want)
		}
	}
	if a, err := m.Get(t.Context(), "a", m.Seen("")); err != nil || a.Stale != "p/old was run again" {
		t.Error(a, err)
	}
	set(t, m, "d", "the suite is broken", from("p/broken"))
	if _, err := m.Recall(t.Context(), memory.Ask{Text: "suite", In: m.Seen("")}); err == nil {
		t.Error("a source that cannot be asked about was passed over")
	}
}

func TestSourceText(t *testing.T) {
	for want, s := range map[string]memory.Source{
		"p/t/out": {Plan: "p", Task: "t", Artifact: "out"}, "p/t": {Plan: "p", Task: "t"}, "p#7": {Plan: "p", Record: 7}, "a book": {Note: "a book"}, "": {},
	} {
		if s.String() != want {
			t.Errorf("%q, not %q", s.String(), want)
		}
	}
}
