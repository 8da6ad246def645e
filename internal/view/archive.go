package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Handoff drafts what somebody who takes a plan over has to know: what it was for, what it came to, what it left and what
// is open.
func Handoff(st *lifecycle.State, records []journal.Record) string {
	var b strings.Builder
	heading(&b, "Hand-off", st)
	goalChapter(&b, st)
	fmt.Fprintf(&b, "\n## Where it stands\n\nThe plan is %s, at revision %d", st.State(), st.Rev)
	if len(records) > 0 {
		fmt.Fprintf(&b, ", last changed %s", Date(records[len(records)-1].Time))
	}
	b.WriteString(".\n\n## What it left\n\n")
	none := true
	for t := range st.Tasks() {
		if t.Result == nil || t.Group {
			continue
		}
		if names := left(t.Result.Outputs, t.Result.Artifacts); len(names) > 0 {
			none = false
			fmt.Fprintf(&b, "- %s%s: %s\n", plain(t.ID), titled(t), few(names, 6))
		}
	}
	if none {
		b.WriteString("Nothing.\n")
	}
	openEnds(&b, st)
	name := quote(st.Name)
	fmt.Fprintf(&b, "\n## How to look further\n\n- `cairn show %s`, `cairn why %s TASK`, `cairn log %s`\n- `cairn fork %s --at CHECKPOINT` to go on from one of its checkpoints\n- `cairn audit verify %s` to prove that nothing was changed\n",
		name, name, name, name, name)
	return b.String()
}

// Postmortem drafts what happened, from the journal alone: who decided what and why, what failed and how it was mended, and
// what it took.
func Postmortem(st *lifecycle.State, records []journal.Record) string {
	var b strings.Builder
	heading(&b, "Postmortem", st)
	goalChapter(&b, st)
	var decisions, failures, course []string
	var busy time.Duration
	for _, r := range records {
		line := fmt.Sprintf("- %s: ", Date(r.Time))
		name, text := saidBy(r)
		if r.Task != "" {
			text = plain(r.Task) + ": " + strings.TrimSpace(name+" "+text)
		} else {
			text = strings.TrimSpace(name + " " + text)
		}
		switch r.Kind {
		case lifecycle.TaskEnded:
			if f, err := lifecycle.FactOf(r); err == nil {
				e := f.Body.(*lifecycle.Ended)
				busy += e.Took
				if e.Outcome != lifecycle.Succeeded {
					failures = append(failures, line+text)
				}
			}
			if r.Actor != lifecycle.Engine {
				decisions = append(decisions, line+text)
			}
		case lifecycle.TaskRecovering, lifecycle.TaskRetried, lifecycle.TaskReopened, lifecycle.TaskInterrupted, lifecycle.ReplanProposed:
			failures = append(failures, line+text)
		case lifecycle.GateDecided, lifecycle.TaskJudged, lifecycle.PlanRevised, lifecycle.RollbackAsked, lifecycle.PlanCancelled, lifecycle.PlanPaused, lifecycle.PlanRetried, lifecycle.ReplanDecided:
			decisions = append(decisions, line+text)
		case lifecycle.PlanSubmitted, lifecycle.PlanStarted, lifecycle.PlanEnded, lifecycle.RollbackEnded:
			course = append(course, line+text)
		}
	}
	chapter(&b, "What happened", course)
	chapter(&b, "Decisions", decisions)
	chapter(&b, "Failures and what was done about them", failures)
	b.WriteString("\n## Time and spend\n\n")
	if n := len(records); n > 0 {
		fmt.Fprintf(&b, "- From beginning to end: %s\n", Duration(records[n-1].Time.Sub(records[0].Time)))
	}
	fmt.Fprintf(&b, "- In attempts, added up: %s\n", Duration(busy))
	openEnds(&b, st)
	b.WriteString("\n## What we learnt\n\n(to be written by whoever was there)\n")
	return b.String()
}

func heading(b *strings.Builder, what string, st *lifecycle.State) {
	title := plain(st.Name)
	if st.Plan.Title != "" {
		title = plain(st.Plan.Title) + " (" + title + ")"
	}
	fmt.Fprintf(b, "# %s: %s\n", what, title)
}

func goalChapter(b *strings.Builder, st *lifecycle.State) {
	g := st.Plan.Goal
	if g == nil {
		return
	}
	fmt.Fprintf(b, "\n## Goal\n\n%s\n", plain(g.Objective))
	if len(g.Done) > 0 {
		b.WriteString("\nIt is reached when:\n\n")
	}
	for _, c := range g.Done {
		fmt.Fprintf(b, "- %s\n", plain(c.Says))
	}
}

func titled(t lifecycle.Task) string {
	if t.Spec.Title == "" {
		return ""
	}
	return " (" + plain(t.Spec.Title) + ")"
}

// openEnds lists what was not done.
func openEnds(b *strings.Builder, st *lifecycle.State) {
	var open []string
	for t := range st.Tasks() {
		if t.Group || t.Status == lifecycle.Completed || t.Status == lifecycle.Skipped || t.Dormant {
			continue
		}
		open = append(open, because("- "+plain(t.ID)+titled(t)+": "+string(t.Status), t.Error))
	}
	chapter(b, "Open ends", open)
}

func chapter(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if len(lines) == 0 {
		b.WriteString("None.\n")
		return
	}
	b.WriteString(strings.Join(lines, "\n") + "\n")
}
