package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func TestSheetHasOneSpelling(t *testing.T) {
	s := &sheet{title: "cairn proof v1"}
	s.add("none")
	s.add("some", "== trap 3", "", "— trap")
	text := s.text()
	back, err := parseSheet(text)
	if err != nil || back.text() != text || len(back.sections) != 2 {
		t.Fatalf("%v %q", err, text)
	}
	for i := range len(text) {
		if back, err := parseSheet(text[:i]); err == nil && back.text() != text[:i] {
			t.Errorf("cut at %d it was read as %q", i, back.text())
		}
	}
	if _, err := back.take("some"); !fault.Is(err, fault.Tampered) {
		t.Errorf("the wrong section was taken: %v", err)
	}
	for _, name := range []string{"none", "some"} {
		if _, err := back.take(name); err != nil {
			t.Error(err)
		}
	}
	_, err = back.take("more")
	wantFault(t, err, fault.Tampered, "cut short")
}

func FuzzSheet(f *testing.F) {
	s := &sheet{title: receiptTitle}
	s.add("a", "x", "", "y")
	s.add("b")
	f.Add(s.text())
	f.Add("x\n\n== a 01\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSheet(text); err == nil && s.text() != text {
			t.Errorf("%q was read as %q", text, s.text())
		}
	})
}

func TestPackedSections(t *testing.T) {
	long := slices.Repeat([]string{strings.Repeat("stone ", 20), ""}, 2000)
	s := &sheet{title: "t"}
	if err := s.addPacked("long", long); err != nil {
		t.Fatal(err)
	}
	if err := s.addPacked("short", long[:2]); err != nil {
		t.Fatal(err)
	}
	text := s.text()
	if len(text) > 10_000 || !strings.Contains(text, "== long.gz") || !strings.Contains(text, "== short 2") {
		t.Errorf("%d bytes:\n%.300s", len(text), text)
	}
	got, err := s.takePacked("long")
	if err != nil || !slices.Equal(got, long) {
		t.Errorf("%v, %d lines", err, len(got))
	}
	if got, err := s.takePacked("short"); err != nil || !slices.Equal(got, long[:2]) {
		t.Errorf("%v, %q", err, got)
	}
	for name, rows := range map[string][]string{"no base64": {"%%%%"}, "no gzip": {"aGVsbG8="}, "nothing": nil} {
		s := &sheet{}
		s.add("bad.gz", rows...)
		_, err := s.takePacked("bad")
		if !fault.Is(err, fault.Tampered) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&sheet{}).takePacked("gone"); !fault.Is(err, fault.Tampered) {
		t.Error(err)
	}
}
