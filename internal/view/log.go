package view

import (
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/journal"
)

// LogLine tells one record on one line: number, time, actor, kind, task and the gist of its body.
func LogLine(r journal.Record) string {
	gist := phrase(r)
	if tree := treePhrase(treeOf([]journal.Record{r}, r.Task)); tree != "" {
		gist += "; " + tree
	}
	if r.Task != "" {
		gist = plain(r.Task) + ": " + gist
	}
	line := fmt.Sprintf("%5d  %s  %s  %s  %s", r.Seq, Date(r.Time), pad(cut(who(r.Actor), 12), 8), pad(plain(string(r.Kind)), 16), gist)
	return strings.TrimRight(line, " ")
}
