package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/redact"
)

// Memory is facts as a caller may use them. Redact, Sources and Embed are optional.
type Memory struct {
	Store   Store
	Now     func() time.Time
	Project string                                 // which one: its path from the home
	Redact  func(context.Context) *redact.Redactor // hides the secrets that are known now
	Sources Sources
	Embed   Embedder
}

// Answer is a fact with what is known against it.
type Answer struct {
	Fact
	Stale string `json:"stale,omitempty"` // why it no longer holds
}

// Seen is what a plan can see: what is its own, its project's, and global, the narrowest first. Without a plan it is what
// everybody in the project can see.
func (m *Memory) Seen(plan string) []Place {
	all := []Place{{Project, m.Project}, {Scope: Global}}
	if plan != "" {
		return append([]Place{{Plan, plan}}, all...)
	}
	return all
}

// Place is the place of a scope, as seen from a plan. A fact belongs to the project unless it is said otherwise.
func (m *Memory) Place(scope, plan string) (Place, error) {
	p := Place{Scope: Scope(cmp.Or(scope, string(Project)))}
	switch p.Scope {
	case Plan:
		p.Of = plan
	case Project:
		p.Of = m.Project
	}
	return p, p.check()
}

// Source finds what a text names: plan/task/artifact, plan/task or plan#record. Anything else is a note.
func (m *Memory) Source(ctx context.Context, text string) (Source, error) {
	if m.Sources == nil || !sourceForm.MatchString(text) {
		return Source{Note: text}, nil
	}
	return m.Sources.Locate(ctx, text)
}

var sourceForm = regexp.MustCompile(`^[\w.-]+((/[\w.:-]+){1,2}|#[0-9]+)$`)

// Set writes a fact. What looks like a credential is taken out of it; a secret that is known is refused, for a fact without
// it would not be what its author meant.
func (m *Memory) Set(ctx context.Context, f Fact) (Fact, error) {
	f.Time = m.Now().UTC()
	if err := f.check(f.Time); err != nil {
		return Fact{}, err
	}
	if err := m.clean(ctx, &f); err != nil {
		return Fact{}, err
	}
	return m.Store.PutFact(ctx, f)
}

func (m *Memory) clean(ctx context.Context, f *Fact) error {
	red := redact.New(nil)
	if m.Redact != nil {
		red = m.Redact(ctx)
	}
	for _, text := range []string{f.Key, string(f.Value), f.Source.Note, f.Why} {
		for _, found := range red.Find([]byte(text)) {
			if found.Secret != "" {
				return fault.New(fault.Denied, "the fact %s holds the secret %s, and secrets are not remembered", red.String(f.Key), found.Secret).
					Remedy("remember the name of the secret instead: ${secret:%s}", found.Secret)
			}
		}
	}
	if red.String(f.Key) != f.Key {
		return fault.New(fault.Denied, "the key of the fact looks like a credential").Remedy("name the fact by what it is about")
	}
	f.Value, f.Source.Note, f.Why = red.JSON(f.Value), red.String(f.Source.Note), red.String(f.Why)
	return nil
}

// Get finds the current fact of a key in the narrowest of the places that has one. One that has expired is as good as none;
// one whose source is outdated comes with the reason.
func (m *Memory) Get(ctx context.Context, key string, in []Place) (Answer, error) {
	if err := CheckKey(key); err != nil {
		return Answer{}, err
	}
	for _, p := range in {
		all, err := m.Store.Facts(ctx, key, p)
		if err != nil {
			return Answer{}, err
		}
		if len(all) == 0 || all[0].Forgotten || all[0].expired(m.Now()) {
			continue
		}
		a := Answer{Fact: all[0]}
		a.Stale, err = m.outdated(ctx, a.Source)
		return a, err
	}
	return Answer{}, m.unknown(ctx, key, in)
}

// History lists all that a key ever held in a place, newest first.
func (m *Memory) History(ctx context.Context, key string, p Place) ([]Fact, error) {
	all, err := m.Store.Facts(ctx, key, p)
	if err == nil && len(all) == 0 {
		err = m.unknown(ctx, key, []Place{p})
	}
	return all, err
}

// Forget puts a tombstone in front of a fact. What was known stays in the history.
func (m *Memory) Forget(ctx context.Context, f Fact) (Fact, error) {
	if strings.TrimSpace(f.Why) == "" {
		return Fact{}, fault.New(fault.Invalid, "forgetting %s wants a reason", f.Key).Remedy("add --why TEXT; it is kept with the fact")
	}
	all, err := m.Store.Facts(ctx, f.Key, f.Place)
	if err != nil {
		return Fact{}, err
	}
	for _, done := range all {
		if f.Effect != "" && done.Effect == f.Effect {
			return done, nil
		}
	}
	if len(all) == 0 || all[0].Forgotten {
		return Fact{}, m.unknown(ctx, f.Key, []Place{f.Place})
	}
	f.Forgotten, f.Value, f.Expires = true, nil, time.Time{}
	return m.Set(ctx, f)
}

func (f Fact) expired(now time.Time) bool { return !f.Expires.IsZero() && !now.Before(f.Expires) }

func (m *Memory) outdated(ctx context.Context, s Source) (string, error) {
	if m.Sources == nil || s.Plan == "" {
		return "", nil
	}
	return m.Sources.Outdated(ctx, s)
}

// unknown says that there is no such fact, and which keys are near: a slip of the hand, or the same words in another order.
func (m *Memory) unknown(ctx context.Context, key string, in []Place) error {
	keys, err := m.Store.FactKeys(ctx, in)
	if err != nil {
		return err
	}
	e := fault.New(fault.NotFound, "nothing is remembered as %s", key)
	if near := nearKeys(key, keys); len(near) > 0 {
		return e.Remedy("did you mean %s?", strings.Join(near, " or "))
	}
	return e.Remedy("look for it with: cairn memory search TEXT")
}

// maxNear is how many keys are worth reading in a remedy.
const maxNear = 3

func nearKeys(key string, keys []string) []string {
	var near []string
	if k := fault.Nearest(key, keys); k != "" {
		near = append(near, k)
	}
	words, pairs := Terms(key)
	for _, k := range keys {
		if len(near) == maxNear {
			break
		}
		w, p := Terms(k)
		shared := func(t string) bool { return slices.Contains(w, t) || slices.Contains(p, t) }
		if !slices.Contains(near, k) && slices.ContainsFunc(append(words, pairs...), shared) {
			near = append(near, k)
		}
	}
	return near
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// Value makes text a value: JSON as it stands, anything else a string.
func Value(text string) json.RawMessage {
	if t := strings.TrimSpace(text); json.Valid([]byte(t)) {
		return json.RawMessage(t)
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil // a string always marshals
	}
	return raw
}

// After is when something ends that lasts for a while; nothing said is no end.
func After(now time.Time, while string) (time.Time, error) {
	if while == "" {
		return time.Time{}, nil
	}
	d, err := plan.ParseDuration(while)
	if err != nil || d <= 0 {
		return time.Time{}, fault.New(fault.Invalid, "a fact cannot expire after %q", while).Remedy("write a duration such as 12h, 30d or 2w")
	}
	return now.Add(d.D()).UTC(), nil
}
