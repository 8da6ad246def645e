//go:build unix

package shell

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

func resolve(t *testing.T, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDeclaredOutputs(t *testing.T) {
	for _, c := range []struct {
		run  string
		want capability.Want
		give string // JSON of the output, or
		says string // part of the error
	}{
		{`echo hi`, capability.Want{From: "stdout"}, `"hi"`, ""},
		{`printf 'hi\n\n'`, capability.Want{From: "stdout", Type: "markdown"}, `"hi\n"`, ""},
		{`printf hi`, capability.Want{From: "stdout"}, `"hi"`, ""},
		{`true`, capability.Want{From: "stdout"}, `""`, ""},
		{`echo 42 >&2`, capability.Want{From: "stderr", Type: "number"}, `42`, ""},
		{`echo '-1.5e3'`, capability.Want{From: "stdout", Type: "number"}, `-1.5e3`, ""},
		{`echo 0x10`, capability.Want{From: "stdout", Type: "number"}, ``, "declared as number but the command gave \"0x10\""},
		{`true`, capability.Want{From: "stdout", Type: "number"}, ``, "number"},
		{`echo null`, capability.Want{From: "stdout", Type: "number"}, ``, "number"},
		{`echo '"5"'`, capability.Want{From: "stdout", Type: "number"}, ``, "number"},
		{`echo true`, capability.Want{From: "stdout", Type: "bool"}, `true`, ""},
		{`echo yes`, capability.Want{From: "stdout", Type: "bool"}, ``, "bool"},
		{`echo '{"a": [1]}'`, capability.Want{From: "stdout", Type: "json"}, `{"a": [1]}`, ""},
		{`echo '{"a": '`, capability.Want{From: "stdout", Type: "json"}, ``, "json"},
		{`echo '[1, "b"]'`, capability.Want{From: "stdout", Type: "list"}, `[1, "b"]`, ""},
		{`printf 'a\r\nb c\n\nd\n'`, capability.Want{From: "stdout", Type: "list"}, `["a","b c","","d"]`, ""},
		{`echo '[ERROR] x'`, capability.Want{From: "stdout", Type: "list"}, `["[ERROR] x"]`, ""},
		{`true`, capability.Want{From: "stdout", Type: "list"}, `[]`, ""},
		{`head -c 5000000 /dev/zero`, capability.Want{From: "stdout", Type: "json"}, ``, "5000000 bytes"},
		{`head -c 17000000 /dev/zero`, capability.Want{From: "stdout", Type: "json"}, ``, "cut at 16777216"},
		{`true`, capability.Want{From: "stdin"}, ``, "a command does not have"},
		{`true`, capability.Want{}, ``, "output x was declared but never produced"},
		{`echo x=1 > "$CAIRN_OUTPUT"`, capability.Want{}, `"1"`, ""},
		{`echo x=1 > "$CAIRN_OUTPUT"`, capability.Want{Type: "number"}, `1`, ""},
		{`echo x=1 > "$CAIRN_OUTPUT"`, capability.Want{Type: "bool"}, ``, "bool"},
		{`echo '{"x": 1}' > "$CAIRN_OUTPUT"`, capability.Want{}, `"1"`, ""},
		{`echo '{"x": null}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "json"}, `null`, ""},
		{`echo '{"x": "word"}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "json"}, `"word"`, ""},
		{`echo '{"x": "5"}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "number"}, `5`, ""},
		{`echo '{"x": 5}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "number"}, `5`, ""},
		{`echo '{"x": {}}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "list"}, ``, "list"},
		{`echo '{"x": [1]}' > "$CAIRN_OUTPUT"`, capability.Want{Type: "list"}, `[1]`, ""},
		{`true`, capability.Want{Path: "../x"}, ``, "leaves the project"},
		{`true`, capability.Want{Path: "/etc/passwd"}, ``, "leaves the project"},
		{`true`, capability.Want{Path: "none"}, ``, "output x was declared but path none was never produced"},
		{`mkdir d`, capability.Want{Path: "d"}, ``, "is no file"},
		{`mkfifo p`, capability.Want{Path: "p"}, ``, "is no file"},
		{`ln -s /etc/passwd l`, capability.Want{Path: "l"}, ``, "cannot be read"},
		{`rm -rf "$PWD"`, capability.Want{Path: "l"}, ``, "directory is gone"},
	} {
		c.want.Name = "x"
		cl, _ := call(t, map[string]any{"run": c.run}, c.want)
		if strings.Contains(c.says, "gone") {
			cl.Limits.Mode = capability.Off // a confined command cannot remove its workspace
		}
		r, err := New().Run(t.Context(), cl)
		name := c.run + " as " + c.want.Type
		if c.says == "" && (err != nil || string(r.Outputs["x"]) != c.give) {
			t.Errorf("%s: %s, %v", name, r.Outputs["x"], err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (fault.CodeOf(err) == fault.Internal || fault.HintOf(err) == "" && !strings.Contains(c.says, "gone")) {
			t.Errorf("%s: %v (%s) without a remedy", name, err, fault.CodeOf(err))
		}
	}
}

func TestArtifactsOfDeclaredOutputs(t *testing.T) {
	c, host := call(t, map[string]any{"run": `mkdir -p out; printf '\0\377' > out/bin; seq 30000`},
		capability.Want{Name: "bin", Path: "out/bin", Type: "file"}, capability.Want{Name: "log", From: "stdout"},
		capability.Want{Name: "stdout"}, capability.Want{Name: "rows", From: "stdout", Type: "list"})
	r, err := New().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if host.content["bin"] != "\x00\xff" || !strings.HasSuffix(host.content["stdout"], "30000\n") || !strings.HasSuffix(host.content["log"], "\n30000") {
		t.Errorf("bin %q, stdout %d, log %d bytes", host.content["bin"], len(host.content["stdout"]), len(host.content["log"]))
	}
	names := ""
	for _, a := range r.Artifacts {
		names += a.Name + ":" + a.Type + " "
	}
	if names != "stdout:text bin:file log: " {
		t.Errorf("artifacts %s", names)
	}
	var rows []string
	if json.Unmarshal(r.Outputs["rows"], &rows) != nil || len(rows) != 30000 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestOutputFile(t *testing.T) {
	for _, c := range []struct{ content, give, says string }{
		{"", `{}`, ""},
		{"a=1\nb = two = 2\n\n  \nc=\n", `{"a":"1","b":" two = 2","c":""}`, ""},
		{"a=1\na=2", `{"a":"2"}`, ""},
		{"a=1\r\nb=2\r\n", `{"a":"1","b":"2"}`, ""},
		{"text<<EOF\none=1\n\n two<<X\nEOF\nb=2\n", `{"b":"2","text":"one=1\n\n two\u003c\u003cX"}`, ""},
		{"e<<END\nEND", `{"e":""}`, ""},
		{"url=http://x/?a=<b>", `{"url":"http://x/?a=\u003cb\u003e"}`, ""},
		{` {"a": 1, "b": {"c": [true]}, "a": 2} `, `{"a":2,"b":{"c":[true]}}`, ""},
		{"just words\n", ``, "line 1: \"just words\""},
		{"a=1\n=2\n", ``, "line 2"},
		{"a b=1\n", ``, "line 1"},
		{"a<b=1\n", ``, "name<<END"},
		{"a<<\nb\n", ``, "name<<END"},
		{"x=1\na<<EOF\nb\n", ``, "line 2: the block of a has no line EOF"},
		{`{"a": }`, ``, "invalid character"},
		{`{"a": 1`, ``, "EOF"},
		{`{"a": 1} {"b": 2}`, ``, "more than one"},
		{`{1: 2}`, ``, "line 1"},
		{"a=\xff", ``, "not UTF-8"},
		{"a=" + strings.Repeat("x", 1<<20), ``, "over 1048576 bytes"},
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := readOutputs(file)
		b, _ := json.Marshal(o.values)
		if c.says == "" && (err != nil || string(b) != c.give) {
			t.Errorf("%q: %s, %v", c.content, b, err)
		}
		if c.says != "" && (!fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), c.says) || fault.HintOf(err) == "") {
			t.Errorf("%.40q: %v", c.content, err)
		}
	}
}

func TestUndeclaredOutputs(t *testing.T) {
	c, _ := call(t, map[string]any{"run": `echo a=1 >> "$CAIRN_OUTPUT"; printf 'b<<.\nx\ny\n.\n' >> "$CAIRN_OUTPUT"`})
	r, err := New().Run(t.Context(), c)
	if err != nil || output(t, r, "a") != "1" || output(t, r, "b") != "x\ny" {
		t.Errorf("%v, %s", err, r.Outputs)
	}
	c, _ = call(t, map[string]any{"run": `echo exit=0 >> "$CAIRN_OUTPUT"`})
	if r, err = New().Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "exit, which is always set") || string(r.Outputs["exit"]) != "0" {
		t.Errorf("%v, %s", err, r.Outputs)
	}
	c, _ = call(t, map[string]any{"run": `: > "$CAIRN_OUTPUT"`})
	if _, err = New().Run(t.Context(), c); err != nil {
		t.Error(err)
	}
	c, _ = call(t, map[string]any{"run": `mkfifo "$CAIRN_OUTPUT"`})
	if _, err = New().Run(t.Context(), c); err == nil {
		t.Error("a pipe was read")
	}
}
