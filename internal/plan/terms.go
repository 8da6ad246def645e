package plan

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// TermsHash names a task without its prose: all that the engine acts on. Title, description, owner, labels, what was
// claimed of its status, assumptions, risks, rationale, evidence, metrics and keys under x- are for people and left
// out, and so is what a subplan holds, since each of those tasks has its own.
func TermsHash(t *Task) digest.ID {
	bare := *t
	bare.Title, bare.Description, bare.Owner, bare.Labels, bare.Status = "", "", "", nil, ""
	bare.Assumptions, bare.Risks, bare.Rationale, bare.Evidence, bare.Metrics, bare.Extra = nil, nil, "", nil, nil, nil
	bare.Estimate = 0
	if bare.Subplan != nil {
		bare.Subplan = &Subplan{}
	}
	bare.Outputs = slices.Clone(bare.Outputs)
	for i := range bare.Outputs {
		bare.Outputs[i].Description, bare.Outputs[i].Extra = "", nil
	}
	w := &writer{}
	n := w.record(reflect.ValueOf(&bare).Elem())
	b, err := source.Canonical(nil, n)
	if w.err != nil || err != nil {
		return digest.ID{} // a plan that was read can be written
	}
	return digest.Sum(b)
}

// WorkHash names what a task does and what counts as having done it: its kind, capability, command, inputs, environment,
// directory, conditions, criteria and outputs. Beside prose it leaves out the terms under which the work is carried
// out: order (needs, priority, locks), bounds (budget, timeout, heartbeat, deadline, retry), what follows a failure
// (failure, next, rollback) and how grave it is. Work that was done stays done when only those change.
func WorkHash(t *Task) digest.ID {
	bare := *t
	bare.Needs, bare.Priority, bare.Locks = nil, nil, nil
	bare.Budget, bare.Timeout, bare.Heartbeat, bare.Deadline, bare.Retry = nil, 0, 0, "", nil
	bare.Failure, bare.Next, bare.Rollback, bare.Criticality = nil, nil, nil, ""
	return TermsHash(&bare)
}

// SameWork reports whether two tasks do the same.
func SameWork(a, b *Task) bool { return reflect.DeepEqual(a, b) || WorkHash(a) == WorkHash(b) }

// SameTerms reports whether two tasks do the same under the same terms.
func SameTerms(a, b *Task) bool { return reflect.DeepEqual(a, b) || TermsHash(a) == TermsHash(b) }

// ReadsInput reports whether a task may read one of the named inputs of the plan. It goes by the word alone, so that it
// errs on the side of reading.
func (t *Task) ReadsInput(names []string) bool {
	if len(names) == 0 {
		return false
	}
	text := []string{string(t.With), t.Run, t.Each, t.Dir, t.When, strings.Join(t.Pre, "\n")}
	for _, v := range t.Env {
		text = append(text, v)
	}
	for _, c := range append(slices.Clone(t.Expect), t.Checks...) {
		text = append(text, c.Says)
	}
	for _, o := range t.Outputs {
		text = append(text, o.From)
	}
	return slices.ContainsFunc(text, func(s string) bool { return mentionsInput(s, names) })
}

// mentionsInput looks at every `inputs` in a text: one that is followed by a name reads that one, any other may read all.
func mentionsInput(s string, names []string) bool {
	for {
		_, rest, ok := strings.Cut(s, "inputs")
		if !ok {
			return false
		}
		s = rest
		if !strings.HasPrefix(rest, ".") {
			return true
		}
		word := rest[1:]
		if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }); end >= 0 {
			word = word[:end]
		}
		for _, name := range names {
			if word == name || strings.HasPrefix(word, name+"-") || strings.HasPrefix(name, word+"-") { // a minus may end a name
				return true
			}
		}
	}
}

// ChangedInputs names the inputs that are not the same in two revisions, in order.
func ChangedInputs(a, b *Plan) []string {
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	_ = json.Unmarshal(a.Inputs, &was) // a plan that was read has an object there, or nothing
	_ = json.Unmarshal(b.Inputs, &is)
	names := map[string]bool{}
	for k, v := range was {
		if string(is[k]) != string(v) {
			names[k] = true
		}
	}
	for k, v := range is {
		if string(was[k]) != string(v) {
			names[k] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
