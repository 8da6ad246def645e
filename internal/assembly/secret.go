package assembly

import (
	"context"
	"sync"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/redact"
	"github.com/cairn-plan/cairn/internal/secret"
)

// secrets remembers which values were given out, so that a file that holds one is not kept.
type secrets struct {
	store *secret.Store

	mu    sync.Mutex
	given map[string]string
	red   *redact.Redactor
}

var _ engine.Secrets = (*secrets)(nil)

// Value implements engine.Secrets.
func (s *secrets) Value(ctx context.Context, name string) (string, error) {
	value, err := s.store.Value(ctx, name)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given[name] != value {
		if s.given == nil {
			s.given = map[string]string{}
		}
		s.given[name] = value
		s.red = redact.New(s.given)
	}
	return value, nil
}

// clean takes the values that were given out, and what looks like a secret, out of a text.
func (s *secrets) clean(text string) string {
	s.mu.Lock()
	if s.red == nil {
		s.red = redact.New(s.given)
	}
	red := s.red
	s.mu.Unlock()
	return red.String(text)
}

// holds names the secrets in content.
func (s *secrets) holds(content []byte) (names []string) {
	s.mu.Lock()
	red := s.red
	s.mu.Unlock()
	if red == nil {
		return nil
	}
	for _, f := range red.Find(content) {
		if f.Secret != "" {
			names = append(names, f.Secret)
		}
	}
	return names
}
