package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/runner/http"
	"github.com/cairn-plan/cairn/internal/runner/manifest"
)

// A page is a session: its blocks are taken in order, in one project of its own. The first word after the fence is
// the language: yaml, json and dsl are plans, unless the second is manifest or settings; a last word with a dot in it
// names the file that the block becomes. A console block is run.
type page struct {
	file  string
	lines []string
}

type block struct {
	at    string // file:line
	info  []string
	lines []string
}

func pages(t *testing.T) (all []page) {
	t.Helper()
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no page fits %s: %v", pattern, err)
		}
		for _, f := range files {
			all = append(all, readPage(t, f))
		}
	}
	return all
}

func readPage(t *testing.T, file string) page {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return page{filepath.ToSlash(file), strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
}

func (p page) blocks() (all []block) {
	var open *block
	for i, l := range p.lines {
		switch fence, is := strings.CutPrefix(l, "```"); {
		case is && open == nil:
			open = &block{at: fmt.Sprintf("%s:%d", p.file, i+1), info: append(strings.Fields(fence), "")}
		case is:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, l)
		}
	}
	return all
}

// prose is the page without its blocks.
func (p page) prose() (lines []string) {
	inside := false
	for _, l := range p.lines {
		if strings.HasPrefix(l, "```") {
			inside = !inside
		} else if !inside {
			lines = append(lines, l)
		}
	}
	return lines
}

func (b block) text() string { return strings.Join(b.lines, "\n") + "\n" }

// file is what the block is to be called, if it says so.
func (b block) file() string {
	for _, word := range b.info[1:] {
		if strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}

func (b block) isPlan() bool {
	return slices.Contains([]string{"yaml", "json", "dsl"}, b.info[0]) && b.info[1] != "manifest" && b.info[1] != "settings"
}

func TestPlansOnPagesAreSound(t *testing.T) {
	found := 0
	for _, p := range pages(t) {
		caps, err := assembly.Capabilities(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.blocks() {
			if b.info[0] == "yaml" && b.info[1] == "manifest" {
				found++
				entry, err := manifest.Load(b.at, []byte(b.text()), http.New(nil))
				if err == nil {
					err = caps.Add(entry.Contract, entry.Runner)
				}
				if err != nil {
					t.Errorf("%s: %v", b.at, err)
				}
			}
			if b.isPlan() {
				found++
				name := map[string]string{"yaml": "page.yaml", "json": "page.json", "dsl": "page.plan"}[b.info[0]]
				_, faults := plan.Read(name, []byte(b.text()), plan.Options{Capabilities: caps})
				if len(faults.Errors()) > 0 {
					t.Errorf("%s:\n%s", b.at, faults.Errors())
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page has a plan in the form this test reads")
	}
}

func TestConsoleBlocksTellTheTruth(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pages speak to sh")
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/cairn").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := 0
	for _, p := range pages(t) {
		blocks := p.blocks()
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.info[0] == "console" }) {
			continue
		}
		ran++
		t.Run(p.file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("examples")); err != nil {
				t.Fatal(err)
			}
			s := session{t: t, dir: dir, env: append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
				"CAIRN_ACTOR=ann", "CAIRN_HOME=", "CAIRN_WORKERS=", "NO_COLOR=1", "LC_ALL=C.UTF-8")}
			for _, b := range blocks {
				s.take(b)
			}
		})
	}
	if ran == 0 {
		t.Error("no page has a console block")
	}
}

type session struct {
	t   *testing.T
	dir string
	env []string
}

func (s session) take(b block) {
	s.t.Helper()
	if name := b.file(); name != "" {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(b.text()), 0o644)); err != nil {
			s.t.Fatal(err)
		}
	}
	if b.info[0] != "console" {
		return
	}
	for i := 0; i < len(b.lines); {
		command, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			s.t.Fatalf("%s: a console block begins with $", b.at)
		}
		from := i + 1
		for i++; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); {
			i++
		}
		s.run(b.at, command, b.lines[from:i])
	}
}

var exitRemark = regexp.MustCompile(`# exit (\d+)$`)

func (s session) run(at, command string, want []string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if errors.Is(err, context.Canceled) || cmd.ProcessState == nil {
		s.t.Fatalf("%s: %s: %v", at, command, err)
	}
	exit := 0
	if m := exitRemark.FindStringSubmatch(command); m != nil {
		exit, _ = strconv.Atoi(m[1]) // they are digits
	}
	if got := cmd.ProcessState.ExitCode(); got != exit || !pattern(want).Match(out) {
		s.t.Errorf("%s: $ %s\nexits %d, not %d, and says\n%s\nnot\n%s", at, command, got, exit, out, strings.Join(want, "\n"))
	}
}

// pattern matches an output as a page tells it: three dots stand for anything, alone on a line for any lines or none.
func pattern(lines []string) *regexp.Regexp {
	var b strings.Builder
	for _, l := range lines {
		if l == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(l), `\.\.\.`, `.*`) + `[ \t]*\n`)
	}
	return regexp.MustCompile(`^(?:` + b.String() + `)$`)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ (.*)$`)
	notSlug = regexp.MustCompile(`[^a-z0-9 _-]`)
)

func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(strings.Join(p.prose(), "\n"), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := p
			if file != "" {
				path := filepath.Join(filepath.Dir(p.file), file)
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: %s leads nowhere", p.file, m[1])
					continue
				}
				if anchor != "" {
					target = readPage(t, path)
				}
			}
			if anchor != "" && !slices.ContainsFunc(target.prose(), func(l string) bool {
				return heading.MatchString(l) && slug(heading.FindStringSubmatch(l)[1]) == anchor
			}) {
				t.Errorf("%s: %s has no heading for #%s", p.file, target.file, anchor)
			}
		}
	}
}

// slug is the anchor that a heading gets where pages are shown.
func slug(heading string) string {
	return strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

const formatPage = "docs/plan-format.md"

// row is a line of a table whose first cell is a name in backquotes.
type row struct {
	name  string
	cells []string
}

var quoted = regexp.MustCompile("`([^`]+)`")

// rows are those under a heading.
func (p page) rows(under string) (all []row) {
	inside := false
	for _, l := range p.prose() {
		if h := heading.FindStringSubmatch(l); h != nil {
			inside = h[1] == under
		}
		if name := quoted.FindStringSubmatch(l); inside && strings.HasPrefix(l, "| `") {
			all = append(all, row{name[1], strings.Split(strings.Trim(l, "|"), "|")})
		}
	}
	return all
}

// names are the words in backquotes in a cell.
func names(cell string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

// Every struct of the language has a table, every key a row, and every other spelling a place in it.
func TestPlanFormatIsWhole(t *testing.T) {
	p := readPage(t, formatPage)
	others := spellings(t)
	for _, typ := range structs(reflect.TypeFor[plan.Plan](), nil) {
		rows := p.rows(typ.Name())
		var keys []string
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if key == "-" {
				continue
			}
			keys = append(keys, key)
			at := slices.IndexFunc(rows, func(r row) bool { return r.name == key })
			if at < 0 || len(rows[at].cells) < 3 {
				t.Errorf("%s, %s: no row for %s", formatPage, typ.Name(), key)
				continue
			}
			if got, want := names(rows[at].cells[1]), others[typ.Name()][key]; !slices.Equal(got, want) {
				t.Errorf("%s, %s: %s is also written %v, and the page says %v", formatPage, typ.Name(), key, want, got)
			}
		}
		for _, r := range rows {
			if !slices.Contains(keys, r.name) {
				t.Errorf("%s, %s: there is no key %s", formatPage, typ.Name(), r.name)
			}
		}
	}
	same(t, p, "Faults", codes(t))
	same(t, p, "Variables", expr.Variables)
	var kinds []string
	for _, k := range plan.Kinds {
		kinds = append(kinds, string(k))
	}
	same(t, p, "Kinds", kinds)
}

// Every key of a manifest has a row.
func TestManifestKeysAreOnThePage(t *testing.T) {
	var keys []string
	inspect(t, "internal/runner/manifest/manifest.go", func(n ast.Node) {
		typ, ok := n.(*ast.TypeSpec)
		if !ok || typ.Name.Name != "manifest" {
			return
		}
		for _, f := range typ.Type.(*ast.StructType).Fields.List {
			keys = append(keys, reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"))
		}
	})
	same(t, readPage(t, "docs/operations.md"), "Manifests", keys)
}

func same(t *testing.T, p page, under string, want []string) {
	t.Helper()
	var got []string
	for _, r := range p.rows(under) {
		got = append(got, r.name)
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s, %s: no row for %s", p.file, under, w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s, %s: there is no %s", p.file, under, g)
		}
	}
}

// structs lists a struct and those that its fields lead to.
func structs(t reflect.Type, seen []reflect.Type) []reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	atoms := []reflect.Type{reflect.TypeFor[plan.Criterion](), reflect.TypeFor[plan.Money](), reflect.TypeFor[plan.Backoff](), reflect.TypeFor[plan.Rate]()}
	if t.Kind() != reflect.Struct || slices.Contains(seen, t) || slices.Contains(atoms, t) {
		return seen
	}
	seen = append(seen, t)
	for i := range t.NumField() {
		seen = structs(t.Field(i).Type, seen)
	}
	return seen
}

// spellings reads the aliases out of the source: type, key, other spellings.
func spellings(t *testing.T) map[string]map[string][]string {
	t.Helper()
	all := map[string]map[string][]string{}
	inspect(t, "internal/plan/record.go", func(n ast.Node) {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		call, ok := entry.Key.(*ast.CallExpr) // reflect.TypeFor[Plan]()
		if !ok {
			return
		}
		typ := call.Fun.(*ast.IndexExpr).Index.(*ast.Ident).Name
		all[typ] = map[string][]string{}
		for _, e := range entry.Value.(*ast.CompositeLit).Elts {
			alias, key := literal(e.(*ast.KeyValueExpr).Key), literal(e.(*ast.KeyValueExpr).Value)
			all[typ][key] = append(all[typ][key], alias)
			slices.Sort(all[typ][key])
		}
	})
	if len(all["Task"]) == 0 {
		t.Fatal("the aliases are not where this test looks for them")
	}
	return all
}

// codes reads the codes of faults out of the source.
func codes(t *testing.T) (all []string) {
	t.Helper()
	for _, file := range []string{"internal/plan/fault.go", "internal/plan/source/node.go"} {
		before := len(all)
		inspect(t, file, func(n ast.Node) {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && regexp.MustCompile(`^"[EW]_[A-Z_0-9]+"$`).MatchString(l.Value) {
				all = append(all, literal(l))
			}
		})
		if len(all) == before {
			t.Fatalf("%s has no codes", file)
		}
	}
	return all
}

func inspect(t *testing.T, file string, visit func(ast.Node)) {
	t.Helper()
	for _, f := range sources(t) {
		if f.path == file {
			ast.Inspect(f.syntax, func(n ast.Node) bool { visit(n); return true })
		}
	}
}

func literal(e ast.Expr) string { return strings.Trim(e.(*ast.BasicLit).Value, `"`) }
