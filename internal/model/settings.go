package model

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Default is the name of the model that serves whoever has none of its own.
const Default = "default"

// Settings are one entry of the key models of cairn.yaml. What is left out has a default.
type Settings struct {
	Provider    string        // the name of a wire
	Model       string        // as the provider calls it
	URL         string        // of the server; empty: the provider's own
	Key         string        // the name of a secret; empty: the provider's usual one at its own server, else none
	MaxTokens   int           // of an answer
	Temperature *float64      // nil: the provider's
	Timeout     time.Duration // of a request with all of its tries
	Tries       int           // how often a server is asked at most
	Price       Price
}

// Price is what a million tokens cost. A zero price is unknown.
type Price struct {
	In       float64
	Out      float64
	Currency string
}

const (
	defaultMaxTokens = 2000
	defaultTimeout   = time.Minute
	defaultTries     = 3
	longestTimeout   = 10 * time.Minute
	mostTries        = 10
	mostTokens       = 1 << 20
)

func (s Settings) withDefaults() Settings {
	if s.MaxTokens == 0 {
		s.MaxTokens = defaultMaxTokens
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.Tries == 0 {
		s.Tries = defaultTries
	}
	if s.Price.Currency == "" {
		s.Price.Currency = "USD"
	}
	return s
}

// known reports whether it is known what the model costs.
func (p Price) known() bool { return p.In > 0 || p.Out > 0 }

// of is the price of tokens, in millionths of the currency, rounded up. A million times the price of a millionth is the
// price itself, so that nothing has to be scaled.
func (p Price) of(in, out int64) budget.Amount {
	a := budget.Amount{Tokens: in + out}
	if cost := math.Ceil(float64(in)*p.In + float64(out)*p.Out); p.known() && cost > 0 {
		a.Cost, a.Currency = int64(min(cost, 1<<53)), p.Currency
	}
	return a
}

// Config is the key models: settings by name.
type Config map[string]Settings

// Validate names every entry that cannot work.
func (c Config) Validate(providers []string) error {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		for _, f := range c[name].faults(providers) {
			faults = append(faults, "model "+name+": "+f)
		}
	}
	if faults == nil {
		return nil
	}
	return fault.New(fault.Invalid, "%s", strings.Join(faults, "\n")).
		Remedy("write under models: in cairn.yaml, for each NAME: {provider: %s, model: NAME, url: URL, key: ${secret:NAME}}", strings.Join(providers, " or "))
}

func (s Settings) faults(providers []string) (found []string) {
	note := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	near := ""
	if n := fault.Nearest(s.Provider, providers); n != "" {
		near = "; did you mean " + n + "?"
	}
	note(!slices.Contains(providers, s.Provider), "provider is %q, not one of %s%s", s.Provider, strings.Join(providers, ", "), near)
	note(strings.TrimSpace(s.Model) == "", "it has no model")
	u, err := url.Parse(s.URL)
	note(s.URL != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https"), "url is no address such as https://host/v1, without a password")
	note(s.MaxTokens < 0 || s.MaxTokens > mostTokens, "max_tokens is %d, not 1 to %d", s.MaxTokens, mostTokens)
	note(s.Temperature != nil && !(*s.Temperature >= 0 && *s.Temperature <= 2), "temperature is not 0 to 2")
	note(s.Timeout < 0 || s.Timeout > longestTimeout, "timeout is %s, not up to %s", s.Timeout, longestTimeout)
	note(s.Tries < 0 || s.Tries > mostTries, "tries is %d, not 1 to %d", s.Tries, mostTries)
	note(!(s.Price.In >= 0 && s.Price.Out >= 0) || math.IsInf(s.Price.In+s.Price.Out, 0), "a price is not 0 or above")
	return found
}
