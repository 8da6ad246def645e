package view

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// askedPhrase tells what is to be undone.
func askedPhrase(b *lifecycle.Asked) string {
	if b.To == "" {
		return because("asked to undo everything", b.Why)
	}
	return because("asked to undo what was done after "+plain(b.To), b.Why)
}

// undonePhrase tells how a task was undone, or that it could not be.
func undonePhrase(b *lifecycle.Undone) string {
	switch {
	case b.Error != "":
		return because("it could not be undone", b.Error)
	case len(b.How) == 0:
		return "it was undone: there was nothing to put back"
	}
	return "it was undone: " + strings.Join(plains(b.How), "; ")
}

// rollbackPhrase tells how far a rollback came.
func rollbackPhrase(d derived) string {
	undone := plural(d.Undone, "task") + " undone"
	if d.Failed == "" {
		return "the rollback is over, " + undone
	}
	return because("the rollback stopped at "+plain(d.Failed)+", "+undone+" and "+number(d.Left)+" left", d.Why)
}

// treePhrase tells what a task did to the files; empty when it did nothing to them.
func treePhrase(t *lifecycle.Tree) string {
	if t == nil || t.Files == 0 && len(t.Left) == 0 {
		return ""
	}
	if t.Files == 0 {
		return "left files that were not kept: " + few(plains(t.Left), 3)
	}
	s := "changed " + plural(t.Files, "file")
	if t.Merged {
		s += ", joined with what others did meanwhile"
	}
	if len(t.Left) > 0 {
		s += "; not kept: " + few(plains(t.Left), 3)
	}
	return s
}

// seeDiff is the command that shows what a task changed.
func seeDiff(plan, task string) string { return "see: cairn diff " + quote(plan) + " " + quote(task) }

// treeOf is what the last attempt of a task that changed files did to them.
func treeOf(records []journal.Record, task string) *lifecycle.Tree {
	for i := len(records) - 1; i >= 0; i-- {
		if r := records[i]; r.Task == task && r.Kind == lifecycle.TaskEnded {
			if f, err := lifecycle.FactOf(r); err == nil && f.Body.(*lifecycle.Ended).Tree != nil {
				return f.Body.(*lifecycle.Ended).Tree
			}
		}
	}
	return nil
}

// files tells what a task changed, and what of it was not kept.
func files(st *lifecycle.State, records []journal.Record, task string) [][]string {
	t := treeOf(records, task)
	if t == nil {
		return nil
	}
	var rows [][]string
	if t.Files > 0 {
		rows = append(rows, []string{"changed " + plural(t.Files, "file") + "; " + seeDiff(st.Name, task)})
	}
	for _, l := range t.Left {
		rows = append(rows, []string{"not kept: " + plain(l)})
	}
	return rows
}

// undo takes the records of going back: who asked is told with the first thing that came of it.
func (t *teller) undo(r journal.Record) {
	if t.asked.Seq > 0 {
		t.told(t.asked)
		t.asked = journal.Record{}
	}
	if r.Kind != lifecycle.TaskUndone {
		return
	}
	t.told(r)
	if f, err := lifecycle.FactOf(r); err == nil && f.Body.(*lifecycle.Undone).Error == "" {
		t.begun, t.undone = false, true
	}
}
