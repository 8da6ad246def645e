package view

import (
	"io"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// PlanText writes a run at a glance: its title, what it is for, the tree of its tasks and where it stands; then what in it cannot be
// taken back.
func PlanText(w io.Writer, st *lifecycle.State, o TreeOptions) error {
	o.Frame = -1
	head := []piece{{plain(st.Name), bold}}
	if st.Plan.Title != "" {
		head = append(head, piece{"  " + plain(st.Plan.Title), none})
	}
	lines := []string{paint(head, o.Width, o.Color)}
	if g := st.Plan.Goal; g != nil && g.Objective != "" {
		lines = append(lines, paint([]piece{{"for: " + plain(g.Objective), dim}}, o.Width, o.Color))
	}
	if n := len(st.Revisions); n > 1 {
		lines = append(lines, paint([]piece{{RevisionLine(st.Revisions[n-1]), dim}}, o.Width, o.Color))
	}
	lines = append(lines, "")
	tree := TreeLines(st, o)
	last := len(tree) - 1
	lines = append(append(append(lines, tree[:last]...), ""), tree[last])
	lines = append(append(lines, goalLines(st)...), lateLines(st, time.Local)...)
	if p := st.Proposal(); p != nil {
		lines = append(lines, "proposed: "+Proposes(p))
	}
	if spent := spendLine(st); spent != "" {
		lines = append(lines, spent)
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return RiskLines(w, "", Risks(st.Plan), o.Color)
}

// RevisionLine tells who made a revision, and why.
func RevisionLine(r lifecycle.Revision) string {
	return because("revision "+number(r.Rev)+" by "+who(r.Author), r.Why)
}
