package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Sentence is one step of a story, with the record that proves it.
type Sentence struct {
	Record journal.Seq `json:"record,omitempty"` // 0: it tells where things stand, which no single record says
	Time   time.Time   `json:"time,omitzero"`
	Actor  string      `json:"actor,omitempty"`
	Text   string      `json:"text"`
}

// Story tells how a task came to where it stands, oldest first: why it could start, what it was given, how each
// attempt went, and what it left; or why it has not run. It is nil when the plan has no such task.
func Story(records []journal.Record, st *lifecycle.State, task string) []Sentence {
	k, ok := kinOf(st, task)
	if !ok {
		return nil
	}
	t := &teller{kin: k, st: st, ends: map[string]journal.Record{}}
	for i := range records {
		t.hear(records[i])
	}
	t.conclude()
	return t.out
}

// StoryText writes a story, a sentence a line.
func StoryText(w io.Writer, story []Sentence) error {
	var b strings.Builder
	for _, s := range story {
		if s.Record == 0 {
			fmt.Fprintf(&b, "%5s  %19s  %s\n", "now", "", s.Text)
			continue
		}
		fmt.Fprintf(&b, "%5d  %s  %s\n", s.Record, Date(s.Time), s.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// teller listens to the records and keeps what concerns one task.
type teller struct {
	kin
	st    *lifecycle.State
	ends  map[string]journal.Record // how its kin ended last
	began journal.Record            // the plan, or the group around the task
	begun bool                      // in this execution
	over  bool                      // has a word on how it ended
	out   []Sentence
}

func (t *teller) say(r journal.Record, text string) {
	t.out = append(t.out, Sentence{Record: r.Seq, Time: r.Time, Actor: r.Actor, Text: sentence(text)})
}

// sentence begins with a capital, unless a name comes first, and ends with a full stop, unless a command does.
func sentence(s string) string {
	if word, _, _ := strings.Cut(s, " "); lead[word] {
		r, n := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	if s == "" || strings.ContainsRune(".!?", rune(s[len(s)-1])) || strings.Contains(s, ": cairn ") {
		return s // a command is copied to its end
	}
	return s + "."
}

// lead are the words that a sentence of ours may begin with; any other first word is a name.
var lead = map[string]bool{"attempt": true, "it": true, "its": true, "the": true, "a": true, "retry": true, "waits": true, "approved": true,
	"rejected": true, "judged": true, "stored": true, "dropped": true, "completed": true, "failed": true, "skipped": true, "holds:": true,
	"does": true, "somebody": true, "what": true, "cannot": true}

// hear takes the next record.
func (t *teller) hear(r journal.Record) {
	switch {
	case r.Kind == lifecycle.PlanSubmitted:
		t.say(r, who(r.Actor)+" "+phrase(r))
	case r.Kind == lifecycle.PlanStarted, r.Kind == lifecycle.TaskStarted && r.Task == t.task.Parent && r.Task != "":
		t.began = r
	case r.Kind == lifecycle.PlanCancelled:
		if t.task.Status == lifecycle.Abandoned {
			t.over = true
			t.say(r, who(r.Actor)+" "+phrase(r)+"; this task was not over")
		}
	case r.Kind == lifecycle.PlanRetried:
		if end, ok := t.ends[t.task.ID]; ok && failing(end) {
			t.begun = false
			t.say(r, who(r.Actor)+" "+phrase(r))
		}
	case r.Task == t.task.ID:
		t.own(r)
	default:
		t.other(r)
	}
	if ending(r) && (t.near[r.Task] || r.Task == t.task.ID) {
		t.ends[r.Task] = r
	}
}

// other takes a record of another task, which may have led to this one.
func (t *teller) other(r journal.Record) {
	d, _ := derivedOf(r)
	switch r.Kind {
	case lifecycle.TaskRecovering:
		if d.By == t.task.ID {
			t.begun = true // this is why it may start
			t.say(r, plain(r.Task)+" failed as "+plain(d.Mode)+", which this task mends, so it could start")
		}
	case lifecycle.TaskSettled:
		for _, id := range d.Routed {
			if to, ok := t.st.Resolve(r.Task, id); ok && to.ID == t.task.ID {
				t.begun = true
				t.say(r, because(plain(r.Task)+" failed, which leads here, so it could start", d.Why))
			}
		}
	case lifecycle.TaskReopened:
		if t.upstream[r.Task] && t.begun {
			t.begun = false
			t.say(r, plain(d.By)+" led back to "+plain(r.Task)+", so what follows from it runs again")
		}
	case lifecycle.TaskAssessed:
		if r.Task == t.task.Parent && t.task.Item > 0 {
			t.say(r, plain(r.Task)+": "+phrase(r)+", and this is number "+strconv.Itoa(t.task.Item))
		}
	}
}

// own takes a record of the task itself.
func (t *teller) own(r journal.Record) {
	switch r.Kind {
	case lifecycle.TaskReopened:
		t.begun = true
		t.say(r, phrase(r))
		return
	case lifecycle.TaskStarted, lifecycle.TaskEnded, lifecycle.TaskWaiting, lifecycle.GateOpened, lifecycle.TaskAssessed, lifecycle.TaskSettled:
		t.begin(r)
	}
	if r.Kind == lifecycle.TaskStarted || r.Kind == lifecycle.TaskEnded && t.given == 0 {
		t.gave(r)
	}
	t.over = t.over || ending(r)
	switch r.Kind {
	case lifecycle.TaskWaiting:
		t.say(r, "it "+phrase(r))
	case lifecycle.TaskSettled:
		t.settled(r)
	case lifecycle.TaskAssessed:
		t.say(r, t.assessed(r))
	case lifecycle.TaskEnded:
		t.ended(r)
	case lifecycle.TaskRetried:
		d, _ := derivedOf(r)
		t.say(r, "it is tried again at "+Time(d.At.In(r.Time.Location()))+", retry "+strconv.Itoa(d.Retry)+" of "+strconv.Itoa(t.task.Spec.Retry.Times))
	case lifecycle.TaskRecovering:
		d, _ := derivedOf(r)
		t.say(r, plain(d.By)+" runs first, to mend "+plain(d.Mode))
	default:
		t.say(r, told(r))
	}
}

// told is what a record says, with the person who said it.
func told(r journal.Record) string {
	if r.Actor == lifecycle.Engine || !lifecycle.IsFact(r.Kind) {
		return phrase(r)
	}
	return who(r.Actor) + " " + verb(phrase(r))
}

// verb makes a phrase follow the name of who did it.
func verb(p string) string {
	if rest, ok := strings.CutPrefix(p, "judged "); ok {
		return "judged it " + rest
	}
	for _, v := range []string{"approved", "rejected"} {
		if rest, ok := strings.CutPrefix(p, v); ok {
			return v + " it" + rest
		}
	}
	return p
}
