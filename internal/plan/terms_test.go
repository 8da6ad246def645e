package plan

import (
	"encoding/json"
	"testing"
)

func TestWhatIsWorkAndWhatIsNot(t *testing.T) {
	p, faults := Read("all.yaml", []byte(everything), Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	task := &p.Tasks[0]
	for name, c := range map[string]struct {
		edit        func(*Task)
		work, terms bool // stay the same
	}{
		"title":       {func(t *Task) { t.Title = "z" }, true, true},
		"labels":      {func(t *Task) { t.Labels = []string{"z"} }, true, true},
		"extra":       {func(t *Task) { t.Extra = map[string]json.RawMessage{"x-z": []byte("1")} }, true, true},
		"estimate":    {func(t *Task) { t.Estimate = 9 }, true, true},
		"timeout":     {func(t *Task) { t.Timeout = 9 }, true, false},
		"needs":       {func(t *Task) { t.Needs = []string{"z"} }, true, false},
		"retry":       {func(t *Task) { t.Retry = &Retry{Times: 9} }, true, false},
		"criticality": {func(t *Task) { t.Criticality = "dangerous" }, true, false},
		"run":         {func(t *Task) { t.Run = "z" }, false, false},
		"expect":      {func(t *Task) { t.Expect = []Criterion{{Says: "z", Judge: true}} }, false, false},
		"when":        {func(t *Task) { t.When = "1 == 2" }, false, false},
	} {
		other := *task
		c.edit(&other)
		if SameWork(task, &other) != c.work || SameTerms(task, &other) != c.terms {
			t.Errorf("%s: the work is the same %t, the terms %t", name, SameWork(task, &other), SameTerms(task, &other))
		}
	}
	group := Task{ID: "g", Subplan: &Subplan{Tasks: []Task{{ID: "a"}}}}
	other := Task{ID: "g", Subplan: &Subplan{Tasks: []Task{{ID: "b"}}}}
	if WorkHash(&group) != WorkHash(&other) || WorkHash(&group) == WorkHash(&Task{ID: "g"}) {
		t.Error("a group is its tasks, or is none")
	}
}

func TestWhoReadsAnInput(t *testing.T) {
	for text, want := range map[string]bool{"echo ${inputs.a}": true, "echo ${inputs.ab}": false, "echo ${inputs.b}": false, "size(inputs) > 1": true,
		"inputs['b']": true, "echo ${x.inputs}": true, "echo a": false, "inputs.b + inputs.a": true, "inputs.a-1": true} {
		if got := (&Task{Run: text}).ReadsInput([]string{"a"}); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	full := &Task{Env: map[string]string{"K": "${inputs.a}"}}
	if !full.ReadsInput([]string{"a"}) || full.ReadsInput(nil) {
		t.Error("the environment is not looked at")
	}
	a, b := &Plan{Inputs: []byte(`{"x":1,"y":2}`)}, &Plan{Inputs: []byte(`{"y":3,"z":4}`)}
	if got := ChangedInputs(a, b); len(got) != 3 {
		t.Error(got)
	}
}
