// Package secret finds the values behind ${secret:NAME}. A plan names a secret; the value comes from the
// environment, a file or a command, is read when it is first needed, once, and is kept in memory only.
//
// A name is known if the settings declare it, or if CAIRN_SECRET_NAME is in the environment, which
// stands above the settings. Nothing else of the environment is a secret that a plan could ask for.
//
// A Store owns the values that it has read; whoever gets one must pass what it prints through a Redactor
// made of Known. An error never holds a value, nor what a command wrote: it names the secret, its source
// and what to do. A failed reading is not kept, so that the next one may succeed.
package secret

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
)

// Prefix is what a variable of the environment begins with that is a secret without being declared.
const Prefix = "CAIRN_SECRET_"

// Options are what a Store needs to know about where it works. The zero value is this process.
type Options struct {
	Dir     string      // what paths are relative to, and where commands run
	Environ []string    // NAME=value; nil for that of this process
	Warn    func(error) // told what is unwise, such as a file that others can read
}

// Store gives values of secrets by name. It is safe for concurrent use.
type Store struct {
	sources map[string]Source
	opts    Options
	env     map[string]string

	mu     sync.Mutex
	values map[string]string
	busy   map[string]chan struct{} // closed when a reading ends
}

// Open makes a Store of the declared sources. It reads no value. All that is wrong is told at once.
func Open(c Config, o Options) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	s := &Store{sources: maps.Clone(c), opts: o, env: map[string]string{}, values: map[string]string{}, busy: map[string]chan struct{}{}}
	if s.sources == nil {
		s.sources = map[string]Source{}
	}
	for _, e := range o.Environ {
		name, value, ok := strings.Cut(e, "=")
		if !ok {
			continue
		}
		s.env[name] = value
		short, ours := strings.CutPrefix(name, Prefix)
		// An empty variable is as good as none where there is another source.
		if _, declared := c[short]; ours && isName(short) && (value != "" || !declared) {
			s.sources[short] = Source{Env: name}
		}
	}
	return s, nil
}

// Names lists the secrets that can be asked for, sorted.
func (s *Store) Names() []string { return slices.Sorted(maps.Keys(s.sources)) }

// Value reads the secret called name. Callers that ask at the same time share one reading.
func (s *Store) Value(ctx context.Context, name string) (string, error) {
	source, ok := s.sources[name]
	if !ok {
		return "", s.unknown(name)
	}
	for {
		s.mu.Lock()
		if v, ok := s.values[name]; ok {
			s.mu.Unlock()
			return v, nil
		}
		wait, reading := s.busy[name]
		if !reading {
			s.busy[name] = make(chan struct{})
		}
		s.mu.Unlock()
		if !reading {
			return s.read(ctx, name, source)
		}
		select {
		case <-wait: // if it failed, it is our turn
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// read takes a value from its source and keeps it.
func (s *Store) read(ctx context.Context, name string, source Source) (v string, err error) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.values[name] = v
		}
		close(s.busy[name])
		delete(s.busy, name)
	}()
	switch {
	case source.File != "":
		v, err = s.fromFile(name, source.File)
	case source.Command != nil:
		v, err = s.fromCommand(ctx, name, source)
	default:
		v, err = s.fromEnv(name, source.Env)
	}
	if err != nil {
		return "", err
	}
	if err := redact.Check(name, v); err != nil {
		return "", fault.Wrap(fault.Invalid, err, "%s", source.describe()).Remedy("%s", fault.HintOf(err))
	}
	return v, nil
}

// Known is what has been read so far, by name: what a Redactor has to hide.
func (s *Store) Known() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}

// String names the secrets. A Store that is printed by mistake tells no value.
func (s *Store) String() string { return "secrets " + strings.Join(s.Names(), ", ") }

// GoString is String, for %#v.
func (s *Store) GoString() string { return s.String() }

func (s *Store) unknown(name string) error {
	f := fault.New(fault.NotFound, "there is no secret %s", name)
	names := s.Names()
	if near := fault.Nearest(name, names); near != "" {
		return f.Remedy("did you mean %s?", near)
	}
	if !isName(name) {
		return f.Remedy("a name has letters, digits and _, and does not begin with a digit")
	}
	how := "set " + Prefix + name + " in the environment, or declare it in cairn.yaml: secrets: {" + name + ": {file: PATH}}"
	if len(names) > 0 {
		how += "; there are: " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return f.Remedy("%s", how)
}

func (s *Store) fromEnv(name, variable string) (string, error) {
	v, ok := s.env[variable]
	if !ok {
		return "", fault.New(fault.NotFound, "secret %s comes from the variable %s, which is not set", name, variable).
			Remedy("set %s, or %s%s, in the environment of cairn", variable, Prefix, name)
	}
	return v, nil
}
