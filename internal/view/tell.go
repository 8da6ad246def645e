package view

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// ending reports whether a record tells how a task came out.
func ending(r journal.Record) bool {
	switch r.Kind {
	case lifecycle.TaskEnded, lifecycle.TaskSettled, lifecycle.TaskJudged, lifecycle.TaskCarried:
		return true
	}
	return false
}

// failing reports whether a record tells that a task failed for good.
func failing(r journal.Record) bool {
	d, _ := derivedOf(r)
	return r.Kind == lifecycle.TaskSettled && d.Status == lifecycle.FailedTask
}

// begin tells why the task could start, once an execution.
func (t *teller) begin() {
	if t.begun || t.task.Dormant {
		return
	}
	t.begun = true
	var parts []string
	at := t.began
	for _, id := range t.needs {
		end, ok := t.ends[id]
		if !ok {
			continue
		}
		if end.Seq > at.Seq {
			at = end
		}
		parts = append(parts, plain(id)+" "+t.outcome(id, end)+" (record "+strconv.FormatUint(uint64(end.Seq), 10)+")")
	}
	switch {
	case len(parts) > 0:
		t.name(at, few(parts, 6)+",", "so it could start")
	case t.task.Item > 0 || at.Seq == 0: // the list that it is an item of says so
	case at.Task != "":
		t.name(at, plain(at.Task), "began, and in it this task follows from no other, so it could start")
	default:
		t.say(at, "the plan began, and this task follows from no other, so it could start")
	}
}

// outcome tells in a word or two how another task ended.
func (t *teller) outcome(id string, r journal.Record) string {
	said := "was accepted"
	switch d, _ := derivedOf(r); {
	case r.Kind == lifecycle.TaskSettled && d.Status == lifecycle.Skipped:
		return "was skipped"
	case r.Kind == lifecycle.TaskSettled:
		return string(d.Status)
	}
	e := t.left[id]
	if e == nil {
		return said
	}
	if r.Kind == lifecycle.TaskEnded {
		said = e.Outcome
	}
	if names := few(leftNames(e), 3); names != "" {
		said += ", leaving " + names
	}
	return said
}

func leftNames(e *lifecycle.Ended) []string {
	var names []string
	for name := range e.Outputs {
		names = append(names, plain(name))
	}
	slices.Sort(names)
	for _, a := range e.Artifacts {
		names = append(names, plain(a.Name))
	}
	return names
}

// gave tells what the task was given: what it reads, from whom, and its value then. It is told once an execution.
func (t *teller) gave(r journal.Record) {
	d, _ := derivedOf(r)
	if t.given != 0 && t.given == d.Execution || d.Group {
		return
	}
	t.given = max(d.Execution, 1)
	spec := t.task.Spec
	var parts []string
	for _, ref := range expr.Refs(string(spec.With) + "\n" + spec.Run) {
		if p := t.read(ref); !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	if len(parts) > 0 {
		t.say(r, "it was given "+few(parts, 6))
	}
}

// read tells what a reference brought.
func (t *teller) read(ref expr.Ref) string {
	name := plain(strings.Join(ref.Path, "."))
	switch ref.Root {
	case expr.Item:
		return "its item"
	case expr.Index:
		return "its number"
	case expr.Secret:
		return "the secret " + name
	case expr.Inputs:
		return "the plan's input " + name + value(t.st.Plan.Inputs, ref.Path)
	}
	from, ok := t.st.Resolve(t.task.ID, ref.Root)
	if !ok {
		return name + " of " + plain(ref.Root)
	}
	said := name + " of " + plain(from.ID)
	e := t.left[from.ID]
	if e == nil {
		return said
	}
	for _, a := range e.Artifacts {
		if a.Name == ref.Path[0] {
			return said + " (" + Size(a.Size) + ")"
		}
	}
	return said + value(e.Outputs[ref.Path[0]], ref.Path[1:])
}

// value shows a value in brackets, if it is there.
func value(raw json.RawMessage, path []string) string {
	v, err := expr.Walk(raw, path)
	if err != nil || len(raw) == 0 {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return " (" + short(b, 40) + ")"
}

// assessed tells what was worked out before the task began. What ends it there is told by the record that follows.
func (t *teller) assessed(r journal.Record) {
	f, err := lifecycle.FactOf(r)
	if a, ok := f.Body.(*lifecycle.Assessed); err != nil || !ok || a.Failed || !a.Run {
		return
	}
	if t.task.Spec.When != "" && t.task.Item == 0 {
		t.say(r, "its condition held: "+plain(t.task.Spec.When))
	}
	if text := assessedPhrase(f.Body.(*lifecycle.Assessed)); text != nothingElse {
		t.say(r, text)
	}
}

// waited tells what the task had to wait for.
func (t *teller) waited(d derived) string {
	s := "it had to wait for " + asked(lifecycle.Task{Spec: t.task.Spec, Wait: d.For})
	if d.For == lifecycle.ForUnknown {
		return s // why is told by the record before
	}
	return because(s, d.Why)
}

// ended tells how an attempt ended, with the criteria that decided it.
func (t *teller) ended(r journal.Record) {
	t.told(r)
	f, err := lifecycle.FactOf(r)
	if err != nil {
		return
	}
	e := f.Body.(*lifecycle.Ended)
	if tree := treePhrase(e.Tree); tree != "" && e.Tree.Files > 0 {
		t.say(r, "it "+tree+"; "+seeDiff(t.st.Name, t.task.ID))
	} else if tree != "" {
		t.say(r, "it "+tree)
	}
	if last := lastLine(e.Stderr); e.Outcome != lifecycle.Succeeded && last != "" {
		t.say(r, "its last words were: "+cut(last, 200))
	}
	var met, open []string
	for _, v := range e.Criteria {
		switch {
		case v.OK:
			met = append(met, because(plain(v.Says), v.Why))
		case v.Judge:
			open = append(open, plain(v.Says))
		}
	}
	if len(met) > 0 {
		t.say(r, "it met what was expected: "+strings.Join(met, "; "))
	}
	if len(open) > 0 && e.Outcome == lifecycle.Succeeded {
		t.say(r, "somebody had to judge: "+strings.Join(open, "; "))
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return plain(s[strings.LastIndexByte(s, '\n')+1:])
}

// settled tells what became of the task, without what the record before has said.
func (t *teller) settled(r journal.Record, d derived) {
	said := t.last == lifecycle.TaskEnded || t.last == lifecycle.TaskJudged || t.last == lifecycle.GateDecided
	switch {
	case d.Status == lifecycle.Skipped && len(t.routers) > 0:
		t.say(r, "it was skipped: it runs only if "+oneOf(t.routers)+", which did not happen")
	case d.Status == lifecycle.Skipped:
		t.say(r, because("it was skipped", d.Why))
	case d.Status == lifecycle.FailedTask && len(d.Routed) > 0:
		t.say(r, "it failed, which leads to "+list(plains(d.Routed)))
	case d.Status == lifecycle.FailedTask && said:
		t.say(r, "it failed for good")
	case d.Status == lifecycle.FailedTask:
		t.say(r, because("it failed for good", d.Why))
	case said: // approved
	default:
		t.say(r, because("it "+string(d.Status), d.Why))
	}
}
