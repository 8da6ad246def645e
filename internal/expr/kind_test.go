package expr_test

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

func TestKind(t *testing.T) {
	cel, prose, broken := "cel", "prose", "broken"
	for src, want := range map[string]string{
		"backwards compatible":                              prose,
		"configurable retry policy":                         prose,
		">= 2 independent confirmations":                    prose,
		">= 5 canonical sources (IETF, official repos)":     prose,
		"Each source has title, link, reason":               prose,
		"No critical contradictions across primary sources": prose,
		"top10 is empty":                                    prose,
		"uses at most 50 MB of memory":                      prose,
		"결과가 비어 있지 않다":                                      prose,
		"a word in a list":                                  prose,
		"memory":                                            prose,
		"plan":                                              prose,
		"done":                                              prose,
		"":                                                  prose,
		" ":                                                 prose,
		"README.md":                                         prose,
		"errors == 0":                                       prose,
		"1 + 1":                                             prose,
		`"quoted"`:                                          prose,
		"pre-exit hooks are documented":                     prose,
		`says "outputs" and stops`:                          prose,
		"network.online":                                    cel,
		"network.online == true":                            cel,
		"disk.free >= 50MB":                                 cel,
		"disk.free >= 50 MB":                                cel,
		"memory.has_space >= 50MB":                          cel,
		"true":                                              cel,
		" false ":                                           cel,
		"item":                                              cel,
		"item.ready":                                        cel,
		"size(outputs.claims) >= 3":                         cel,
		`"a" in outputs.list`:                               cel,
		"outputs_of.research-sources.notes != ''": cel,
		"all outputs are documented":              broken,
		"exit":                                    broken,
		"outputs":                                 broken,
		"exit = 0":                                broken,
		"exit is 0":                               broken,
		"size(outputs.list)":                      broken,
		"outputs.n >":                             broken,
		"stderr":                                  broken,
		"outputs_of.x.n > foo":                    broken,
		"outptus.n > 3":                           broken,
		`stder.contains("x")`:                     broken,
		"outputs.n > 3 " + strings.Repeat("&& true", 900): broken,
	} {
		isCEL, err := expr.Kind(src)
		got := prose
		if isCEL {
			got = cel
		} else if err != nil {
			got = broken
			if fault.CodeOf(err) != fault.Invalid || fault.HintOf(err) == "" {
				t.Errorf("%q: %v without a remedy", src, err)
			}
		}
		if got != want || isCEL && err != nil {
			t.Errorf("%.60q is %s (%v), want %s", src, got, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	known := func(id string) bool { return id == "options" }
	for _, c := range []struct {
		src   string
		scope expr.Scope
		want  string
	}{
		{`outputs_of.options.pick == "A"`, expr.Scope{Vars: expr.Before, Task: known}, ""},
		{`outputs_of.option.pick == "A"`, expr.Scope{Vars: expr.Before, Task: known}, `outputs of "option"`},
		{`outputs.n > 1`, expr.Scope{Vars: expr.Before}, "reads outputs, which has no value yet"},
		{`outputs.n > 1`, expr.Scope{Vars: expr.After}, ""},
		{`outputs.n > 1`, expr.Scope{}, ""},
		{`exit`, expr.Scope{}, "gives int, not true or false"},
		{`exit`, expr.Scope{Gives: expr.Any}, ""},
		{`outputs_of.options.gaps`, expr.Scope{Gives: expr.List}, ""},
		{`[1, 2]`, expr.Scope{Gives: expr.List}, ""},
		{`exit`, expr.Scope{Gives: expr.List}, "gives int, not a list"},
		{`exit ==`, expr.Scope{}, "broken"},
	} {
		err := expr.Check(c.src, c.scope)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.src, err, c.want)
		}
	}
}
