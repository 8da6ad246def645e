package source

import (
	"fmt"
	"strings"
	"testing"
)

// show writes a tree with the place of every node.
func show(n Node) string {
	at := fmt.Sprintf("%d:%d", n.Line, n.Col)
	var parts []string
	for i := range n.Items {
		parts = append(parts, show(n.Items[i]))
	}
	switch n.Kind {
	case List:
		return at + "[" + strings.Join(parts, " ") + "]"
	case Map:
		return at + "{" + strings.Join(parts, " ") + "}"
	case Null:
		return at + " null"
	}
	return at + " " + n.Text
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		form      Form
		src, want string
	}{
		{JSON, "{\"a\": [1, -2.5e3, true],\n \"é\": \"x\\n\\u00e9\\ud83d\\ude00\\/\", \"b\": null}",
			"1:1{1:2 a 1:7[1:8 1 1:11 -2.5e3 1:19 true] 2:2 é 2:7 x\né😀/ 2:34 b 2:39 null}"},
		{JSON, "\"\"", "1:1 "},
		{JSON, " [ ] ", "1:2[]"},
		{YAML, "a: [1, x]\nb:\n  - {c: ~}\n", "1:1{1:1 a 1:4[1:5 1 1:8 x] 2:1 b 3:3[3:5{3:6 c 3:9 null}]}"},
		{YAML, "a: &x {k: 0x1F}\nb: *x\n", "1:1{1:1 a 1:4{1:8 k 1:11 31} 2:1 b 1:4{1:8 k 1:11 31}}"},
		{YAML, "a: !!str 5\nb: !!int \"5\"\n1: 2\n", "1:1{1:1 a 1:4 5 2:1 b 2:4 5 3:1 1 3:4 2}"},
		{YAML, "", "1:1 null"},
		{DSL, "plan p \"P\"\n  version: 2\ntask a kind:x\n  needs: b, c\n  on success -> d e\n",
			"1:1{1:6 plan 1:6 p 1:8 title 1:8 P 2:3 version 2:12 2 1:1 tasks 1:1[3:1{3:6 task 3:6 a 3:8 kind 3:13 x 4:3 needs 4:9[4:10 b 4:13 c] 5:3 next 5:3[5:3{5:3 on 5:6 success 5:16 to 5:16[5:17 d 5:19 e]}]}]}"},
		{DSL, "task a\n  run: |-\n    x\n\n      y\n  expect:\n    - judge: good\n    - \"q\\\"\"\n    # note\n  input: {k: v}\n",
			"1:1{1:6 task 1:6 a 2:3 run 2:8 x\n\n  y 6:3 expect 6:10[7:7{7:7 judge 7:7 good} 8:7 q\"] 10:3 input 10:10{10:11 k 10:14 v}}"},
	} {
		n, problems := Read(c.form, []byte(c.src))
		if got := show(n); got != c.want || len(problems) > 0 {
			t.Errorf("%s %q:\n got %s %v\nwant %s", c.form, c.src, got, problems, c.want)
		}
	}
}

func TestFormOf(t *testing.T) {
	for _, c := range []struct {
		file, src string
		want      Form
	}{
		{"a.yaml", "{", YAML}, {"a.YML", "{", YAML}, {"a.json", "a: b", JSON}, {"a.plan", "{", DSL},
		{"", "# note\n\n{\"a\": 1}", JSON}, {"-", "[1]", JSON}, {"x.txt", "plan p\n", DSL}, {"x", "task a \"A\"", DSL},
		{"x", "plan: p\n", YAML}, {"x", "\uFEFFplan: p", YAML}, {"x", "", YAML}, {"x", "task : a", YAML},
	} {
		if got := FormOf(c.file, []byte(c.src)); got != c.want {
			t.Errorf("%q %q is %s, want %s", c.file, c.src, got, c.want)
		}
	}
}

func TestPlainScalars(t *testing.T) {
	for text, want := range map[string]Kind{
		"": Null, "~": Null, "null": Null, "true": Bool, "FALSE": Bool, "yes": String, "1": Number, "-1": Number, "+1": Number, "1.5": Number,
		".5": Number, "1.": Number, "1e3": Number, "0x1f": Number, "0o17": Number, "007": String, "1_000": String, ".inf": String, "-": String,
		"1.2.3": String, "0x": String, "1-2": String, "+-1": String, "1e999": String, "2026-01-01": String, "10m": String, "0": Number, "0.5": Number,
	} {
		kind, out := plain(text)
		if kind != want {
			t.Errorf("%q is %s, want %s", text, kind, want)
		}
		if kind == Number && !isJSONNumber(out) {
			t.Errorf("%q becomes %q, which is no JSON", text, out)
		}
	}
}

func TestCanonical(t *testing.T) {
	for src, want := range map[string]string{
		`{"b": 1, "a": [true, null, "x\u0001"]}`:   `{"a":[true,null,"x\u0001"],"b":1}`,
		`{"\ud83d\ude00": 1, "\ufb33": 2, "z": 3}`: "{\"z\":3,\"😀\":1,\"\ufb33\":2}",
		`[1.0, 1e2, -0, 100000000000000000, 0.10]`: `[1,100,0,100000000000000000,0.1]`,
		`{}`: `{}`, `[]`: `[]`,
	} {
		n, problems := Read(JSON, []byte(src))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got, err := Canonical([]byte("x"), n)
		if err != nil || string(got) != "x"+want {
			t.Errorf("%s: got %s, %v", src, got, err)
		}
	}
	n, _ := Read(JSON, []byte(`[12345678901234567890]`))
	if got, err := Canonical(nil, n); err == nil {
		t.Errorf("a number that would be rounded passes as %s", got)
	}
}

func TestComments(t *testing.T) {
	src := "# top\na: 1 # one\nb: |\n  # text\nc: \"x\n  # text\" # two\nd: 'it''s # text' # three\ne: it's # four\n\nf: [a, # five\n  'b']\n"
	want := "1 # top; 2 > # one; 6 > # two; 7 > # three; 8 > # four; 9 ; 10 > # five; 12 "
	var got []string
	for _, c := range Comments(YAML, []byte(src)) {
		mark := ""
		if c.Trailing {
			mark = "> "
		}
		got = append(got, fmt.Sprintf("%d %s%s", c.Line, mark, c.Text))
	}
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if c := Comments(JSON, []byte("{}")); c != nil {
		t.Errorf("JSON has comments: %v", c)
	}
	if c := Comments(YAML, []byte("a: [")); c != nil {
		t.Errorf("broken YAML has comments: %v", c)
	}
}

// TestNoWhereToHide feeds the readers every cut of a text, so that no end of input is unexpected.
func TestNoWhereToHide(t *testing.T) {
	texts := map[Form]string{
		JSON: `{"a": [1, -2.5e-3, true, null, "x\né😀\\"], "b": {"c": false}}`,
		YAML: "a: &x [1, 'it''s', \"q\\n\"]\nb: {<<: {c: d}, e: *x}\nf: |\n  text\n",
		DSL:  "plan p \"P\"\n  goal: {a: b}\ntask a \"A\" kind:x\n  needs: b\n  run: |\n    x\n  expect:\n    - y\n  on failure -> b\n",
	}
	for form, text := range texts {
		if _, problems := Read(form, []byte(text)); len(problems) > 0 {
			t.Fatal(form, problems)
		}
		for i := range text {
			n, problems := Read(form, []byte(text[:i]))
			for _, p := range problems {
				if p.Line < 1 || p.Col < 1 || p.Msg == "" {
					t.Errorf("%s cut at %d: %+v", form, i, p)
				}
			}
			if form == JSON && (len(problems) == 0 || n.Kind != Null) {
				t.Errorf("%q passes", text[:i])
			}
		}
	}
}

func TestWriters(t *testing.T) {
	n, _ := Read(JSON, []byte(`{"plan": "p", "tasks": [{"id": "a", "needs": [], "k": [[1, [2, {"x": null}]], {}]}]}`))
	want := "plan: p\ntasks:\n  - id: a\n    needs: []\n    k:\n      -\n        - 1\n        -\n          - 2\n          - {x: null}\n      - {}\n"
	if got := string(WriteYAML(n, nil)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again, problems := Read(YAML, []byte(want))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	a, _ := Canonical(nil, n)
	b, _ := Canonical(nil, again)
	if string(a) != string(b) {
		t.Errorf("%s became %s", a, b)
	}
	c, problems := Read(JSON, WriteJSON(n))
	if d, _ := Canonical(nil, c); len(problems) > 0 || string(d) != string(a) {
		t.Errorf("%s became %s, %v", a, d, problems)
	}
}
