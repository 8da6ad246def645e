package model

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Set is the models that the settings name. It is safe for concurrent use once it is furnished.
type Set struct {
	Config     Config
	Wires      map[string]Wire // by provider
	Recordings *Recordings     // nil: nothing is kept
	Replay     *Recordings     // where answers come from instead of from servers; nil: from servers
	// Clean takes secrets out of what is sent and kept; nil: there are none.
	Clean func(text string) string
	// Secret finds keys for errands that bring none of their own.
	Secret func(ctx context.Context, name string) (string, error)
	Clock  Clock
	// Transport is the network; nil: the usual.
	Transport http.RoundTripper

	breakers  breakers
	delivered sync.Map // delivery: true
}

// Clock tells the time and waits; a test has its own. The zero Clock is the machine's.
type Clock struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

func (c Clock) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func (c Clock) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Providers lists the wires there are, sorted.
func (s *Set) Providers() []string { return slices.Sorted(maps.Keys(s.Wires)) }

// Names lists the models that the settings name, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.Config)) }

// URLs lists where the models are, sorted.
func (s *Set) URLs() (all []string) {
	for _, name := range s.Names() {
		all = append(all, s.base(s.Config[name]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// variables are the keys that may come from the environment under their own names.
var variables = []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PLANNER_OPENAI_API_KEY", "CAIRN_PLANNER_OPENAI_API_KEY"}

// Keys lists the secrets that the models need and that variables of the same name hold, unless the settings say otherwise.
func (s *Set) Keys() (names []string) {
	for _, settings := range s.Config {
		name := settings.Key
		if w, ok := s.Wires[settings.Provider]; ok && name == "" && settings.URL == "" {
			_, name = w.Usual()
		}
		if slices.Contains(variables, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Has reports whether there is a model for a stage.
func (s *Set) Has(stage string) bool {
	_, own := s.Config[stage]
	_, usual := s.Config[Default]
	return own || usual
}

// Named lends out the model of that name, and no other; an empty name is the default one.
func (s *Set) Named(name string, e Errand) (Model, error) {
	if name == "" {
		name = Default
	}
	settings, ok := s.Config[name]
	if !ok {
		return nil, s.missing(name)
	}
	wire, ok := s.Wires[settings.Provider]
	if !ok {
		return nil, Config{name: settings}.Validate(s.Providers())
	}
	return &client{set: s, name: name, settings: settings.withDefaults(), wire: wire, errand: e}, nil
}

// For lends out the model of a stage, which is the default one where the stage has none of its own.
func (s *Set) For(stage string, e Errand) (Model, error) {
	if _, ok := s.Config[stage]; !ok {
		stage = Default
	}
	return s.Named(stage, e)
}

const howTo = "name one in cairn.yaml: models: {default: {provider: openai, model: NAME}}, with its key in OPENAI_API_KEY; or one of your own: {provider: openai, model: NAME, url: http://localhost:8080/v1}"

func (s *Set) missing(name string) error {
	if len(s.Config) == 0 {
		return fault.New(fault.Invalid, "no model is configured").Remedy("%s", howTo)
	}
	f := fault.New(fault.Invalid, "there is no model %q", name)
	if near := fault.Nearest(name, s.Names()); near != "" {
		return f.Remedy("did you mean %s?", near)
	}
	return f.Remedy("the models of cairn.yaml are: %s", strings.Join(s.Names(), ", "))
}

// base is the address that paths are put behind.
func (s *Set) base(settings Settings) string {
	if settings.URL != "" {
		return strings.TrimRight(settings.URL, "/")
	}
	if w, ok := s.Wires[settings.Provider]; ok {
		usual, _ := w.Usual()
		return usual
	}
	return ""
}

// usualTransport keeps no connection between calls: they are far apart, and nothing is left open when the engine ends.
func usualTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
}
