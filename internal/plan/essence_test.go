package plan

import (
	"encoding/json"
	"testing"
)

func TestEssenceLeavesProseOut(t *testing.T) {
	p, faults := Read("all.yaml", []byte(everything), Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	work := &p.Tasks[0]
	told := *work
	told.Title, told.Description, told.Labels, told.Rationale = "Other words", "for the same", []string{"z"}, "?"
	told.Outputs = append(Outputs(nil), work.Outputs...)
	told.Outputs[0].Description = "the same in other words"
	done := *work
	done.Run = "make install"
	text := func(t Task) string { b, _ := json.Marshal(t); return string(b) }
	if text(work.Essence()) != text(told.Essence()) {
		t.Error("prose is of the essence")
	}
	if text(work.Essence()) == text(done.Essence()) {
		t.Error("the command is not")
	}
	each := p.Tasks[3]
	if e := each.Essence(); len(e.Subplan.Tasks) != 2 || e.Subplan.File != "" || each.Subplan.File == "" {
		t.Error("a subplan is not reduced, or the plan itself was changed")
	}
}
