package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

var update = flag.Bool("update", false, "write the picture and the worked example anew")

// The picture in the README is what cairn itself draws: the tree of the first example in mid-run.
func TestPictureIsTheTreeOfTheFirstExample(t *testing.T) {
	const file, source = "first.svg", "../examples/first.yaml"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	caps, err := assembly.Capabilities(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, faults := plan.Read(source, text, plan.Options{Capabilities: caps})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	r := submitted(t, p, time.Date(2026, 1, 2, 14, 5, 0, 0, time.UTC))
	began := lifecycle.Session{Epoch: 1}
	items := 6
	r.take(0, lifecycle.PlanStarted, "", &began)
	r.take(310*time.Millisecond, lifecycle.TaskEnded, "folders", ended(310*time.Millisecond))
	r.take(0, lifecycle.TaskAssessed, "count", &lifecycle.Assessed{Run: true, Count: &items})
	r.take(90*time.Millisecond, lifecycle.TaskEnded, "count-1", ended(90*time.Millisecond))
	r.take(240*time.Millisecond, lifecycle.TaskEnded, "endings", ended(640*time.Millisecond))
	r.take(110*time.Millisecond, lifecycle.TaskEnded, "count-2", ended(440*time.Millisecond))
	tree := view.TreeLines(r.state, view.TreeOptions{Color: true, Frame: 4, Now: r.now.Add(1300 * time.Millisecond), Times: view.TimesOf(r.records)})
	got := drawing(append([]string{"\x1b[2m$\x1b[0m cairn run examples/first.yaml", ""}, tree...))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("docs/%s is not what cairn draws; look at what changed, then: go test ./docs -update", file)
	}
}

// run carries a plan out by a script, under the real law, and keeps the records of it.
type run struct {
	t       *testing.T
	state   *lifecycle.State
	now     time.Time
	head    journal.Head
	records []journal.Record
	entries []journal.Entry
}

func submitted(t *testing.T, p *plan.Plan, at time.Time) *run {
	t.Helper()
	r := &run{t: t, state: lifecycle.New(p.Name), now: at}
	spec, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	body := &lifecycle.Submitted{Spec: sum(spec), Size: int64(len(spec)), Title: p.Title, Tasks: len(p.Tasks), Source: p.Name + ".yaml",
		Capabilities: map[string]lifecycle.Installed{"shell": {Version: "1.0.0", Repeat: "repeatable"}}}
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Actor: "person:ann", Time: at, Body: body}
	derived, err := r.state.Submit(f, p)
	if err != nil {
		t.Fatal(err)
	}
	r.record(f, derived)
	return r
}

// take steps the run by a fact, some time after the one before.
func (r *run) take(after time.Duration, kind journal.Kind, task string, body any) {
	r.t.Helper()
	r.now = r.now.Add(after)
	f := lifecycle.Fact{Kind: kind, Task: task, Time: r.now, Actor: lifecycle.Engine, Body: body}
	if t, ok := r.state.Task(task); ok {
		f.Attempt = t.Attempt
	}
	derived, err := r.state.Take(f)
	if err != nil {
		r.t.Fatal(err)
	}
	r.record(f, derived)
}

func (r *run) record(f lifecycle.Fact, derived []lifecycle.Derived) {
	r.t.Helper()
	body, err := f.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	r.add(journal.Record{Plan: r.state.Name, Rev: 1, Kind: f.Kind, Time: f.Time, Actor: f.Actor, Task: f.Task, Attempt: f.Attempt, Body: body})
	for cause := r.head.Seq; len(derived) > 0; derived = derived[1:] {
		d := derived[0]
		r.add(journal.Record{Plan: r.state.Name, Rev: 1, Kind: d.Kind, Time: f.Time, Actor: lifecycle.Engine, Cause: cause, Task: d.Task,
			Attempt: d.Attempt, Body: d.Body})
	}
}

func (r *run) add(rec journal.Record) {
	e := journal.Seal(rec, r.head)
	r.head = e.Head()
	r.records, r.entries = append(r.records, rec), append(r.entries, e)
}

func ended(took time.Duration) *lifecycle.Ended {
	return &lifecycle.Ended{Outcome: lifecycle.Succeeded, Took: took}
}

// Measures of the drawing, in pixels.
const (
	cell   = 8.4
	line   = 21
	margin = 18
	size   = 14
)

// inks are the terminal's colours on the drawing's own dark ground, which is read well on any page.
var inks = map[string]string{"": "#e6edf3", "2": "#9198a1", "32": "#3fb950", "31": "#ff7b72", "1;31": "#ff7b72", "36": "#39c5cf", "35": "#d2a8ff", "1": "#e6edf3"}

var (
	escapes = regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	words   = regexp.MustCompile(`\S+( \S+)*`) // SVG joins the spaces between others
)

// drawing turns lines of a terminal into SVG. Each stretch of one colour stands where its cells are, whatever font is used.
func drawing(lines []string) []byte {
	var b bytes.Buffer
	wide := 0
	for _, l := range lines {
		wide = max(wide, utf8.RuneCountInString(escapes.ReplaceAllString(l, "")))
	}
	width, height := float64(wide)*cell+2*margin, len(lines)*line+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-labelledby="t">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title id="t">The task tree of examples/first.yaml in mid-run</title>`+"\n")
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8" fill="#0d1117" stroke="#484f58"/>`+"\n", width-1, height-1)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">`+"\n", size)
	for n, l := range lines {
		at, color := 0, ""
		for _, p := range pieces(l) {
			if p.ink != nil {
				color = *p.ink
				continue
			}
			for _, m := range words.FindAllStringIndex(p.text, -1) {
				word, lead := p.text[m[0]:m[1]], utf8.RuneCountInString(p.text[:m[0]])
				weight := ""
				if strings.HasPrefix(color, "1") {
					weight = ` font-weight="bold"`
				}
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f">%s</text>`+"\n", margin+float64(at+lead)*cell,
					margin+n*line+size+1, inks[color], weight, float64(utf8.RuneCountInString(word))*cell, html.EscapeString(word))
			}
			at += utf8.RuneCountInString(p.text)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// stretch is a text, or a change of colour.
type stretch struct {
	text string
	ink  *string
}

func pieces(l string) (out []stretch) {
	done := 0
	for _, m := range escapes.FindAllStringSubmatchIndex(l, -1) {
		code := strings.TrimPrefix(l[m[2]:m[3]], "0")
		out = append(out, stretch{text: l[done:m[0]]}, stretch{ink: &code})
		done = m[1]
	}
	return append(out, stretch{text: l[done:]})
}
