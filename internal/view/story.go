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
	t := &teller{kin: k, st: st, ends: map[string]journal.Record{}, left: map[string]*lifecycle.Ended{}}
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
	st     *lifecycle.State
	ends   map[string]journal.Record // how its kin came out last
	left   map[string]*lifecycle.Ended
	began  journal.Record // the plan, or the group around the task
	last   journal.Kind   // of the task's own records
	begun  bool           // in this execution
	over   bool           // a record has the last word
	asked  journal.Record // who asked to go back, until it is told
	undone bool           // and has not run since
	out    []Sentence
}

// say adds a sentence of ours.
func (t *teller) say(r journal.Record, text string) { t.name(r, "", text) }

// name adds a sentence that begins with a name, which keeps its case.
func (t *teller) name(r journal.Record, name, text string) {
	t.out = append(t.out, Sentence{Record: r.Seq, Time: r.Time, Actor: r.Actor, Text: sentence(name, text)})
}

// told adds what a record says, by whoever said it.
func (t *teller) told(r journal.Record) {
	name, text := saidBy(r)
	t.name(r, name, text)
}

// saidBy is what a record says, and the person who said it, if one did.
func saidBy(r journal.Record) (name, text string) {
	if r.Actor == lifecycle.Engine || !lifecycle.IsFact(r.Kind) {
		return "", phrase(r)
	}
	return who(r.Actor), verb(phrase(r))
}

// verb makes a phrase follow the name of who did it.
func verb(p string) string {
	for _, v := range []string{"judged", "approved", "rejected"} {
		if rest, ok := strings.CutPrefix(p, v); ok {
			return v + " it" + rest
		}
	}
	return p
}

// sentence ends with a full stop, unless a command does, which is copied to its end.
func sentence(name, text string) string {
	if name != "" {
		text = name + " " + text
	} else {
		r, n := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(r)) + text[n:]
	}
	if strings.HasSuffix(text, ".") || strings.Contains(text, ": cairn ") {
		return text
	}
	return text + "."
}

// hear takes the next record.
func (t *teller) hear(r journal.Record) {
	switch {
	case r.Kind == lifecycle.PlanSubmitted, r.Kind == lifecycle.PlanRevised:
		t.told(r)
	case r.Kind == lifecycle.PlanStarted, r.Kind == lifecycle.TaskStarted && r.Task == t.task.Parent && r.Task != "":
		t.began = r
	case r.Kind == lifecycle.RollbackAsked:
		t.asked = r
	case r.Kind == lifecycle.PlanCancelled && t.task.Status == lifecycle.Abandoned:
		t.name(r, who(r.Actor), phrase(r)+"; this task was not over")
	case r.Kind == lifecycle.PlanRetried && failing(t.ends[t.task.ID]):
		t.told(r)
	case r.Task == t.task.ID:
		t.own(r)
		t.last = r.Kind
	default:
		t.other(r)
	}
	if ending(r) && (t.near[r.Task] || r.Task == t.task.ID) {
		t.ends[r.Task] = r
		if f, err := lifecycle.FactOf(r); err == nil && r.Kind == lifecycle.TaskEnded {
			t.left[r.Task] = f.Body.(*lifecycle.Ended)
		}
	}
}

// other takes a record of another task, which may have led to this one.
func (t *teller) other(r journal.Record) {
	var d derived
	switch r.Kind { // few records are of these kinds, and reading a body costs more than all the rest
	case lifecycle.TaskRecovering, lifecycle.TaskSettled, lifecycle.TaskReopened:
		d, _ = derivedOf(r)
	}
	switch r.Kind {
	case lifecycle.TaskRecovering:
		if d.By == t.task.ID {
			t.begun = true // this is why it may start
			t.name(r, plain(r.Task), "failed as "+plain(d.Mode)+", and this task is the remedy for that, so it could start")
		}
	case lifecycle.TaskSettled:
		for _, id := range d.Routed {
			if to, ok := t.st.Resolve(r.Task, id); ok && to.ID == t.task.ID {
				t.begun = true
				t.name(r, plain(r.Task), because("failed, which leads here, so it could start", d.Why))
			}
		}
	case lifecycle.TaskReopened:
		if t.upstream[r.Task] && t.begun && d.Why == "" { // a revision tells each task by itself
			t.begun = false
			t.name(r, plain(d.By), "led back to "+plain(r.Task)+", so what follows from it ran again")
		}
	case lifecycle.TaskAssessed:
		f, err := lifecycle.FactOf(r)
		if a, ok := f.Body.(*lifecycle.Assessed); err == nil && ok && a.Count != nil && t.task.Item > 0 && r.Task == t.task.Parent {
			t.name(r, plain(r.Task), "has "+plural(*a.Count, "item")+", and this is number "+strconv.Itoa(t.task.Item))
		}
	}
}

// own takes a record of the task itself.
func (t *teller) own(r journal.Record) {
	switch r.Kind {
	case lifecycle.TaskUndoing, lifecycle.TaskUndone:
		t.undo(r)
		return
	case lifecycle.TaskReopened:
		t.begun = true
	case lifecycle.TaskStarted, lifecycle.TaskEnded, lifecycle.TaskWaiting, lifecycle.GateOpened, lifecycle.TaskAssessed, lifecycle.TaskSettled:
		t.begin()
	}
	if r.Kind == lifecycle.TaskStarted || r.Kind == lifecycle.TaskEnded && t.given == 0 {
		t.gave(r)
	}
	t.over, t.undone = t.over || ending(r), false
	d, _ := derivedOf(r)
	switch r.Kind {
	case lifecycle.TaskReopened:
		if d.Why != "" {
			t.say(r, reopenedPhrase(d)+": execution "+strconv.Itoa(d.Execution))
			break
		}
		t.name(r, plain(d.By), "led back here, so it ran again: execution "+strconv.Itoa(d.Execution))
	case lifecycle.TaskWaiting:
		t.say(r, t.waited(d))
	case lifecycle.TaskSettled:
		t.settled(r, d)
	case lifecycle.TaskAssessed:
		t.assessed(r)
	case lifecycle.TaskEnded:
		t.ended(r)
	case lifecycle.TaskRetried:
		t.say(r, "it was to be tried again at "+Time(d.At.In(r.Time.Location()))+", retry "+strconv.Itoa(d.Retry)+" of "+strconv.Itoa(t.task.Spec.Retry.Times))
	case lifecycle.TaskRecovering:
		t.name(r, plain(d.By), "ran first: it is the remedy for "+plain(d.Mode))
	default:
		t.told(r)
	}
}
