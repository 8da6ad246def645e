// Package memory keeps what plans and people have learnt, as facts, and finds the ones that matter for a question.
//
// A fact is a value under a key, within a scope, with where it came from, how sure its author was, and until when it holds.
// Facts are never changed: a newer one of the same key and scope stands in front of it, and forgetting puts a tombstone there
// that says why. So at any moment a key has at most one current fact in a scope, and its whole history behind that.
//
// The store behind the port owns the facts and decides which of two writers came last. A Memory owns nothing: it judges what
// may be written (secrets never), what still holds (expiry, and whether the source still stands), and in which order facts are
// worth reading, and says why. The clock is handed in. A write that fails has written nothing; a read that cannot find out
// whether a source still stands fails, for an outdated fact is worse than none.
package memory

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Scope says for whom a fact holds.
type Scope string

// The scopes, from the narrowest. The narrowest that has a key answers for it.
const (
	Plan    Scope = "plan"    // one plan
	Project Scope = "project" // all plans of a project
	Global  Scope = "global"  // whoever uses the home
)

// Scopes lists them.
var Scopes = []Scope{Plan, Project, Global}

// Place is a scope with the plan or the project that it means.
type Place struct {
	Scope Scope  `json:"scope"`
	Of    string `json:"of,omitempty"` // name of the plan, path of the project from the home; empty: global
}

// Where says in words for whom a fact holds.
func (p Place) Where() string {
	if p.Scope == Plan {
		return "plan " + p.Of
	}
	return string(p.Scope)
}

// Fact is one entry of memory. It never changes.
type Fact struct {
	ID    int64           `json:"id"` // in the order of writing
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
	Place
	Source     Source    `json:"source,omitzero"`
	Confidence float64   `json:"confidence"` // 0 to 1
	Expires    time.Time `json:"expires,omitzero"`
	Time       time.Time `json:"time"`
	Author     string    `json:"author,omitempty"`
	Supersedes int64     `json:"supersedes,omitempty"` // the fact that was current before
	Forgotten  bool      `json:"forgotten,omitempty"`  // a tombstone: it has no value
	Why        string    `json:"why,omitempty"`        // it was forgotten
	// Effect names the call that wrote it: written again under the same name, it is there already.
	Effect string `json:"effect,omitempty"`
}

// Source is where a fact comes from: a record, a task, an artifact, or a note in words.
type Source struct {
	Plan      string    `json:"plan,omitempty"`
	Task      string    `json:"task,omitempty"`
	Execution int       `json:"execution,omitempty"` // of the task
	Record    int64     `json:"record,omitempty"`    // number in the plan's journal
	Artifact  string    `json:"artifact,omitempty"`  // name among the task's
	Hash      digest.ID `json:"hash,omitzero"`       // of the artifact
	Note      string    `json:"note,omitempty"`      // an address, a person, a book
}

// String writes a source as it is typed: plan/task/artifact, plan/task, plan#record, or the note.
func (s Source) String() string {
	parts := make([]string, 0, 3)
	for _, p := range []string{s.Plan, s.Task, s.Artifact} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	text := strings.Join(parts, "/")
	if s.Record > 0 {
		text += "#" + itoa(s.Record)
	}
	if text == "" {
		return s.Note
	}
	return text
}

// Limits of what a fact may be. Memory is for what is worth finding again, not for content: that is an artifact's.
const (
	maxKey   = 200
	maxValue = 64 << 10
)

// CheckKey refuses what could not be typed, shown or found again.
func CheckKey(key string) error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	switch {
	case key == "":
		return fault.New(fault.Invalid, "a fact needs a key").Remedy("name it by what it is about, such as deploy.region")
	case len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, bad):
		return fault.New(fault.Invalid, "%.40q is no key", key).Remedy("a key has up to %d bytes and no spaces, such as deploy.region", maxKey)
	}
	return nil
}

// check reports what is wrong with a fact that somebody wants to write.
func (f Fact) check(now time.Time) error {
	if err := CheckKey(f.Key); err != nil {
		return err
	}
	switch {
	case !f.Forgotten && !json.Valid(f.Value):
		return fault.New(fault.Invalid, "the value of %s is no JSON", f.Key).Remedy("quote text: \"like this\"")
	case len(f.Value) > maxValue:
		return fault.New(fault.Invalid, "the value of %s has %d bytes, at most %d are remembered", f.Key, len(f.Value), maxValue).
			Remedy("store it as an artifact, and remember where it is")
	case f.Confidence < 0 || f.Confidence > 1:
		return fault.New(fault.Invalid, "the confidence in %s is %v, which is not between 0 and 1", f.Key, f.Confidence).Remedy("use a number such as 0.8")
	case !f.Expires.IsZero() && !f.Expires.After(now):
		return fault.New(fault.Invalid, "%s would expire at %s, which is over", f.Key, f.Expires.UTC().Format(time.RFC3339)).Remedy("name a time to come, or none")
	}
	return f.Place.check()
}

func (p Place) check() error {
	switch {
	case p.Scope != Plan && p.Scope != Project && p.Scope != Global:
		return fault.New(fault.Invalid, "%q is no scope", p.Scope).Remedy("the scopes are: plan, project, global")
	case p.Scope == Plan && p.Of == "":
		return fault.New(fault.Invalid, "a fact of a plan needs the plan").Remedy("name it with --plan, or choose --scope project")
	}
	return nil
}
