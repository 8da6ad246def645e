package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/file"
)

func edits(path string, pairs ...string) string {
	type edit struct {
		Find    string `json:"find"`
		Replace string `json:"replace"`
		All     bool   `json:"all,omitempty"`
	}
	var all []edit
	for i := 0; i < len(pairs); i += 2 {
		find, every := strings.CutPrefix(pairs[i], "*")
		all = append(all, edit{find, pairs[i+1], every})
	}
	raw, _ := json.Marshal(map[string]any{"path": path, "edits": all})
	return string(raw)
}

func diff(path, text string) string {
	m := map[string]string{"diff": text}
	if path != "" {
		m["path"] = path
	}
	raw, _ := json.Marshal(m)
	return string(raw)
}

func TestEdits(t *testing.T) {
	for _, c := range []struct{ was, with, want string }{
		{"a b c", edits("f", "b", "B"), "a B c"},
		{"a b c", edits("f", "a", "b2", "b2 b", "x"), "x c"},
		{"a a", edits("f", "*a", "b"), "b b"},
		{"a b c", edits("f", "b", ""), "a  c"},
		{"x y", edits("f", "x", "x1"), "x1 y"},
		{"x1 y", edits("f", "x", "x1"), "x1 y"},     // made already
		{"a B c", edits("f", "b", "B"), "a B c"},    // made already
		{"zaaz", edits("f", "zaz", "zaaz"), "zaaz"}, // made already
	} {
		dir := t.TempDir()
		write(t, dir, "f", c.was)
		for range 2 { // what is plain may be repeated
			_, _, err := perform(t, "file.patch", dir, c.with)
			if err != nil || content(t, dir, "f") != c.want {
				t.Errorf("%q with %s: %q, %v; want %q", c.was, c.with, content(t, dir, "f"), err, c.want)
			}
			if (file.Patcher{}).Class(json.RawMessage(c.with)) == capability.Once {
				break
			}
		}
	}
	for _, c := range []struct{ was, with, want string }{
		{"a b", edits("f", "x", "y"), `f: edit 1: "x" is not in the file`},
		{"a b", edits("f", "a", "b", "x", ""), `f: edit 2`},
		{"a a", edits("f", "a", "b"), "2 times"},
		{"a", edits("g", "a", "b"), "no file g"},
		{"a", edits("../g", "a", "b"), "no path inside"},
		{"a", `{"path": "f"}`, "do not fit"},
		{"a", `{"path": "f", "edits": [{"find": "", "replace": ""}]}`, "do not fit"},
	} {
		dir := t.TempDir()
		write(t, dir, "f", c.was)
		if _, _, err := perform(t, "file.patch", dir, c.with); err == nil || !strings.Contains(err.Error(), c.want) || content(t, dir, "f") != c.was {
			t.Errorf("%q with %s: %q, %v; want %q", c.was, c.with, content(t, dir, "f"), err, c.want)
		}
	}
}

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func TestDiffs(t *testing.T) {
	for name, c := range map[string]struct{ was, diff, want string }{
		"replace":       {tenLines, "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@ func\n 2\n-3\n+three\n 4\n", strings.Replace(tenLines, "3", "three", 1)},
		"two hunks":     {tenLines, "--- f\t2026-01-01\n+++ f\t2026-01-02\n@@ -1,2 +1,3 @@\n 1\n+1.5\n 2\n@@ -9,2 +10,1 @@\n 9\n-10\n", "1\n1.5\n2\n3\n4\n5\n6\n7\n8\n9\n"},
		"moved":         {"0\n" + tenLines, "--- f\n+++ f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n", "0\n" + strings.Replace(tenLines, "3", "three", 1)},
		"no header":     {tenLines, "@@ -1 +1 @@\n-1\n+one\n", "one" + tenLines[1:]},
		"git":           {"a\n", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "b\n"},
		"add at end":    {"a\n", "--- f\n+++ f\n@@ -1 +1,2 @@\n a\n+b\n", "a\nb\n"},
		"add unified 0": {"a\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+b\n", "a\nb\n"},
		"cut at end":    {"a\nb\n", "--- f\n+++ f\n@@ -1,2 +1 @@\n a\n-b\n", "a\n"},
		"no newline":    {"a", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "b"},
		"gains newline": {"a", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n"},
		"same end":      {"x\na", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n", "y\na"},
		"crlf":          {"a\r\nb\r\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", "a\r\nc\r\n"},
		"bare blank":    {"a\n\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n"},
	} {
		dir := t.TempDir()
		write(t, dir, "f", c.was)
		with := diff("f", c.diff)
		for range 2 { // a diff may be repeated
			if _, _, err := perform(t, "file.patch", dir, with); err != nil || content(t, dir, "f") != c.want {
				t.Errorf("%s: %q, %v; want %q", name, content(t, dir, "f"), err, c.want)
			}
		}
	}
}

func TestDiffOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "1\n")
	write(t, dir, "old", "x\n")
	with := diff("", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/sub/new\n@@ -0,0 +1,2 @@\n+n\n+m\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
	for range 2 {
		res, _, err := perform(t, "file.patch", dir, with)
		if err != nil || content(t, dir, "a") != "2\n" || content(t, dir, "sub/new") != "n\nm\n" {
			t.Fatalf("%s, %v", res.Outputs, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "old")); !os.IsNotExist(err) {
			t.Errorf("old is still there: %v", err)
		}
		if !strings.Contains(string(res.Outputs["files"]), `{"deleted":true,"path":"old"}`) {
			t.Errorf("files: %s", res.Outputs["files"])
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"nothing":                                                                      "holds no change",
		"--- f\n+++ f\n@@ what":                                                        "no head of a hunk",
		"--- f\n+++ f\n@@ -1,2 +1 @@\n-1":                                              "its head says 2 and 1",
		"--- f\n+++ f\n@@ -1 +1 @@\n*1\n":                                              "begins neither",
		"--- f\n+++ f\n@@ -1 +1 @@\n-x\n+y\n":                                          "its lines are not in the file",
		"--- f\n+++ f\n@@ -5,2 +5,1 @@\n-s\n+t\n":                                      "its head says",
		"--- f\n+++ f\n@@ -5 +5 @@\n-s\n+t\n":                                          "more than one other place",
		"--- f\n+++ g\n@@ -1 +1 @@\n-1\n+2\n":                                          "renames f to g",
		"--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+1\n":                                    "is there already",
		"--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n":                                    "not the file that the diff deletes",
		"--- /dev/null\n+++ new\n@@ -3 +3 @@\n-1\n+1\n":                                "its lines are not in the file",
		"--- none\n+++ none\n@@ -1 +1 @@\n-1\n+2\n":                                    "no file none",
		"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-1\n+2\n":                                "no path inside",
		"@@ -1 +1 @@\n-1\n+2\n":                                                        "does not say which file",
		"Binary files a/f and b/f differ\n":                                            "binary",
		"--- f\n+++ f\n@@ -99999999999999999999 +1 @@\n-x\n+y\n":                       "not in the file",
		"--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n--- none\n+++ none\n@@ -1 +1 @@\n-1\n+2\n": "no file none",
	} {
		dir := t.TempDir()
		was := "1\ns\ns\n"
		write(t, dir, "f", was)
		if _, _, err := perform(t, "file.patch", dir, diff("", text)); err == nil || !strings.Contains(err.Error(), want) || content(t, dir, "f") != was {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	half := "--- f\n+++ f\n@@ -1 +1 @@\n-1\n+one\n@@ -3 +3 @@\n-3\n+three\n"
	dir := t.TempDir()
	write(t, dir, "f", "one\n2\n3\n")
	if _, _, err := perform(t, "file.patch", dir, diff("f", half)); err == nil || !strings.Contains(err.Error(), "1 of 2 hunks are in the file already") {
		t.Errorf("half made: %v", err)
	}
	two := "--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n--- g\n+++ g\n@@ -1 +1 @@\n-1\n+2\n"
	if _, _, err := perform(t, "file.patch", t.TempDir(), diff("f", two)); err == nil || !strings.Contains(err.Error(), "path names one") {
		t.Errorf("two files for one path: %v", err)
	}
}

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		now, with string
		done      bool
		wrong     string
	}{
		{"a c", edits("f", "b ", ""), true, ""},
		{"a b c", edits("f", "b ", ""), false, ""},
		{"B b", edits("f", "*b", "bb"), false, "looks the same before"},
		{"a B", edits("f", "b", "B"), true, ""},
		{"a b", edits("f", "b", "B"), false, ""},
		{"x1", edits("f", "x", "x1"), true, ""},
		{"x", diff("f", "@@ -1 +1 @@\n-a\n+b\n"), false, ""},
		{"x", edits("none", "a", "b"), false, "no file"},
		{"x", edits("..", "a", "b"), false, "no path"},
		{"x", `{}`, false, "either a diff or edits"},
	} {
		dir := t.TempDir()
		write(t, dir, "f", c.now)
		res, done, err := (file.Patcher{}).Probe(t.Context(), capability.Call{With: json.RawMessage(c.with), Dir: dir})
		if done != c.done || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q with %s: %v, %v", c.now, c.with, done, err)
		}
		if done && res.Outputs["files"] == nil {
			t.Errorf("%q: a probe that found it done gives no outputs", c.now)
		}
	}
	for with, want := range map[string]capability.Class{edits("f", "a", ""): capability.Once, edits("f", "a", "b"): capability.Repeatable,
		edits("f", "*a", "aa"): capability.Once, diff("f", "x"): capability.Repeatable, `[`: capability.Once} {
		if got := (file.Patcher{}).Class(json.RawMessage(with)); got != want {
			t.Errorf("%s is %s, want %s", with, got, want)
		}
	}
}

func TestUnreadableFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "locked/f", "x")
	if err := os.Chmod(filepath.Join(dir, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o755) })
	if _, err := os.ReadFile(filepath.Join(dir, "locked/f")); err == nil {
		t.Skip("nothing is locked for this user")
	}
	if _, _, err := perform(t, "file.read", dir, `{"path": "locked/f"}`); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("1\n2\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n")
	f.Add("", "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+x\n")
	f.Add("a", "@@ -1 +1 @@\n-a\n\\ No newline\n+b\n")
	f.Fuzz(func(t *testing.T, was, text string) {
		dir := t.TempDir()
		write(t, dir, "f", was)
		_, _, err := perform(t, "file.patch", dir, diff("f", text))
		if err != nil && content(t, dir, "f") != was {
			t.Fatalf("a refused diff changed the file: %v", err)
		}
	})
}
