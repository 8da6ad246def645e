package view

import (
	"io"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Row is one plan in a list.
type Row struct {
	Plan    string              `json:"plan"`
	Title   string              `json:"title,omitempty"`
	State   lifecycle.PlanState `json:"state"`
	Done    int                 `json:"done"`  // tasks completed or skipped
	Total   int                 `json:"total"` // tasks that are no mere groups
	Failed  int                 `json:"failed,omitempty"`
	Routed  int                 `json:"routed,omitempty"`  // failed, and another task took over
	Waiting []string            `json:"waiting,omitempty"` // task: whom it waits for, to do what
	Records journal.Seq         `json:"records"`
	Updated time.Time           `json:"updated"`
}

// RowOf sums a plan up. last is the time of its last record.
func RowOf(st *lifecycle.State, head journal.Head, last time.Time) Row {
	r := Row{Plan: st.Name, State: st.State(), Records: head.Seq, Updated: last}
	if st.Plan != nil {
		r.Title = st.Plan.Title
	}
	for t := range st.Tasks() {
		if t.Wait.NeedsPerson() {
			r.Waiting = append(r.Waiting, t.ID+": "+asked(t))
		}
		if t.Group {
			continue
		}
		r.Total++
		switch {
		case done(t.Status):
			r.Done++
		case routed(st, t):
			r.Routed++
		case t.Status == lifecycle.FailedTask:
			r.Failed++
		}
	}
	return r
}

// Table writes rows as aligned text.
func Table(w io.Writer, rows []Row) error {
	if len(rows) == 0 {
		_, err := io.WriteString(w, "There are no plans here yet. Start one with: cairn run FILE\n")
		return err
	}
	cells := [][]string{{"PLAN", "STATE", "DONE", "UPDATED", "WAITS FOR", "TITLE"}}
	for _, r := range rows {
		waits := "-"
		if n := len(r.Waiting); n > 0 {
			waits = plain(r.Waiting[0])
			if n > 1 {
				waits += " (and " + number(n-1) + " more)"
			}
		}
		updated := "-"
		if !r.Updated.IsZero() {
			updated = Date(r.Updated)
		}
		cells = append(cells, []string{plain(r.Plan), string(r.State), number(r.Done) + "/" + number(r.Total), updated,
			cut(waits, 48), cut(plain(r.Title), 60)})
	}
	_, err := io.WriteString(w, columns(cells))
	return err
}

// columns aligns cells; nothing trails a line.
func columns(rows [][]string) string {
	var most []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(most) {
				most = append(most, 0)
			}
			most[i] = max(most[i], width(c))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(pad(c, most[i]+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
