package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/manifest"
)

func TestLoadRefuses(t *testing.T) {
	const ok = "id: a.b\nsummary: s\nrun: 'true'\n"
	for src, want := range map[string]string{
		"id: a.b\nsumary: s\nrun: x":               `m.yaml:2:1: there is no key "sumary"; did you mean "summary"?`,
		"id: a.b\nzzz: 1\nqqq: 2":                  "m.yaml:3:1: there is no key",
		ok + "needs: {netwrk: true}":               `m.yaml:4:9: there is no key "netwrk"; did you mean "network"?`,
		ok + "examples: [{say: x, with: {}}]":      `did you mean "says"?`,
		ok + "probe: {runs: x}":                    `did you mean "run"?`,
		ok + "id: c.d":                             `m.yaml:4:1: the key "id" is there twice`,
		ok + "inputs: &a {x: string}\noutputs: *a": "m.yaml:5:10: aliases are not read",
		ok + "cost_tier: many":                     "m.yaml:4: cost_tier is a string, and must be a whole number",
		ok + "cost_tier: .inf":                     "no number that JSON has",
		ok + "version: 1":                          "m.yaml:4: version is a number, and must be text (put it in quotes)",
		ok + "positional: x":                       "must be a list",
		ok + "needs: x":                            "must be a mapping",
		ok + "needs: {write: x}":                   "must be true or false",
		ok + "cost_tier: 9":                        "cost tier is 9",
		ok + "repeat: often":                       `repeat is "often"`,
		ok + "estimate: soon":                      "no duration",
		ok + "inputs: {x: strin}":                  "schema of its inputs is broken",
		ok + "outputs: {x: 5}":                     "schema of the outputs is broken",
		ok + "examples: [{says: x, with: {a: 1}}]\ninputs: {b: string}": `example 1: "b" is missing`,
		ok + "command: [x]":                                   "2 ways to call a.b",
		"id: a.b\nsummary: s":                                 "0 ways to call a.b",
		"id: A B\nsummary: s\nrun: x":                         "noun.verb",
		"id: a.b\nsummary: s\nurl: http://x\nprobe: {run: x}": "m.yaml:4: a manifest with a url takes no probe",
		ok + "probe: {}":                                      "m.yaml:4: the probe needs either run or command",
		"- a":                                                 "no mapping of keys",
		"":                                                    "no mapping of keys",
		"a: [":                                                "m.yaml: line 1:",
		strings.Repeat("#", 2<<20):                            "at most",
	} {
		_, err := manifest.Load("m.yaml", []byte(src), nil)
		if err == nil || !strings.Contains(err.Error(), want) || fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%.60q: %v, want %q", src, err, want)
		}
	}
}

func TestLoadDir(t *testing.T) {
	dir := t.TempDir()
	put := func(name, src string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("b.yaml", "id: b.b\nsummary: s\nrun: x\ncost_tier: 0x2\n")
	put("a.yml", "id: a.a\nsummary: s\nrun: x\nneeds: {write: true}\ninputs: {when: {type: string, default: 2026-01-02}, none: {default: null}}\n")
	put("readme.md", "no manifest")
	if err := os.Mkdir(filepath.Join(dir, "c.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := manifest.LoadDir(dir, nil)
	if err != nil || len(all) != 2 || all[0].Contract.ID != "a.a" || all[1].Contract.CostTier != 2 || !all[0].Contract.Needs.Write {
		t.Fatalf("%v, %v", all, err)
	}
	put("d.yaml", "id: [")
	if all, err = manifest.LoadDir(dir, nil); len(all) != 2 || !fault.Is(err, fault.Invalid) {
		t.Errorf("one broken: %d, %v", len(all), err)
	}
	put("e.yaml", "ids: x")
	if all, err = manifest.LoadDir(dir, nil); len(all) != 2 || !strings.Contains(err.Error(), "d.yaml") || !strings.Contains(err.Error(), "e.yaml:1:1") {
		t.Errorf("two broken: %d, %v", len(all), err)
	}
	if all, err := manifest.LoadDir(filepath.Join(dir, "none"), nil); all != nil || err != nil {
		t.Errorf("no folder: %v, %v", all, err)
	}
	if _, err := manifest.LoadDir(filepath.Join(dir, "readme.md"), nil); err == nil {
		t.Error("a file is no folder")
	}
	if _, err := manifest.LoadFile(filepath.Join(dir, "none.yaml"), nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(greet)
	f.Add("id: a.b\nsummary: s\nrun: x\ninputs: {x: {y: [1, 2.5, ~, yes]}}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, src string) {
		if e, err := manifest.Load("m.yaml", []byte(src), nil); err == nil && e.Contract.Validate() != nil {
			t.Errorf("%q is not sound", src)
		}
	})
}
