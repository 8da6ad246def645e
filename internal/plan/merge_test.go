package plan

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func merged(t *testing.T, current, incoming string) *Plan {
	t.Helper()
	a, _ := Read("a.yaml", []byte(current), Options{})
	b, _ := Read("b.yaml", []byte(incoming), Options{})
	out, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	p, faults := Read("m.json", out, Options{})
	if err := faults.Err(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

const standing = `
plan: p
title: Standing
tasks:
  - {id: a, title: First, uses: shell, run: one, timeout: 5m}
  - {id: b, needs: [a], uses: shell, run: two}
  - {id: c, needs: [a, b], uses: shell, run: "echo ${b.x}"}
`

func TestMergeMatchesByIdTitleAndPosition(t *testing.T) {
	p := merged(t, standing, `
plan: p
tasks:
  - {id: start, title: First, uses: shell, run: other, status: completed}
  - {id: d, needs: [start], uses: shell, run: "echo ${start.x}"}
`)
	if len(p.Tasks) != 4 || p.Tasks[0].ID != "a" || p.Tasks[0].Run != "other" || p.Tasks[0].Timeout == 0 || p.Tasks[0].Status != "" {
		t.Errorf("%+v", p.Tasks[0])
	}
	if d := p.Tasks[3]; d.Needs[0] != "a" || d.Run != "echo ${a.x}" {
		t.Errorf("what is named by its other name is not found: %+v", d)
	}
	if p.Title != "Standing" {
		t.Errorf("the title is %q", p.Title)
	}
	p = merged(t, standing, "plan: p\ntasks:\n  - {uses: shell, run: other}\n  - {uses: shell, run: more}\n")
	if len(p.Tasks) != 3 || p.Tasks[0].Run != "other" || p.Tasks[1].Run != "more" {
		t.Errorf("%+v", p.Tasks)
	}
}

func TestMergeTakesOutWhatIsAbandoned(t *testing.T) {
	p := merged(t, standing, "plan: p\ntitle: Other\ntasks:\n  - {id: a, status: abandoned}\n")
	if len(p.Tasks) != 2 || len(p.Tasks[0].Needs) != 0 || strings.Join(p.Tasks[1].Needs, " ") != "b" || p.Title != "Other" {
		t.Errorf("%+v", p.Tasks)
	}
}

func TestMergeRefusesNothing(t *testing.T) {
	a, _ := Read("a.yaml", []byte(standing), Options{})
	if _, err := Merge(a, &Plan{Name: "p"}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
