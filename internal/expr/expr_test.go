package expr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

func vars() map[string]any {
	return map[string]any{
		"outputs": map[string]json.RawMessage{"list": json.RawMessage(`[1, 2, 3]`), "n": json.RawMessage(`3`), "f": json.RawMessage(`2.5`),
			"name": json.RawMessage(`"x"`)},
		"outputs_of": map[string]any{"options": map[string]any{"pick": "A"}, "my-task": map[string]any{"n": json.Number("7")},
			"a/b": map[string]any{"ok": true}, "a": map[string]any{"n": int64(1)}},
		"inputs": map[string]any{"q": "text"},
		"item":   true, "index": 4, "exit": 1, "stdout": "", "stderr": "a timeout", "error": "", "attempt": 2,
		"env":     map[string]string{"HOME": "/h"},
		"network": map[string]any{"online": true},
		"disk":    map[string]any{"free": int64(60_000_000)},
		"memory":  map[string]any{"has_space": int64(10)},
		"plan":    map[string]any{"name": "p"},
	}
}

func TestEval(t *testing.T) {
	for src, want := range map[string]any{
		`size(outputs.list) >= 3`:                    true,
		`outputs.n == 3 && outputs.n > 2`:            true,
		`outputs.f * 2.0`:                            5.0,
		`outputs.n + 1`:                              int64(4),
		`outputs.f > 2`:                              true,
		`outputs_of.options.pick == "A"`:             true,
		`outputs_of.my-task.n == 7`:                  true,
		`outputs_of.a/b.ok`:                          true,
		`outputs_of.a.n - outputs_of.a.n`:            int64(0),
		`has(outputs.list) && !has(outputs.nothing)`: true,
		`exit == 1 && stderr.contains("timeout")`:    true,
		`network.online`:                             true,
		`disk.free >= 50MB`:                          true,
		`disk.free >= 50 MB && 1.5KB == 1500`:        true,
		`memory.has_space >= 50MB`:                   false,
		`4KiB`:                                       int64(4096),
		`'50MB' + "4KiB" + r'1GB\'`:                  `50MB4KiB1GB\`,
		`"""a"50MB"""`:                               `a"50MB`,
		`outputs.list.map(x, x * 2)`:                 []any{int64(2), int64(4), int64(6)},
		`{"a": [null, 1u], "b": duration("90s")}`:    map[string]any{"a": []any{nil, uint64(1)}, "b": "1m30s"},
		`timestamp("2026-01-02T03:04:05Z")`:          "2026-01-02T03:04:05Z",
		`b"ab"`:                                      "ab",
		`{1: true}`:                                  map[string]any{"1": true},
		`item`:                                       true,
		`env.HOME.startsWith("/") && index == 4`:     true,
		`inputs.q.upperAscii()`:                      "TEXT",
		`attempt < 3 && plan.name == "p"`:            true,
		"exit == 1 // a comment about 5MB":           true,
		`[1, 2].all(item, item > 0)`:                 true,
		`"a" in outputs_of`:                          true,
		`outputs_of["my-task"].n`:                    int64(7),
	} {
		p, err := expr.Compile(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got, err := p.Eval(t.Context(), vars())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, %v; want %#v", src, got, err, want)
		}
	}
}

func TestEvalRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`outputs.nothing > 3`:      "no such key",
		`outputs.name > 3`:         "no such overload",
		`[outputs.n][5] == 1`:      "index out of bounds",
		`1 / (outputs.n - 3) == 1`: "division by zero",
		`[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))`: "limit exceeded",
		`[[1]]` + strings.Repeat(`.map(l, l+l+l+l+l+l+l+l)`, 12) + `.exists(l, l == l)`: "limit exceeded",
		`["abcdefgh"]` + strings.Repeat(`.map(l, l+l+l+l+l+l+l+l)`, 12) + `[0]`:         "limit exceeded",
		`[[1]]` + strings.Repeat(`.map(l, [l,l,l,l,l,l,l,l])`, 12):                      "limit exceeded",
		`type(outputs.n)`: "is no result",
	} {
		p, err := expr.Compile(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		v, err := p.Eval(t.Context(), vars())
		if err == nil || !strings.Contains(err.Error(), want) || fault.CodeOf(err) != fault.Failed {
			t.Errorf("%.60s = %.60v, %v; want %q", src, v, err, want)
		}
	}
}

func TestEvalWithoutAValue(t *testing.T) {
	p, err := expr.Compile(`exit == 0`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "reads exit, which has no value here") {
		t.Errorf("err = %v", err)
	}
	if _, err := p.Eval(t.Context(), map[string]any{"exit": json.RawMessage(`{`)}); err == nil {
		t.Error("broken JSON was taken")
	}
	if _, err := p.Eval(t.Context(), map[string]any{"exit": map[string]any{"a": []any{json.RawMessage(`{`)}}}); err == nil || !strings.Contains(err.Error(), "a: [0]") {
		t.Errorf("broken JSON inside was taken: %v", err)
	}
	if _, err := p.Eval(t.Context(), map[string]any{"exit": map[string]json.RawMessage{"a": json.RawMessage(`{`)}}); err == nil {
		t.Error("broken JSON in a map was taken")
	}
}

func TestEvalStopsWithItsContext(t *testing.T) {
	p, err := expr.Compile(`outputs.list.all(a, outputs.list.all(b, a != b || a == b))`)
	if err != nil {
		t.Fatal(err)
	}
	long := make([]any, 2000)
	for i := range long {
		long[i] = int64(i)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := p.Eval(ctx, map[string]any{"outputs": map[string]any{"list": long}}); !errors.Is(err, why) {
		t.Errorf("err = %v", err)
	}
}

func TestBool(t *testing.T) {
	for src, want := range map[string]string{`item`: "", `outputs.n`: "the number 3", `outputs.name`: "text", `outputs.list`: "a list",
		`outputs`: "an object", `null`: "null", `outputs.x`: "no such key"} {
		p, err := expr.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Bool(t.Context(), vars())
		if want == "" && (!b || err != nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s = %v, %v", src, b, err)
		}
	}
}

func TestCompileExplains(t *testing.T) {
	for src, want := range map[string][2]string{
		`exit = 0`:                         {"broken at character 6", "equality is written =="},
		`size(outputs.list) >=`:            {"ends too early", "judge"},
		`outptus.n > 3`:                    {`reads "outptus" at character 1`, "did you mean outputs?"},
		`disk.free > 50MB && foo > 1`:      {`reads "foo" at character 21`, "outputs_of.TASK"},
		`"é" == "a" && 1MB > bar`:          {`reads "bar" at character 21`, ""},
		"exit == 0 &&\n  stder == ''":      {`reads "stder" at character 16`, "did you mean stderr?"},
		`exit == "1"`:                      {"no matching overload", "like with like"},
		`stdout.replace("", stdout) == ""`: {`calls replace, which nothing bounds`, "in a task"},
		strings.Repeat("x", 5000):          {"5000 bytes long", "in a task"},
		`stdout.matches("` + strings.Repeat("(a{100}){100}", 5) + `")`: {"invalid matches argument", ""},
		`stdout.matches("(a{30}){30}")`:                                {"regex program size", ""},
		`stdout.matches(stderr)`:                                       {"not written out", "contains"},
	} {
		_, err := expr.Compile(src)
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(fault.HintOf(err), want[1]) {
			t.Errorf("%.40s: %v (%s); want %q", src, err, fault.HintOf(err), want)
		}
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%.40s: code %s", src, fault.CodeOf(err))
		}
	}
}

func TestEqualSourcesCompileOnce(t *testing.T) {
	const src = `size(outputs.list) >= 3 && exit == 0`
	first, err := expr.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				p, err := expr.Compile(src)
				if p != first || err != nil {
					t.Errorf("compiled again: %v", err)
				}
				if _, err := expr.Compile(fmt.Sprintf("exit == %d", g*200+i)); err != nil {
					t.Error(err)
				}
				if ok, err := p.Bool(t.Context(), map[string]any{"outputs": map[string]any{"list": []any{1, 2, 3}}, "exit": 0}); !ok || err != nil {
					t.Errorf("%v %v", ok, err)
				}
			}
		})
	}
	all.Wait()
}

func TestReads(t *testing.T) {
	for src, want := range map[string]string{
		`outputs_of.b.x > 0 && outputs_of["a-1"].y && "c" in outputs_of && has(outputs_of.d)`: "[outputs_of] [a-1 b c d] false",
		`outputs_of[inputs.name].x`:                    "[outputs_of inputs] [] true",
		`[1].all(item, item > 0)`:                      "[] [] false",
		`[1].all(x, x > index) && {"a": exit}.a == 0`:  "[index exit] [] false",
		`outputs_of.x-y.n == outputs_of.p/q-1.n`:       "[outputs_of] [p/q-1 x-y] false",
		`[outputs.a].exists(outputs_of, outputs_of.b)`: "[outputs] [] false",
		`stderr.contains("outputs_of.x-y")`:            "[stderr] [] false",
	} {
		p, err := expr.Compile(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		tasks, all := p.Tasks()
		if got := fmt.Sprint(p.Vars(), tasks, all); got != want {
			t.Errorf("%s reads %s, want %s", src, got, want)
		}
		if p.String() != src {
			t.Errorf("%s became %s", src, p)
		}
	}
}
