package expr_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/expr"
)

// soon fails a test when an input took so long that it could hold up an engine.
func soon(t *testing.T, start time.Time, what string) {
	if d := time.Since(start); d > 10*time.Second {
		t.Fatalf("%.200q took %s", what, d)
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"size(outputs.list) >= 3", "disk.free >= 50MB", "outputs_of.a-b.n", "exit = 0", "'50MB", `r"\"`, "top10 is empty", "/*", "// x",
		"[1,2].map(x, [x,x]).exists(y, y == y)", "stderr.matches('a*b')", "1.5.5KiB", "outputs_of.", "outputs_of.a-", "a ? b : c", "0x1FMB", "\x00\xff", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		defer soon(t, time.Now(), src)
		isCEL, broken := expr.Kind(src)
		if isCEL && broken != nil {
			t.Fatalf("%q is CEL and broken: %v", src, broken)
		}
		err := expr.Check(src, expr.Scope{})
		if isCEL && err != nil {
			t.Fatalf("%q is CEL but does not check: %v", src, err)
		}
		if p, err := expr.Compile(src); err == nil {
			if _, err := p.Eval(t.Context(), vars()); err == nil {
				return
			}
		}
	})
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"${a.b}", "$${a.b}", "${a.b[\"x\"]}", "${item}", "x ${a.b[0].c} y", "\"${a.b}\"", "'${a.b}'", "`${a.b}`", "$(echo ${a.b})", "${", "$$${a.b}"} {
		f.Add(s, "it's $(x)")
	}
	f.Add(strings.Repeat("${a.b[\"", 1<<14), "")
	f.Add(strings.Repeat("${", 1<<15), "")
	f.Fuzz(func(t *testing.T, s, value string) {
		defer soon(t, time.Now(), s)
		get := func(expr.Ref) (any, error) { return value, nil }
		refs := expr.Refs(s)
		for _, r := range refs {
			if s[r.Offset:r.Offset+len(r.Text)] != r.Text || len(expr.Refs(r.Text)) != 1 {
				t.Fatalf("%q: %+v", s, r)
			}
		}
		raw, err := json.Marshal(map[string]any{"k": []any{s}})
		if err != nil {
			t.Skipf("no JSON can be made of it: %v", err)
		}
		out, err := expr.Resolve(raw, get)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q: %s, %v", s, out, err)
		}
		line, err := expr.Text(s, true, get)
		if err == nil && len(refs) == 0 && line != strings.ReplaceAll(s, "$${", "${") {
			t.Fatalf("%q became %q without a reference", s, line)
		}
	})
}

func FuzzPipeline(f *testing.F) {
	for _, s := range []string{`search(query="x", n=3) -> links; fetch(links) -> docs`, "f('a')", "f({\"a\":[1]})", "a -> b", "f(x)\ng(y)", "f('\x94')", "f(1e999)", "f(-0)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, run string) {
		defer soon(t, time.Now(), run)
		p, ok := expr.ParsePipeline(run)
		if !ok {
			return
		}
		again, ok := expr.ParsePipeline(p.String())
		if !ok || !reflect.DeepEqual(again, p) {
			t.Fatalf("%q gives %q, which does not read back", run, p)
		}
	})
}
