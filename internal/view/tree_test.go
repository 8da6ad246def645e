package view

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

func TestTree(t *testing.T) {
	m := scripted(t)
	frame := func(o TreeOptions) string {
		o.Times, o.Now = TimesOf(m.records), m.now.Add(2500*time.Millisecond)
		return strings.Join(TreeLines(m.st, o), "\n") + "\n"
	}
	golden(t, "tree-begun", frame(TreeOptions{Width: 72, Height: 24, Frame: 3}))
	m.run(0).by("ann", lifecycle.TaskJudged, "sources", &lifecycle.Judged{Accepted: true}).run(3)
	golden(t, "tree-running", frame(TreeOptions{Width: 72, Height: 24}))
	golden(t, "tree-ascii", frame(TreeOptions{Width: 72, Height: 24, ASCII: true}))
	golden(t, "tree-colour", frame(TreeOptions{Width: 72, Height: 24, Color: true}))
	golden(t, "tree-narrow", frame(TreeOptions{Width: 24, Height: 24}))
	golden(t, "tree-low", frame(TreeOptions{Width: 72, Height: 7}))
	m.run(0).by("bob", lifecycle.GateDecided, "agree", &lifecycle.Decided{Approved: true}).run(2)
	golden(t, "tree-retrying", frame(TreeOptions{Width: 72, Height: 24}))
	golden(t, "tree-unclocked", strings.Join(TreeLines(m.st, TreeOptions{}), "\n")+"\n")
	m.run(2)
	golden(t, "tree-recovering", frame(TreeOptions{Width: 72, Height: 24}))
}

func TestTreeOfAFailedPlan(t *testing.T) {
	m := sample(t, `
plan: broken
tasks:
  - {id: a, uses: shell, title: Fetch it}
  - {id: b, uses: shell, needs: [a], title: Use it}
  - {id: c, uses: shell, when: "1 > 2"}
  - {id: d, uses: shell, needs: [b], title: "\e[31mred\a"}
`)
	m.outcome["a"] = []*lifecycle.Ended{bad("exit status 2\nand \x1b[2Jmore", "", "")}
	m.assess["c"] = &lifecycle.Assessed{Why: "not the case: 1 > 2"}
	m.start().run(0)
	var b strings.Builder
	if err := PlanText(&b, m.st, TreeOptions{Width: 80, Times: TimesOf(m.records)}); err != nil {
		t.Fatal(err)
	}
	golden(t, "tree-failed", b.String())
	if strings.ContainsAny(b.String(), "\x1b\a") {
		t.Error("a control character of a task reaches the terminal")
	}
}

// fanned is a run whose fan-out of n items is under way: some done, some failed, four running.
func fanned(t testing.TB, n, over int) *sim {
	t.Helper()
	m := sample(t, `
plan: wide
tasks:
  - {id: list, uses: noop, title: 목록을 만든다}
  - {id: dig, uses: shell, needs: [list], each: "${list.all}", title: Dig deeper}
  - {id: sum, uses: noop, needs: [dig]}
`)
	m.assess["dig"] = items(n)
	m.outcome["dig-3"] = []*lifecycle.Ended{bad("no such page", "", "")}
	m.start().run(2 + over)
	return m
}

func TestFanOutsBecomeABar(t *testing.T) {
	m := fanned(t, 400, 200)
	o := TreeOptions{Width: 72, Height: 12, Times: TimesOf(m.records), Now: m.now}
	golden(t, "tree-fan", strings.Join(TreeLines(m.st, o), "\n")+"\n")
	o.Height = 0
	golden(t, "tree-fan-all", strings.Join(TreeLines(m.st, o), "\n")+"\n")
	o.Height = 4
	golden(t, "tree-fan-low", strings.Join(TreeLines(m.st, o), "\n")+"\n")
}

// chained is a run of n tasks in chains of ten, with so many attempts over.
func chained(t testing.TB, n, over int) *sim {
	t.Helper()
	p := &plan.Plan{Name: "long", Tasks: make([]plan.Task, n)}
	for i := range p.Tasks {
		p.Tasks[i] = plan.Task{ID: fmt.Sprintf("t%05d", i+1), Title: "작업 " + fmt.Sprint(i+1), Uses: "shell"}
		if i%10 > 0 {
			p.Tasks[i].Needs = []string{p.Tasks[i-1].ID}
		}
	}
	m := submit(t, p).start()
	if over == 0 {
		return m
	}
	return m.run(over)
}

func TestTreeShowsWhereThePlanStands(t *testing.T) {
	m := chained(t, 1000, 500)
	lines := TreeLines(m.st, TreeOptions{Width: 80, Height: 20})
	golden(t, "tree-long", strings.Join(lines, "\n")+"\n")
	if len(lines) > 20 {
		t.Errorf("%d lines", len(lines))
	}
	running := 0
	for _, l := range lines {
		if strings.HasPrefix(l, spinner[0][0]) {
			running++
		}
	}
	if running != 4 {
		t.Errorf("%d of 4 running tasks are shown", running)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTreeKeepsWithinItsBounds(t *testing.T) {
	sims := []*sim{scripted(t), accepted(t), finished(t), fanned(t, 50, 20), chained(t, 60, 25)}
	rapid.Check(t, func(rt *rapid.T) {
		m := sims[rapid.IntRange(0, len(sims)-1).Draw(rt, "run")]
		o := TreeOptions{Width: rapid.IntRange(1, 120).Draw(rt, "width"), Height: rapid.IntRange(0, 40).Draw(rt, "height"),
			Color: rapid.Bool().Draw(rt, "colour"), ASCII: rapid.Bool().Draw(rt, "ascii"), Frame: rapid.IntRange(-1, 99).Draw(rt, "frame"),
			Now: m.now, Times: TimesOf(m.records)}
		lines := TreeLines(m.st, o)
		if o.Height > 0 && len(lines) > max(o.Height, 1) {
			rt.Fatalf("%d lines of %d", len(lines), o.Height)
		}
		for _, l := range lines {
			if !o.Color && strings.Contains(l, "\x1b") {
				rt.Fatalf("colour in %q", l)
			}
			if n := width(escapes.ReplaceAllString(l, "")); n > o.Width {
				rt.Fatalf("%d cells of %d: %q", n, o.Width, l)
			}
			if strings.Count(l, "\x1b[") != 2*strings.Count(l, "\x1b[0m") {
				rt.Fatalf("a colour is left on: %q", l)
			}
		}
		if again := TreeLines(m.st, o); !slices.Equal(lines, again) {
			rt.Fatal("two frames of the same state differ")
		}
	})
}

// Titles and errors come from anywhere; whatever they hold, a line stays within its width.
func TestTreeWithstandsTitles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		title := rapid.StringOf(rapid.SampledFrom([]rune("ab 한글漢字é́👩‍💻❤️🇰🇷\t\n\x1b\u202e\u0085ｗ"))).Draw(rt, "title")
		p := &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Title: title, Uses: "shell"}, {ID: "나", Title: title}}}
		m := submit(t, p)
		m.outcome["a"] = []*lifecycle.Ended{bad(title, title, "")}
		m.start().run(0)
		wide := rapid.IntRange(1, 60).Draw(rt, "width")
		for _, l := range TreeLines(m.st, TreeOptions{Width: wide, Height: 10}) {
			if n := width(l); n > wide {
				rt.Fatalf("%d cells of %d: %q", n, wide, l)
			}
			if strings.ContainsAny(l, "\t\n\x1b\u202e\u0085") {
				rt.Fatalf("a control character: %q", l)
			}
		}
	})
}

func BenchmarkTree(b *testing.B) {
	blocked := chained(b, 10_000, 0)
	for i := 1; i <= 10_000; i += 10 {
		blocked.outcome[fmt.Sprintf("t%05d", i)] = []*lifecycle.Ended{bad("broken", "", "")}
	}
	for name, m := range map[string]*sim{"chains": chained(b, 10_000, 5_000), "fan-out": fanned(b, 10_000, 5_000), "blocked": blocked.run(900)} {
		b.Run(name, func(b *testing.B) {
			o := TreeOptions{Width: 120, Height: 40, Color: true, Times: TimesOf(m.records), Now: m.now}
			b.ReportAllocs()
			for b.Loop() {
				TreeLines(m.st, o)
			}
		})
	}
}

func BenchmarkPlanJSON(b *testing.B) {
	m := chained(b, 10_000, 5_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PlanJSON(m.st); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStory(b *testing.B) {
	m := chained(b, 10_000, 5_000)
	b.ReportAllocs()
	for b.Loop() {
		Story(m.records, m.st, "t00005")
	}
}
