package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// TaskText writes what there is to know of one task. A task that is not in the plan is fault.NotFound.
func TaskText(w io.Writer, st *lifecycle.State, records []journal.Record, task string) error {
	k, ok := kinOf(st, task)
	if !ok {
		return fault.New(fault.NotFound, "plan %s has no task %s", st.Name, task).Remedy("see its tasks with: cairn show %s", quote(st.Name))
	}
	var b strings.Builder
	head := plain(k.task.ID)
	if k.task.Spec.Title != "" {
		head += "  " + plain(k.task.Spec.Title)
	}
	b.WriteString(head + "\n" + standing(st, k.task) + "\n")
	section(&b, "", spec(st, k))
	section(&b, "Gate", gateRows(st, k.task))
	section(&b, "Attempts", attempts(records, task))
	if r := k.task.Result; r != nil {
		section(&b, "Outputs", outputRows(r))
		section(&b, "Artifacts", artifactRows(r))
	}
	section(&b, "Files", files(st, records, task))
	section(&b, "Risks", riskRows(k.task))
	if shown(k.task) == lifecycle.FailedTask || k.task.Wait == lifecycle.ForTimer || k.task.Wait == lifecycle.ForRecovery {
		section(&b, "Error", failure(records, k.task))
	}
	if next := remedy(st, k.task); len(next) > 0 {
		b.WriteString("\nNext\n  " + strings.Join(align(next), "\n  ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// section writes rows under a heading, if there are any.
func section(b *strings.Builder, title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n")
	if title != "" {
		b.WriteString(title + "\n")
	}
	for line := range strings.Lines(columns(rows)) {
		b.WriteString("  " + line)
	}
}

func standing(st *lifecycle.State, t lifecycle.Task) string {
	s := said(shown(t))
	switch {
	case t.Wait.NeedsPerson():
		s = "waits for " + asked(t)
	case t.Wait == lifecycle.ForTimer:
		s = "tries again at " + Time(t.Due)
	case t.Wait == lifecycle.ForRecovery:
		s = "waits for its recovery"
	case t.Blocked != "" && t.Status == lifecycle.Pending:
		s = "blocked by " + plain(t.Blocked)
	case t.Dormant && t.Status == lifecycle.Pending:
		s = "runs only if needed"
	}
	if t.Attempt > 1 {
		s += ", " + plural(t.Attempt, "attempt")
	}
	if t.Execution > 1 {
		s += ", " + plural(t.Execution, "execution")
	}
	return s + "  (plan " + plain(st.Name) + " is " + string(st.State()) + ")"
}

// spec tells the task as it was written, in short.
func spec(st *lifecycle.State, k kin) [][]string {
	s := k.task.Spec
	var rows [][]string
	add := func(name, text string) {
		if text = plain(text); text != "" {
			rows = append(rows, []string{name, cut(text, 160)})
		}
	}
	add("kind", string(s.Kind))
	add("owner", s.Owner)
	add("says", s.Description)
	add("uses", s.Uses)
	add("runs", strings.TrimSpace(s.Run))
	if len(s.With) > 2 {
		add("with", string(s.With))
	}
	var needs []string
	for _, id := range k.needs {
		n, _ := st.Task(id)
		n.Blocked = k.blocked[id]
		needs = append(needs, plain(id)+" ("+stands(n)+")")
	}
	add("follows", few(needs, 8))
	add("when", s.When)
	if k.task.Item > 0 {
		add("item", fmt.Sprintf("%d of %s", k.task.Item, k.task.Parent))
	} else {
		add("each", s.Each)
	}
	for _, c := range append(slices.Clone(s.Checks), s.Expect...) {
		if c.Judge {
			add("judged", c.Says)
		} else {
			add("expects", c.Says)
		}
	}
	if s.Approve != nil {
		add("approved by", approver(s.Approve, "anybody"))
	}
	limits(s, add)
	return rows
}

// limits tells how a task may fail and what follows then.
func limits(s *plan.Task, add func(name, text string)) {
	if s.Timeout > 0 {
		add("timeout", s.Timeout.String())
	}
	if s.Retry != nil && s.Retry.Times > 0 {
		text := "up to " + plural(s.Retry.Times, "time")
		if s.Retry.Backoff.Max > 0 {
			text += ", " + s.Retry.Backoff.String() + " apart"
		}
		add("retries", text)
	}
	for _, m := range s.Failure {
		add("if it fails", cmp.Or(m.Name, "so")+" -> "+cmp.Or(m.Recover, "nothing"))
	}
	if s.Next != nil {
		add("then", strings.Join(s.Next.Success, ", "))
		add("if it fails", strings.Join(s.Next.Failure, ", "))
	}
	add("locks", strings.Join(s.Locks, ", "))
	add("repeat", s.Repeat)
}

// attempts lists how each attempt went.
func attempts(records []journal.Record, task string) [][]string {
	var rows [][]string
	for _, r := range records {
		if r.Task != task || r.Kind != lifecycle.TaskEnded && r.Kind != lifecycle.TaskInterrupted && r.Kind != lifecycle.TaskJudged && !gateRecord(r.Kind) && r.Kind != lifecycle.TaskUndone {
			continue
		}
		name, text := saidBy(r)
		rows = append(rows, []string{fmt.Sprintf("%4d", r.Seq), Date(r.Time), cut(strings.TrimSpace(name+" "+text), 200)})
	}
	return rows
}

func outputRows(r *lifecycle.Result) [][]string {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		rows = append(rows, []string{plain(name), short(r.Outputs[name], 100)})
	}
	if r.Exit != nil {
		rows = append(rows, []string{"(exit)", fmt.Sprint(*r.Exit)})
	}
	return rows
}

func artifactRows(r *lifecycle.Result) [][]string {
	var rows [][]string
	for _, a := range r.Artifacts {
		size := Size(a.Size)
		if a.Truncated > 0 {
			size += " (" + Size(a.Truncated) + " left out)"
		}
		rows = append(rows, []string{plain(a.Name), size, cmp.Or(plain(a.Type), "-"), a.Hash.String()})
	}
	return rows
}

// failure tells the last error, and the last lines that the attempt wrote.
func failure(records []journal.Record, t lifecycle.Task) [][]string {
	rows := [][]string{{cmp.Or(plain(t.Error), "it failed without a word")}}
	for i := len(records) - 1; i >= 0; i-- {
		if r := records[i]; r.Task == t.ID && r.Kind == lifecycle.TaskEnded {
			if f, err := lifecycle.FactOf(r); err == nil {
				for _, line := range lastLines(f.Body.(*lifecycle.Ended).Stderr, 5) {
					rows = append(rows, []string{"  " + line})
				}
			}
			break
		}
	}
	return rows
}

func lastLines(s string, most int) []string {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	return plains(lines[max(len(lines)-most, 0):])
}

// remedy lists the commands that help this task on.
func remedy(st *lifecycle.State, t lifecycle.Task) []string {
	name := quote(st.Name)
	switch {
	case t.Wait.NeedsPerson():
		return answers(st.Name, t)
	case shown(t) == Blocked:
		return []string{"cairn why " + name + " " + quote(t.Blocked)}
	case t.Status == lifecycle.FailedTask:
		out := []string{note("cairn why "+name+" "+quote(t.ID), "how it came to that")}
		if st.Phase == lifecycle.PlanFailed {
			out = append(out, note("cairn retry "+name, "try again what failed"))
		}
		return out
	}
	return nil
}
