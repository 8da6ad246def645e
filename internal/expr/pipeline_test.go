package expr_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
)

func TestParsePipeline(t *testing.T) {
	for run, want := range map[string]string{
		"search(query) -> top10; fetch(top10) -> docs; rank(docs) -> sources\n":                                       "search(query) -> top10; fetch(top10) -> docs; rank(docs) -> sources",
		"search(query=\"idempotent HTTP methods retries\") -> links;\nfetch(links) -> docs; summarize(docs) -> notes": `search(query="idempotent HTTP methods retries") -> links; fetch(links) -> docs; summarize(docs) -> notes`,
		"web.search( 'it; (is)' , n = 3,\n deep=true )->x\n\nnoop()":                                                  `web.search("it; (is)", n=3, deep=true) -> x; noop()`,
		`f(-1.5e3, null, [1, "a"], {"b": {"c": []}}, inputs.q)`:                                                       `f(-1.5e3, null, [1,"a"], {"b":{"c":[]}}, inputs.q)`,
		"my-tool.run(a)": "my-tool.run(a)",
	} {
		p, ok := expr.ParsePipeline(run)
		if !ok || p.String() != want {
			t.Errorf("%s\n got %s, %v\nwant %s", run, p, ok, want)
		}
		again, ok := expr.ParsePipeline(p.String())
		if !ok || !reflect.DeepEqual(again, p) {
			t.Errorf("%s does not read back: %s", p, again)
		}
	}
	p, _ := expr.ParsePipeline("a(x) -> y; b(y, inputs.z) -> x; a(x, y, w)")
	if got := fmt.Sprint(p.Names(), p.Free()); got != "[a b] [x inputs.z w]" {
		t.Errorf("names and free: %s", got)
	}
}

func TestProseIsNoPipeline(t *testing.T) {
	for _, run := range []string{
		"derive strategies A/B/C from notes; compare tradeoffs -> table",
		"run load(gen: [light, heavy], payload: [small, large], burst: [on, off])",
		"modify client; add retry middleware; unit + integration tests",
		"run with -race; add targeted unit tests",
		"go test ./...", "f(x) | g(y)", "f (x)", "f(x) -> ", "f(x) -> y z", "f(x) && g(y)", "echo $(date)", "f(x", "f(x,)", "f(,x)", "f(a=1, b)", "f(a b)",
		"f(x) g(y)", "f(a=)", "f('x)", "f('''x''')", "f(a-b)", ".f(x)", "f.(x)", "f..g(x)", "(x)", "1f(x)", "f(x) -> 1", "f(x) -> true", "f({x)", "", ";", " \n",
		strings.Repeat("f(x);", 100), "f(" + strings.Repeat("x,", 100) + "x)", "f(" + strings.Repeat("[", 20000) + ")", strings.Repeat("(", 1<<20),
	} {
		if p, ok := expr.ParsePipeline(run); ok {
			t.Errorf("%.60q was read as %s", run, p)
		}
	}
}
