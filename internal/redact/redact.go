// Package redact keeps secrets out of whatever leaves a run: journal, artifacts, logs, prompts.
//
// It hides two things. Values it was told, in the encodings that programs put them in, become
// [secret NAME]. Text that has the shape of a credential, whoever it belongs to, becomes
// [redacted KIND]. One automaton looks for all values, and for the marks (ghp_, password, ://) that
// a shape begins with, so the time is linear in the text and hardly depends on how many secrets there are;
// a shape is examined only where its mark was found.
//
// Overlapping finds are hidden as one, under the name of the leftmost. What is hidden depends on the
// text alone, never on how it was cut into writes. Everything else passes unchanged. A Redactor is
// immutable and owned by nobody; a Writer belongs to its one caller.
//
// There is no failure: what cannot be hidden safely (a value that is too short) is refused by Check,
// before a Redactor is made. A shape is a guess. A value in an encoding not listed here (compressed,
// encrypted, spelt backwards) passes.
package redact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	// Shortest is the least length of a value in bytes: hiding a shorter one would tear holes in ordinary text.
	Shortest = 4
	// Longest is the greatest length of a value in bytes: it bounds the memory of a Redactor and of a Writer.
	Longest = 64 << 10
)

// Check says whether the value of a secret can be hidden. The error never holds the value.
func Check(name, value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return fault.New(fault.Invalid, "secret %s is empty", name).Remedy("give %s a value of at least %d characters", name, Shortest)
	case len(value) < Shortest:
		return fault.New(fault.Invalid, "secret %s is too short to be hidden: it would be found in ordinary text", name).
			Remedy("use a value of at least %d characters", Shortest)
	case len(value) > Longest:
		return fault.New(fault.Invalid, "secret %s has %d bytes, at most %d can be hidden", name, len(value), Longest).
			Remedy("keep what is large in a file, and make its path or its key the secret")
	}
	return nil
}

// Redactor hides secrets. It is safe for concurrent use.
type Redactor struct {
	auto   *automaton
	shapes []shape
	labels []label // in order of precedence: where two finds begin together, the lower one names them
	known  int     // how many labels are of values; the others are of shapes
}

// label is what a reader sees instead of a secret.
type label struct {
	Finding
	mask string
}

// Finding names what was hidden, never its value: either a secret or a kind of credential.
type Finding struct {
	Secret string `json:"secret,omitempty"`
	Kind   string `json:"kind,omitempty"`
}

// New makes a Redactor of the values of secrets by name. Values that Check refuses are not looked for.
func New(secrets map[string]string) *Redactor {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(secrets)), func(name string) bool {
		return Check(name, secrets[name]) != nil
	})
	// The longer value names a find better than one that it begins with.
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(secrets[b]), len(secrets[a])) })

	r := &Redactor{known: len(names)}
	t := newTrie()
	for i, name := range names {
		r.labels = append(r.labels, label{Finding{Secret: name}, "[secret " + name + "]"})
		for form := range forms(secrets[name]) {
			t.addValue(form, i)
		}
		for _, encoded := range base64Insides(secrets[name]) {
			r.shapes = append(r.shapes, wrapped(encoded, i)...)
		}
	}
	for _, s := range shapes {
		s.label = len(r.labels)
		r.shapes = append(r.shapes, s)
		r.labels = append(r.labels, label{Finding{Kind: s.kind}, "[redacted " + s.kind + "]"})
	}
	for i, s := range r.shapes {
		for _, mark := range s.marks {
			t.addMark(mark, i)
		}
	}
	r.auto = t.build()
	return r
}

// String hides the secrets in s.
func (r *Redactor) String(s string) string {
	if out, changed := r.whole([]byte(s)); changed {
		return string(out)
	}
	return s
}

// Bytes hides the secrets in b. It gives b itself when there are none, else a new slice.
func (r *Redactor) Bytes(b []byte) []byte {
	out, _ := r.whole(b)
	return out
}

func (r *Redactor) whole(b []byte) (out []byte, changed bool) {
	s := newStream(r, b)
	s.read(true)
	if s.hits == nil {
		return b, false
	}
	s.out = make([]byte, 0, len(b)+64)
	s.give(true)
	return s.out, true
}

// Find lists what would be hidden in b, secrets first, each once.
func (r *Redactor) Find(b []byte) []Finding { return r.findings(r.seen(b)) }

// seen tells by label what is in b, nil if nothing is.
func (r *Redactor) seen(b []byte) []bool {
	s := newStream(r, b)
	s.quiet = true
	s.read(true)
	return s.hits
}

func (r *Redactor) findings(hits []bool) (all []Finding) {
	for i, hit := range hits {
		if f := r.labels[i].Finding; hit && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}
