package view

import (
	"reflect"
	"strings"
	"testing"
)

// sampleDiff holds what is easily misread: lines that look like headings, strange names, no text at all.
const sampleDiff = `diff --git a/notes.txt b/notes.txt
index 1111111..2222222 100644
--- a/notes.txt
+++ b/notes.txt
@@ -1,3 +1,3 @@ of old
 same
--- removed, and begins like a heading
+++ added, likewise
-diff --git a/x b/x
\ No newline at end of file
+tab	and ` + "\x1b[2J" + `
\ No newline at end of file
diff --git a/new dir/a b/new dir/a
new file mode 100644
index 0000000..2222222
--- /dev/null
+++ b/new dir/a	
@@ -0,0 +1 @@
+a
diff --git "a/caf\303\251" "b/caf\303\251"
deleted file mode 100644
index 2222222..0000000
--- "a/caf\303\251"
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/old.txt b/moved.txt
similarity index 90%
rename from old.txt
rename to moved.txt
index 1111111..2222222 100644
--- a/old.txt
+++ b/moved.txt
@@ -1 +1 @@
-a
+b
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/pic.png b/pic.png
index 1111111..2222222 100644
Binary files a/pic.png and b/pic.png differ
`

func TestChanges(t *testing.T) {
	want := []FileChange{
		{Path: "notes.txt", How: "changed", Added: 2, Removed: 2},
		{Path: "new dir/a", How: "added", Added: 1},
		{Path: "café", How: "deleted", Removed: 1},
		{Path: "moved.txt", From: "old.txt", How: "renamed", Added: 1, Removed: 1},
		{Path: "run.sh", How: "changed"},
		{Path: "pic.png", How: "changed", Binary: true},
	}
	if got := Changes([]byte(sampleDiff)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for _, damaged := range []string{"", "@@", "@@ -x,y +z @@\n+a", "+++ b/a\n", "diff --git \n@@ -1,9 +1,9 @@\n+a"} {
		if n := len(Changes([]byte(damaged))); n > 1 {
			t.Errorf("%q has %d files", damaged, n)
		}
	}
}

func TestDiffIsHarmless(t *testing.T) {
	for name, color := range map[string]bool{"diff": false, "diff-colour": true} {
		var b strings.Builder
		if err := Diff(&b, []byte(sampleDiff), color); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b[2J") {
			t.Error("a file clears the screen")
		}
		golden(t, name, b.String())
	}
}

func TestStat(t *testing.T) {
	files := append(Changes([]byte(sampleDiff)), FileChange{Path: "long.txt", How: "changed", Added: 300, Removed: 100})
	var b strings.Builder
	if err := Stat(&b, files, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff-stat", b.String())
}
