package source

import (
	"strings"
	"testing"
)

func TestWriteDSL(t *testing.T) {
	src := `{"plan": "p", "title": "A \"plan\"", "goal": {"objective": "fly"}, "tasks": [
	 {"id": "a", "title": "A", "kind": "design", "uses": "shell", "needs": ["b", "c"], "run": "x\ny\n", "with": {"k": [1, "two"]},
	  "expect": ["exit == 0", {"judge": "fine"}, {"judge": "\"q\""}], "next": {"success": ["b"], "failure": ["c"]}},
	 {"id": "b", "uses": "odd name", "needs": ["odd id"], "run": "one line", "next": {}, "pre": ["judge: not"]},
	 {"id": "c", "run": "'quoted'", "next": {"success": []}, "expect": [[1]]}]}`
	n, problems := Read(JSON, []byte(src))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tasks, _ := n.Get("tasks")
	notes := Notes{
		&tasks.Items[0]:          {Head: []string{"", "# first"}},
		&tasks.Items[0].Items[8]: {Head: []string{"# needs"}, Line: "# why"},
		nil:                      {Head: []string{"# end"}},
	}
	got, err := WriteDSL(n, notes)
	if err != nil {
		t.Fatal(err)
	}
	want := `plan p "A \"plan\""
  goal: {objective: fly}

# first
task a "A" kind:design using:shell
  # needs
  # why
  needs: b c
  run: |
    x
    y
  input:
    k: [1, two]
  expect:
    - exit == 0
    - judge: fine
    - judge: "\"q\""
  on success -> b
  on failure -> c

task b
  uses: odd name
  needs:
    - odd id
  run: one line
  next: {}
  pre:
    - "judge: not"

task c
  run: "'quoted'"
  next:
    success: []
  expect:
    - [1]
# end
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if _, err := WriteDSL(Node{Kind: Map, Items: []Node{Text("id"), Text("a"), Text("x-a b"), Text("c")}}, nil); err == nil {
		t.Error("a key that cannot be written passes")
	}
	again, problems := Read(DSL, got)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if list, _ := again.Get("tasks"); list.Len() != 3 {
		t.Errorf("reads back as %s", show(again))
	}
	var found []string
	for _, c := range Comments(DSL, got) {
		if c.Text != "" {
			found = append(found, c.Text)
		}
	}
	if s := strings.Join(found, " "); s != "# first # needs # why # end" {
		t.Errorf("comments %s", s)
	}
}

func TestWriteNotes(t *testing.T) {
	n, _ := Read(YAML, []byte("a: 1\nb: [x, z]\nc:\n  - {k: v}\nd: |\n  t\n"))
	list, _ := n.Get("b")
	items, _ := n.Get("c")
	got := string(WriteYAML(n, Notes{
		&n.Items[0]:              {Head: []string{"", "# a", ""}, Line: "# one"},
		&list.Items[1]:           {Head: []string{"# y"}, Line: "# two"},
		&items.Items[0].Items[0]: {Head: []string{"# k"}, Line: "# three"},
		&n.Items[6]:              {Line: "# four"},
		nil:                      {Head: []string{"", "# end", ""}},
	}))
	want := "# a\n\na: 1 # one\nb:\n  - x\n  # y\n  - z # two\nc:\n  # k\n  - k: v # three\nd: | # four\n  t\n\n# end\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		form           Form
		src, code, msg string
	}{
		{JSON, `{"a": 1, "a": 2}`, Duplicate, `"a" stands here twice`},
		{JSON, `["\q"]`, Syntax, "escape"}, {JSON, `["\u12"]`, Syntax, "hexadecimal"}, {JSON, `["\ud800"]`, Syntax, "surrogate"},
		{JSON, "[\"é\\t\x01\"]", Syntax, "control character"}, {JSON, `[1.]`, Syntax, "no JSON number"}, {JSON, `[1 2]`, Syntax, "comma or ]"},
		{JSON, `{"a": 1 "b"}`, Syntax, "comma or }"}, {JSON, `{"a"}`, Syntax, "colon"}, {JSON, `[] []`, Syntax, "follows"},
		{JSON, strings.Repeat("[", MaxDepth+2), Syntax, "nested"}, {JSON, "\xff", NotUTF8, "UTF-8"},
		{JSON, strings.Repeat(" ", MaxBytes+1), TooBig, "bytes long"},
		{YAML, "a: 1\na: 2\n", Duplicate, "twice"}, {YAML, "a: *b\n", Syntax, "anchor"}, {YAML, "a: !x y\n", Syntax, "tag"},
		{YAML, "a: &x [*x]\n", Alias, "inside what it names"}, {YAML, "a: b: c\n", Syntax, "mapping values"}, {YAML, "{a: b", Syntax, "',' or '}'"},
		{YAML, "a: 1\n---\nb: 2\n", Syntax, "second document"}, {YAML, "? {a: b}\n: c\n", Syntax, "key must be a word"}, {YAML, "<<: 3\n", Syntax, "merges maps"},
		{YAML, strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2), Syntax, "nested"},
		{DSL, "words\n", Syntax, "opens neither"}, {DSL, "task a\n  x y\n", Syntax, "no entry"}, {DSL, "task a\n  on x -> y\n", Syntax, "route"},
		{DSL, "task a \"x\" \"y\"\n", Syntax, "second title"}, {DSL, "task a kind:x\n  kind: y\n", Duplicate, "twice"}, {DSL, "task a\n  k: [\n", Syntax, "YAML"},
		{DSL, "task a\nplan p\n", Syntax, "stands first"}, {DSL, "  x: y\n", Syntax, "belongs to no task"}, {DSL, "task a\n\tx: y\n", Syntax, "tab"},
	} {
		_, problems := Read(c.form, []byte(c.src))
		if len(problems) == 0 || problems[0].Code != c.code || !strings.Contains(problems[0].Msg, c.msg) || problems[0].Remedy == "" {
			t.Errorf("%s %.40q: %+v", c.form, c.src, problems)
		}
	}
}
