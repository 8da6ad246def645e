package view

import (
	"io"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Again is what running tasks again would take, by what they took the last time.
type Again struct {
	Took time.Duration
	Cost plan.Money
}

// ImpactText writes what a revision does to a run: what is kept, what runs again and why, what goes and what comes.
func ImpactText(w io.Writer, name string, m lifecycle.Impact, again Again) error {
	var b strings.Builder
	b.WriteString("revision " + number(m.Rev) + " of plan " + plain(name) + "\n")
	rows := [][]string{}
	row := func(word string, n int, what []string, most int) {
		if n > 0 {
			rows = append(rows, []string{"  " + word, number(n), few(what, most)})
		}
	}
	row("kept", len(m.Kept), plains(m.Kept), 8)
	row("run again", len(m.Again), reruns(m.Again), len(m.Again))
	row("changed", len(m.Changed), reruns(m.Changed), 8)
	row("added", len(m.Added), plains(m.Added), 8)
	row("dropped", len(m.Dropped), drops(m.Dropped), len(m.Dropped))
	if len(rows) == 0 {
		rows = append(rows, []string{"  nothing that was done is touched"})
	}
	b.WriteString(columns(rows))
	if len(m.Again) > 0 && again.Took > 0 {
		b.WriteString("what runs again took " + Duration(again.Took))
		if again.Cost.Micro > 0 {
			b.WriteString(" and " + again.Cost.String())
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func reruns(list []lifecycle.Rerun) []string {
	var out []string
	for _, r := range list {
		s := plain(r.Task) + " (" + plain(r.Why)
		if r.Held {
			s += "; it must not run twice, so a person is asked first"
		}
		out = append(out, s+")")
	}
	return out
}

func drops(list []lifecycle.Drop) []string {
	var out []string
	for _, d := range list {
		out = append(out, plain(d.Task)+" ("+string(d.Status)+")")
	}
	return out
}
