package experience_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/planner/experience"
)

func TestReadCases(t *testing.T) {
	text := `{"id": "a", "goal": "Tell Ann", "steps": [{"capability": "mail"}, {"capability": "note"}], "links": [["mail", "note"]]}

{"id": "b", "goal": "Tell Bo", "steps": [{"capability": "mail"}]}
`
	cases, err := experience.ReadCases("x.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 || cases[0].Steps[1] != "note" || cases[0].Links[0] != (experience.Link{"mail", "note"}) || cases[1].Line != 3 {
		t.Errorf("read %+v", cases)
	}
}

func TestReadRefuses(t *testing.T) {
	cases := func(text string) error {
		_, err := experience.ReadCases("x", strings.NewReader(text))
		return err
	}
	menu := func(text string) error {
		_, err := experience.ReadTools("x", strings.NewReader(text))
		return err
	}
	tests := []struct {
		name, text string
		read       func(string) error
		want       string
	}{
		{"empty", "\n\n", cases, "x: the file has no lines"},
		{"no JSON", "goal", cases, "x:1: the line is no such JSON object"},
		{"no id", `{"goal": "g"}`, cases, "x:1: the line has no id"},
		{"no goal", `{"id": "1"}`, cases, "x:1: the line has no goal"},
		{"no steps", "\n" + `{"id": "1", "goal": "g"}`, cases, "x:2: the line has no steps"},
		{"nameless step", `{"id": "1", "goal": "g", "steps": [{}]}`, cases, "x:1: the line has a step without capability"},
		{"odd link", `{"id": "1", "goal": "g", "steps": [{"capability": "a"}], "links": [["a"]]}`, cases, "x:1: the line has a link that is not a pair"},
		{"long line", strings.Repeat("x", 1<<20+1), cases, "x:1: the line is longer than"},
		{"menu: no JSON", "[\n{]", menu, "x:2: the menu is no such JSON array"},
		{"menu: another shape", "[\n\n{\"id\": 3}]", menu, "x:3: the menu is no such JSON array"},
		{"menu: no id", `[{"description": "d"}]`, menu, "x: tool 1 has no id"},
		{"menu: twice", `[{"id": "a"}, {"id": "a"}]`, menu, `x: tool 2 has the id "a" of another`},
		{"menu: empty", `[]`, menu, "x: the menu is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.read(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
				t.Errorf("%v: code %s, remedy %q", err, fault.CodeOf(err), fault.HintOf(err))
			}
		})
	}
}

func TestReadPassesErrorsOn(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := experience.ReadPredictions("x", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("predictions: %v", err)
	}
	if _, err := experience.ReadTools("x", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("menu: %v", err)
	}
}
