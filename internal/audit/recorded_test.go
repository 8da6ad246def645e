package audit_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

var record = flag.Bool("record", false, "record receipts beside the old ones, under this version's number")

// Receipts that any version has handed out are sound by this one: an auditor may come after years.
func TestRecordedReceiptsStaySound(t *testing.T) {
	if *record {
		recordReceipts(t)
	}
	files, err := filepath.Glob("testdata/*.receipt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no receipts: %v", err)
	}
	for _, name := range files {
		file, err1 := os.ReadFile(name)
		key, err2 := os.ReadFile(strings.TrimSuffix(name, ".receipt") + ".pub")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")) // a checkout may have changed them
		if c := wantSound(t, file, trusting(t, string(key))); !c.Trusted {
			t.Errorf("%s: its key is not trusted", name)
		}
	}
}

func recordReceipts(t *testing.T) {
	t.Helper()
	d := released(t)
	put := func(name, key string, file []byte) {
		t.Helper()
		for path, text := range map[string]string{name + ".receipt": string(file), name + ".pub": key + "\n"} {
			if err := os.WriteFile(filepath.Join("testdata", path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	key := d.home().Verifier.String()
	put("v1-release", key, d.receipt("release"))
	d.rotate("to record it")
	r := d.submit(wide(200))
	r.together(func() {
		for i := range 200 {
			r.end(fmt.Sprintf("t%d", i), strings.Repeat("x", i))
		}
	})
	put("v1-wide", key, d.receipt("wide"))
}

// A plan that was revised in its course is told with all its texts.
func TestReceiptOfARevisedPlan(t *testing.T) {
	d := newDesk(t)
	r := d.submit(release)
	r.end("build", "built")
	p, blob := d.file(strings.Replace(release, "make ship", "make ship FAST=1", 1))
	r.take("person:cid", lifecycle.PlanRevised, "", &lifecycle.Revised{Spec: blob.ID, Size: blob.Size, Base: 1, How: lifecycle.ByFile, Why: "it took too long",
		Tasks: 3, Plan: p, Capabilities: map[string]lifecycle.Installed{"shell": {Version: "1.0.0", Repeat: "repeatable"}}})
	r.take("person:bob", lifecycle.GateDecided, "agree", &lifecycle.Decided{Approved: true, Why: "go"})
	r.end("ship", "out")
	c := wantSound(t, d.receipt("release"), nil)
	s := c.Summary
	if s.Spec != blob.ID || len(s.Revisions) != 1 || s.Revisions[0].By != "person:cid" || s.State != lifecycle.PlanCompleted {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(string(s.Revisions[0].Says), "it took too long") {
		t.Errorf("%s", s.Revisions[0].Says)
	}
}
