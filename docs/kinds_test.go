package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

const events = "../internal/lifecycle/*event.go"

// derivedBodies names the struct that holds the body of each derived kind; what is written by hand has its members here.
var derivedBodies = map[journal.Kind]struct {
	name    string
	members []string
}{
	lifecycle.PlanEnded: {name: "endedBody"}, lifecycle.TaskWaiting: {name: "waitingBody"}, lifecycle.TaskRetried: {name: "retriedBody"},
	lifecycle.TaskRecovering: {name: "recoveringBody"}, lifecycle.TaskReopened: {name: "reopenedBody"}, lifecycle.TaskSettled: {name: "settledBody"},
	lifecycle.TaskStarted: {members: []string{"execution", "group", "key"}}, lifecycle.GateOpened: {name: "openedBody"}, lifecycle.GateEscalated: {name: "escalatedBody"},
	lifecycle.TaskUndoing: {members: []string{"execution"}}, lifecycle.RollbackEnded: {name: "rollbackBody"},
	lifecycle.BudgetReserved: {members: fields(reflect.TypeFor[budget.Amount]())}, lifecycle.BudgetSettled: {members: fields(reflect.TypeFor[budget.Amount]())},
	lifecycle.BudgetRefused: {name: "refusedBody"}, lifecycle.DeadlineMissed: {name: "missedBody"},
}

var named = regexp.MustCompile("`([^`]+)`")

// table reads the rows under a heading: the name in the first cell, and the cells after it.
func table(t *testing.T, heading string) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile(journalPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	inside := false
	for l := range strings.Lines(strings.ReplaceAll(string(raw), "\r\n", "\n")) {
		if strings.HasPrefix(l, "#") {
			inside = strings.TrimSpace(strings.TrimLeft(l, "#")) == heading
		}
		if inside && strings.HasPrefix(l, "| `") {
			cells := strings.Split(strings.Trim(l, "| \n"), "|")
			rows[named.FindStringSubmatch(cells[0])[1]] = cells[1:]
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table under %q", journalPage, heading)
	}
	return rows
}

// members are the names in backquotes of a cell.
func members(cell string) (out []string) {
	for _, m := range named.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

func TestEveryKindIsOnThePage(t *testing.T) {
	rows := table(t, "Kinds")
	kinds, bodies := declared(t)
	for _, k := range kinds {
		cells := rows[string(k)]
		delete(rows, string(k))
		if len(cells) < 3 {
			t.Errorf("%s: no row for %s", journalPage, k)
			continue
		}
		sort, want := "derived", derivedBodies[k].members
		if lifecycle.IsFact(k) {
			f, err := lifecycle.FactOf(journal.Record{Kind: k})
			if err != nil {
				t.Fatal(err)
			}
			sort, want = "fact", fields(reflect.TypeOf(f.Body).Elem())
		} else if d, ok := derivedBodies[k]; !ok {
			t.Errorf("%s is derived, and this test does not know its body", k)
		} else if d.name != "" {
			want = bodies[d.name]
		}
		slices.Sort(want)
		if strings.TrimSpace(cells[0]) != sort {
			t.Errorf("%s: %s is %s, and the page says %s", journalPage, k, sort, cells[0])
		}
		if got := members(cells[2]); !slices.Equal(got, want) {
			t.Errorf("%s: the body of %s has %v, and the page says %v", journalPage, k, want, got)
		}
	}
	for k := range rows {
		t.Errorf("%s: there is no kind %s", journalPage, k)
	}
	for part, typ := range map[string]reflect.Type{"installed": reflect.TypeFor[lifecycle.Installed](), "verdict": reflect.TypeFor[lifecycle.Verdict](),
		"ref": reflect.TypeFor[capability.Ref](), "amount": reflect.TypeFor[budget.Amount](), "tree": reflect.TypeFor[lifecycle.Tree]()} {
		want := fields(typ)
		slices.Sort(want)
		if cells := table(t, "Parts of bodies")[part]; len(cells) == 0 || !slices.Equal(members(cells[0]), want) {
			t.Errorf("%s: a %s has %v, and the page says %v", journalPage, part, want, cells)
		}
	}
}

// What was ever recorded is described.
func TestRecordedBodiesAreOnThePage(t *testing.T) {
	rows := table(t, "Kinds")
	files, err := filepath.Glob("../testdata/histories/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for entry := range strings.Lines(string(raw)) {
			var line struct{ Record string }
			var r struct {
				Kind string
				Body map[string]json.RawMessage
			}
			if err := json.Unmarshal([]byte(entry), &line); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(line.Record), &r); err != nil {
				t.Fatal(err)
			}
			for member := range maps.Keys(r.Body) {
				if cells := rows[r.Kind]; len(cells) < 3 || !slices.Contains(members(cells[2]), member) {
					t.Errorf("%s: %s has a member %s that the page does not tell", name, r.Kind, member)
				}
			}
		}
	}
}

// fields are the members of a body; those of an embedded struct are its own.
func fields(typ reflect.Type) (out []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			out = append(out, fields(f.Type)...)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// declared reads the kinds, and the members of each struct, out of the source.
func declared(t *testing.T) (kinds []journal.Kind, bodies map[string][]string) {
	t.Helper()
	names, err := filepath.Glob(events)
	if err != nil {
		t.Fatal(err)
	}
	bodies = map[string][]string{}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if typ, ok := n.Type.(*ast.SelectorExpr); ok && typ.Sel.Name == "Kind" {
				kinds = append(kinds, journal.Kind(strings.Trim(n.Values[0].(*ast.BasicLit).Value, `"`)))
			}
		case *ast.TypeSpec:
			s, ok := n.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				if f.Tag != nil {
					tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
					bodies[n.Name.Name] = append(bodies[n.Name.Name], tag)
				}
			}
		}
		return true
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, visit)
	}
	if len(kinds) == 0 {
		t.Fatalf("%s declares no kinds in the form this test reads", events)
	}
	return kinds, bodies
}
