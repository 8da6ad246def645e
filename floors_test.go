package cairn_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// floors is the drawing of docs/architecture.md, lowest first. Imports go down only. Rooms of one
// floor do not meet, except those that a room names here. A contract suite (journal/journaltest)
// needs no row: it sits beside its port and may use what the port uses, and the port.
var floors = []struct {
	name  string
	rooms map[string][]string
}{
	{"ground", map[string][]string{
		"fault":    nil, // everyone may use it
		"digest":   nil,
		"journal":  {"digest"},
		"artifact": {"digest"},
	}},
	{"law", map[string][]string{
		"expr":        nil,
		"plan/source": nil,
		"plan":        {"expr", "plan/source"},
		"capability":  {"budget"},
		"budget":      nil,
		"lifecycle":   {"plan", "capability", "gate", "budget"},
		"redact":      nil,
		"gate":        nil,
		"policy":      {"plan", "expr", "capability", "gate", "risk"},
		"risk":        nil,
		"layout":      nil,
	}},
	{"study", map[string][]string{
		"audit":              nil,
		"memory":             nil,
		"planner":            nil,
		"planner/offline":    {"planner"},
		"rehearsal":          nil,
		"planner/experience": nil,
		"planner/score":      nil,
		"view":               nil,
	}},
	{"engine", map[string][]string{
		"engine": nil,
	}},
	{"hands", map[string][]string{
		"runner/machine":          nil,
		"runner/sandbox":          nil,
		"runner/sandbox/entrance": {"runner/sandbox"},
		"runner/process":          {"runner/sandbox"},
		"runner/shell":            {"runner/process", "runner/sandbox"},
		"runner/sql":              {"runner/sandbox"},
		"runner/web":              nil,
		"runner/manifest":         {"runner/process"},
		"runner/file":             {"runner/sandbox"},
		"runner/git":              {"runner/process"},
		"runner/http":             {"runner/sandbox"},
		"runner/human":            nil,
		"runner/memory":           nil,
		"notify":                  nil,
		"runner/noop":             nil,
		"runner/model":            {"model"},
		"model":                   nil,
		"model/openai":            {"model"},
		"model/anthropic":         {"model"},
		"runner/pipeline":         nil,
		"runner/preview":          nil,
		"store/sqlite":            nil,
		"store/disk":              nil,
		"driver/local":            nil,
		"workspace":               nil,
		"secret":                  nil,
	}},
	{"doors", map[string][]string{
		"door/cli": nil,
	}},
	{"house", map[string][]string{
		"assembly":  nil,
		"cmd/cairn": {"assembly"},
	}},
}

// apart lists floors that do not meet although the one is above the other: a door is handed what it
// needs by assembly, which alone knows every concrete type.
var apart = map[string][]string{"doors": {"hands"}}

// forbidden lists the packages that a floor does without. What ends in / is a whole tree. Law is
// called unchanged by any driver and must give the same answer for ever; study proves histories
// where there is no network and no process to start.
var forbidden = map[string][]string{
	"law": {
		"os", "os/", "net", "net/http", "net/http/", "syscall", "io/ioutil", "unsafe",
		"math/rand", "math/rand/v2", "crypto/rand", "database/sql", "log", "log/slog",
		"sync", "sync/atomic",
	},
	"study": {"os/exec", "net", "net/http", "net/http/", "math/rand", "math/rand/v2"},
}

// excused lists what a room may use all the same, and why.
var excused = map[string]map[string]string{
	"expr":       {"sync": "caches compiled programs", "sync/atomic": "caches compiled programs"},
	"plan":       {"sync": "caches the shape of its structs"},
	"rehearsal":  {"math/rand/v2": "draws from a seed that is handed in"},
	"capability": {"sync": "the registry is read by all workers", "sync/atomic": "the registry is read by all workers"},
}

// unspoken lists names that law does not mention, by package: all of them read the clock.
var unspoken = map[string][]string{
	"time": {
		"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
		"Local", "LoadLocation",
	},
	"context": {"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"},
}

const (
	module       = "github.com/cairn-plan/cairn/"
	maxLines     = 500
	maxAtTheRoot = 14
	seeDocs      = "add a row to floors_test.go and a line to docs/architecture.md"
)

// A drawer of models is junk; model is what this house calls a language model, and nothing else.
var junkDrawer = regexp.MustCompile(`^(utils?|common|helpers?|types|models|managers?|misc)$`)

func TestImportsGoDown(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		from, known := find(f.room)
		if !known {
			t.Errorf("%s is on no floor: %s", f.room, seeDocs)
			continue
		}
		for _, imported := range f.houseImports() {
			to, known := find(imported)
			switch {
			case !known:
				t.Errorf("%s imports %s, which is on no floor: %s", f.path, imported, seeDocs)
			case to.suite:
				t.Errorf("%s imports %s: only tests use a contract suite", f.path, imported)
			case to.level > from.level:
				t.Errorf("%s imports %s: imports go down, and %s is above %s", f.path, imported, to.floor, from.floor)
			case slices.Contains(apart[from.floor], to.floor):
				t.Errorf("%s imports %s: %s and %s meet in assembly only", f.path, imported, from.floor, to.floor)
			case to.level == from.level && imported != "fault" && !slices.Contains(from.friends, imported):
				t.Errorf("%s imports %s: rooms of one floor do not meet", f.path, imported)
			}
		}
	}
}

func TestFloorsDoWithout(t *testing.T) {
	for _, f := range sources(t) {
		at, known := find(f.room)
		if !known || f.test || at.suite {
			continue
		}
		for _, imported := range f.imports() {
			if !matches(forbidden[at.floor], imported) || excused[f.room][imported] != "" {
				continue
			}
			t.Errorf("%s imports %s, which %s does without", f.path, imported, at.floor)
		}
		if at.floor == "law" {
			f.checkPurity(t)
		}
	}
}

// checkPurity finds goroutines and readings of the clock.
func (f source) checkPurity(t *testing.T) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: law starts no goroutine", f.at(n))
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(unspoken[f.importNamed(pkg.Name)], n.Sel.Name) {
				t.Errorf("%s: law does not use %s.%s: time comes in as an argument", f.at(n), pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
}

func TestRoomsAreFurnished(t *testing.T) {
	docs, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	comment := map[string]string{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		if lines := bytes.Count(f.text, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines: split it by noun, at most %d", f.path, lines, maxLines)
		}
		comment[f.room] += f.syntax.Doc.Text()
		for _, name := range []string{path.Base(f.room), f.syntax.Name.Name, strings.TrimSuffix(path.Base(f.path), ".go")} {
			if junkDrawer.MatchString(name) {
				t.Errorf("%s: %s says nothing about what is inside", f.path, name)
			}
		}
	}
	for room, text := range comment {
		if text == "" {
			t.Errorf("%s has no package comment: state its model, who owns what and what happens on failure", room)
		}
		if !bytes.Contains(docs, []byte("`"+room+"`")) {
			t.Errorf("docs/architecture.md has no line for `%s`", room)
		}
	}
}

func TestRootIsSmall(t *testing.T) {
	text, err := os.ReadFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	ignored := strings.Fields(strings.ReplaceAll(string(text), "/", ""))
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(ignored, e.Name()) {
			seen = append(seen, e.Name())
		}
	}
	if len(seen) > maxAtTheRoot {
		t.Errorf("%d entries at the root, at most %d: %s", len(seen), maxAtTheRoot, strings.Join(seen, " "))
	}
}

// direct matches the requirements of go.mod that are our own choice.
var direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

func TestDependenciesHaveReasons(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	const decision = "docs/decisions/0001-dependencies.md"
	reasons, err := os.ReadFile(decision)
	if err != nil {
		t.Fatal(err)
	}
	found := direct.FindAllSubmatch(mod, -1)
	if len(found) == 0 {
		t.Fatal("go.mod requires nothing in the form this test reads")
	}
	for _, m := range found {
		if !bytes.Contains(reasons, []byte("`"+string(m[1])+"`")) {
			t.Errorf("%s has no row for %s", decision, m[1])
		}
	}
}

// place is where a room is in the drawing.
type place struct {
	floor   string
	level   int
	friends []string // rooms of its floor that it may use
	suite   bool
}

// find looks a room up. A suite stands where its port stands.
func find(room string) (place, bool) {
	for level, floor := range floors {
		if friends, ok := floor.rooms[room]; ok {
			return place{floor.name, level, friends, false}, true
		}
	}
	if !strings.HasSuffix(room, "test") {
		return place{}, false
	}
	port := path.Dir(room)
	at, ok := find(port)
	at.suite, at.friends = true, append(slices.Clone(at.friends), port)
	return at, ok
}

// matches reports whether name is in the list, or under one of its trees.
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		return name == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(name, entry)
	})
}

// source is one Go file of the house.
type source struct {
	path   string
	room   string
	test   bool
	text   []byte
	syntax *ast.File
}

var positions = token.NewFileSet()

// parsed reads every Go file under internal and cmd, whatever system it is built for.
var parsed = sync.OnceValues(func() (all []source, err error) {
	visit := func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		syntax, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{
			path: name, room: strings.TrimPrefix(path.Dir(name), "internal/"),
			test: strings.HasSuffix(name, "_test.go"), text: text, syntax: syntax,
		})
		return err
	}
	err = errors.Join(filepath.WalkDir("internal", visit), filepath.WalkDir("cmd", visit))
	return all, err
})

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (f source) at(n ast.Node) token.Position { return positions.Position(n.Pos()) }

func (f source) imports() (paths []string) {
	for _, spec := range f.syntax.Imports {
		paths = append(paths, importPath(spec))
	}
	return paths
}

// houseImports lists the rooms that f imports.
func (f source) houseImports() (rooms []string) {
	for _, p := range f.imports() {
		if room, ours := strings.CutPrefix(p, module); ours {
			rooms = append(rooms, strings.TrimPrefix(room, "internal/"))
		}
	}
	return rooms
}

// importNamed finds the path of the import that f calls name.
func (f source) importNamed(name string) string {
	for _, spec := range f.syntax.Imports {
		p := importPath(spec)
		if spec.Name == nil && path.Base(p) == name || spec.Name != nil && spec.Name.Name == name {
			return p
		}
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string { return strings.Trim(spec.Path.Value, "`\"") }
