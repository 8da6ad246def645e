package view

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/risk"
)

// Risk is something that a task may do and that cannot be taken back.
type Risk struct {
	Task string `json:"task"`
	Uses string `json:"uses"`
	Once bool   `json:"once"` // it is not repeated unless a person says so
	risk.Finding
}

// Risks reads the commands, statements and requests of a plan, in its order. What a reference will hold is not known
// here, and so is not judged.
func Risks(p *plan.Plan) []Risk { return risks(nil, "", p.Tasks) }

func risks(out []Risk, group string, tasks []plan.Task) []Risk {
	for i := range tasks {
		t := &tasks[i]
		id := inside(group, t.ID)
		out = append(out, risksOf(t, id)...)
		if t.Subplan != nil {
			out = risks(out, id, t.Subplan.Tasks)
		}
	}
	return out
}

// risksOf are those of one task under its full id.
func risksOf(t *plan.Task, id string) []Risk {
	var out []Risk
	for _, f := range found(t) {
		once := f.Once() && (t.Repeat == "" || t.Repeat == string(capability.Once))
		out = append(out, Risk{Task: id, Uses: t.Uses, Once: once, Finding: f})
	}
	return out
}

func found(t *plan.Task) []risk.Finding {
	var with struct{ Run, SQL, Method, URL string }
	if json.Unmarshal(t.With, &with) != nil { // a reference, or what the contract refuses anyway
		with.Run, with.SQL, with.Method, with.URL = "", "", "", ""
	}
	switch t.Uses {
	case "shell":
		if t.Run != "" {
			return risk.Shell(t.Run)
		}
		return risk.Shell(with.Run)
	case "sql.exec":
		return risk.SQL(with.SQL)
	case "http.request":
		return risk.HTTP(with.Method, with.URL)
	}
	return nil
}

// RiskLines writes risks, one a line: where, the words that say so, what they do, and what the engine does about it.
func RiskLines(w io.Writer, file string, rs []Risk, color bool) error {
	var b strings.Builder
	if file != "" {
		file = plain(file) + ": "
	}
	for _, r := range rs {
		hue := magenta
		if r.Criticality.AtLeast(risk.Dangerous) {
			hue = red
		}
		b.WriteString(paint([]piece{{file, bold}, {"warning " + string(r.Criticality), hue}, {": task " + plain(r.Task) + ": " + r.text(), none}}, 0, color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Risk) text() string {
	s := "`" + cut(plain(r.Text), 80) + "` " + r.Says
	if r.Once {
		s += "; the engine will not repeat it by itself"
	}
	return s
}

func riskRows(t lifecycle.Task) [][]string {
	var rows [][]string
	for _, r := range risksOf(t.Spec, t.ID) {
		rows = append(rows, []string{string(r.Criticality), r.text()})
	}
	return rows
}
