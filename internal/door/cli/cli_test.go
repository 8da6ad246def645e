package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

func none(string) string { return "" }

// call runs one command line on nothing: no home is opened.
func call(t *testing.T, parts Parts, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), parts, args, Streams{In: strings.NewReader(""), Out: &o, Err: &e}, none)
	return code, o.String(), e.String()
}

func TestEveryErrorHasItsExitStatus(t *testing.T) {
	for _, m := range fault.Meanings {
		parts := Parts{Catalogue: func(string) (Capabilities, error) {
			return nil, fault.New(m.Code, "no luck").Remedy("try again")
		}}
		code, _, errs := call(t, parts, "capability", "list")
		if code != m.Exit || !strings.HasPrefix(errs, "cairn: no luck\ntry again\n") {
			t.Errorf("%s: exit %d, not %d; %s", m.Code, code, m.Exit, errs)
		}
		code, out, errs := call(t, parts, "capability", "list", "--json")
		var got struct{ Error problem }
		if err := json.Unmarshal([]byte(out), &got); err != nil || errs != "" {
			t.Fatalf("%s: %v\n%s%s", m.Code, err, out, errs)
		}
		if code != m.Exit || got.Error.Code != m.Code || got.Error.Exit != m.Exit || got.Error.Remedy != "try again" {
			t.Errorf("%s: %+v", m.Code, got)
		}
	}
}

func TestErrorsWithoutACode(t *testing.T) {
	failing := func(err error) Parts {
		return Parts{Catalogue: func(string) (Capabilities, error) { return nil, err }}
	}
	code, _, errs := call(t, failing(errors.New("boom")), "capability", "list")
	if code != 70 || !strings.Contains(errs, "a fault of cairn itself") {
		t.Errorf("exit %d: %s", code, errs)
	}
	code, _, errs = call(t, failing(context.Canceled), "capability", "list")
	if code != 130 || errs != "cairn: interrupted\n" {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestDoctorTellsEveryFinding(t *testing.T) {
	parts := Parts{Examine: func(context.Context, Site) []Finding {
		return []Finding{{What: "shell", OK: true, Says: "runs"}, {What: "home", Says: "is no folder", Remedy: "move it away"}}
	}}
	code, out, _ := call(t, parts, "doctor")
	if code != 2 || !strings.Contains(out, "ok   shell") || !strings.Contains(out, "BAD  home") || !strings.Contains(out, "move it away") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	a := &app{env: none}
	for _, c := range append(a.everyday(), a.others()...) {
		for _, c := range append(c.Commands(), c) {
			if c.Short == "" || c.Example == "" && !c.HasSubCommands() {
				t.Errorf("%s has no summary or no example", c.CommandPath())
			}
		}
	}
	if n := len(a.everyday()); n > 14 {
		t.Errorf("%d commands in the short help", n)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"home", "workers", "actor"}
	for name, want := range map[string]string{"wrokers": "workers", "Home": "home", "actr": "actor", "x": "", "temperature": "", "hme": "home"} {
		if got := nearest(name, words); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

func TestPerson(t *testing.T) {
	for name, want := range map[string]string{"ann": "person:ann", "agent:bot": "agent:bot"} {
		if got := person(name); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if osUser(none) == "" {
		t.Error("nobody has no name")
	}
}

func TestVersionString(t *testing.T) {
	v := Version{Number: "v1.2.3", Commit: "0123456789abcdef", Modified: true, Go: "go1", Platform: "os/arch"}
	if got, want := v.String(), "cairn v1.2.3 0123456789ab+changes (go1 os/arch)"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func entry(t *testing.T, kind journal.Kind, task, actor string, body any) journal.Entry {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Seal(journal.Record{Plan: "p", Rev: 1, Kind: kind, Task: task, Actor: actor, Attempt: 1, Body: b}, journal.Head{})
}

func TestLines(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		kind journal.Kind
		body any
		want string
	}{
		{lifecycle.TaskJudged, lifecycle.Judged{Accepted: true, Why: "fine"}, "judged       t  by person:ann  fine"},
		{lifecycle.PlanRetried, lifecycle.Reason{Why: "again"}, "plan retried  t  again"},
		{lifecycle.TaskReopened, map[string]any{"by": "b", "execution": 2}, "again        t  led back by b"},
		{lifecycle.TaskRetried, map[string]any{"at": noon, "retry": 1}, "retries      t  at 12:00:00"},
		{lifecycle.TaskEnded, lifecycle.Ended{Outcome: lifecycle.Failed, Error: "a\x1b[31mb\nc"}, "failed       t  by person:ann    a [31mb c"},
		{lifecycle.TaskSettled, map[string]any{"status": "failed", "routed": []string{"u", "v"}}, "routed       t  to u, v"},
		{lifecycle.RollbackAsked, lifecycle.Asked{Why: "oops"}, "rollback     t  by person:ann  oops"},
		{lifecycle.TaskUndoing, struct{}{}, "undoing      t"},
		{lifecycle.TaskUndone, lifecycle.Undone{How: []string{"put back", "ran it"}}, "undone       t  put back; ran it"},
		{lifecycle.TaskUndone, lifecycle.Undone{Error: "no disk"}, "not undone   t  no disk"},
		{lifecycle.RollbackEnded, map[string]any{"undone": 2, "left": 0}, "rolled back  t  2 tasks undone"},
		{lifecycle.RollbackEnded, map[string]any{"undone": 1, "left": 3}, "stopped      t  1 task undone, 3 tasks left"},
		{lifecycle.PlanLeft, lifecycle.Reason{}, ""},
		{lifecycle.TaskSpawned, lifecycle.Spawned{}, ""},
		{lifecycle.TaskEnded, "no object", ""},
		{lifecycle.TaskStarted, "no object", ""},
	} {
		var b bytes.Buffer
		newLines().write(&b, entry(t, c.kind, "t", "person:ann", c.body))
		_, got, _ := strings.Cut(strings.TrimSuffix(b.String(), "\n"), "  ")
		if got != c.want {
			t.Errorf("%s: %q, not %q", c.kind, got, c.want)
		}
	}
	var b bytes.Buffer
	newLines().write(&b, journal.Entry{Bytes: []byte("damage")})
	writeLogLine(&b, journal.Entry{Plan: "p", Seq: 3, Bytes: []byte("damage")})
	if !strings.Contains(b.String(), "record p#3 is not in the journal's format") {
		t.Error("a damaged record is not told: ", b.String())
	}
}

// TestScreen draws to a file, which is no terminal but takes the same bytes.
func TestScreen(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "tty")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "ask", Kind: plan.Manual}}}
	fold := &lifecycle.Fold{State: lifecycle.New("p"), Spec: func(*lifecycle.Submitted) (*plan.Plan, error) { return p, nil }}
	s := newScreen(f, fold, &view.Times{}, false, func() view.Turns { return nil })
	submitted := entry(t, lifecycle.PlanSubmitted, "", "person:ann", lifecycle.Submitted{Tasks: 1})
	s.take([]journal.Entry{submitted, submitted}) // what it has already is skipped
	s.notice("interrupt again")
	s.close()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if !strings.HasPrefix(got, hideCursor) || !strings.HasSuffix(got, showCursor) {
		t.Errorf("the cursor is not given back: %q", got)
	}
	if !strings.Contains(got, "ask") || !strings.Contains(got, "interrupt again") {
		t.Errorf("%q", got)
	}
}

func TestScreenEndsWithWhatCannotBeFolded(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "tty")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newScreen(f, &lifecycle.Fold{State: lifecycle.New("p")}, &view.Times{}, false, func() view.Turns { return nil })
	s.take([]journal.Entry{{Plan: "p", Seq: 7}})
	s.close()
	b, _ := os.ReadFile(f.Name())
	if !strings.Contains(string(b), "cannot be drawn any further") || !strings.HasSuffix(string(b), showCursor) {
		t.Errorf("%q", b)
	}
}

func TestBenchNamesWhatItIsGiven(t *testing.T) {
	ref, err := bench{}.Put(t.Context(), "text", "text", strings.NewReader("stone"))
	if err != nil || ref.Size != 5 || ref.Hash.IsZero() {
		t.Errorf("%+v %v", ref, err)
	}
	bench{}.Beat()
	if err := (bench{}).Spawned(capability.Process{}); err != nil {
		t.Error(err)
	}
}

func TestReadsNoMoreThanAPlanMayHave(t *testing.T) {
	if _, err := readAtMost("-", endless{}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := readAtMost("-", io.MultiReader(broke{})); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

type broke struct{}

func (broke) Read([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A failure is told once, though the law settles it in a record of its own; one without an attempt is told by that.
func TestAFailureIsToldOnce(t *testing.T) {
	var b bytes.Buffer
	l := newLines()
	settled := map[string]any{"status": "failed", "why": "no luck"}
	l.write(&b, entry(t, lifecycle.TaskEnded, "t", lifecycle.Engine, lifecycle.Ended{Outcome: lifecycle.Failed, Error: "no luck"}))
	l.write(&b, entry(t, lifecycle.TaskSettled, "t", lifecycle.Engine, settled))
	l.write(&b, entry(t, lifecycle.TaskSettled, "group", lifecycle.Engine, settled))
	l.write(&b, entry(t, lifecycle.TaskStarted, "t", lifecycle.Engine, struct{}{}))
	l.write(&b, entry(t, lifecycle.TaskSettled, "t", lifecycle.Engine, settled))
	if n := strings.Count(b.String(), "failed"); n != 3 {
		t.Errorf("%d failures are told of 3:\n%s", n, b.String())
	}
}

func TestSecretsInTheSettings(t *testing.T) {
	read := func(text string) (config, error) {
		path := t.TempDir() + "/cairn.yaml"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return readConfig(path)
	}
	c, err := read("secrets: {A: {env: X}, B: {file: ~/b}, C: {command: [pass, show, c], timeout: 5s}}")
	want := map[string]Secret{"A": {Env: "X"}, "B": {File: "~/b"}, "C": {Command: []string{"pass", "show", "c"}, Timeout: "5s"}}
	if err != nil || !reflect.DeepEqual(c.secrets, want) {
		t.Error(err, c.secrets)
	}
	for _, text := range []string{"secrets: [A]", "secrets: {A: hush}", "secrets: {A: {value: hush}}", "secrets: {A: {env: [hush]}}", "secrets: {A: {command: {b: hush}}}"} {
		_, err := read(text)
		if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" || strings.Contains(err.Error()+fault.HintOf(err), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatADryRunDidNotComeTo(t *testing.T) {
	p, faults := plan.Read("p.yaml", []byte(`
plan: p
tasks:
  - {id: done, uses: shell, run: a}
  - {id: fan, uses: shell, run: a, each: "[1, 2]"}
  - {id: pure, uses: noop}
  - {id: person}
  - {id: never, uses: shell, run: a}
  - id: group
    subplan: {tasks: [{id: in, uses: shell, run: a}, {id: out, uses: shell, run: a}]}
`), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	lookup := func(id string) (capability.Contract, capability.Runner, bool) {
		class := map[string]capability.Class{"shell": capability.Repeatable, "noop": capability.Pure}[id]
		return capability.Contract{ID: id, Repeat: class}, nil, class != ""
	}
	got := beyond(p, lookup, []Step{{Task: "done"}, {Task: "fan-1"}, {Task: "group/in"}})
	if want := []string{"never", "group/out"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
