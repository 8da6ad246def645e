//go:build unix

package assembly_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/plan"
)

const changes = `
plan: changes
tasks:
  - {id: edit, uses: shell, run: 'echo new > made.txt; echo more >> kept.txt; rm gone.txt'}
  - {id: write, uses: file.write, needs: [edit], with: {path: deep/er.txt, text: "x\n"}}
  - {id: call, uses: http.request, with: {url: "http://127.0.0.1:1/", method: POST}, outputs: {status: {type: number}, text: {type: text}}}
  - {id: uses, uses: shell, needs: [call], run: 'echo ${call.text}'}
  - {id: fails, uses: shell, needs: [write], run: 'exit 3'}
  - {id: push, uses: shell, run: 'git push --force; touch ../pushed'}
  - {id: leaks, uses: shell, run: 'echo ${secret:DRY}; exit 5'}
  - {id: read}
`

func TestDryRunShowsWhatWouldChangeAndChangesNothing(t *testing.T) {
	dir := folder(t, changes)
	for name, text := range map[string]string{"kept.txt": "one\n", "gone.txt": "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CAIRN_SECRET_DRY", "open-sesame-7")
	before := fingerprint(t, dir)
	h, err := assembly.Open(context.Background(), options(dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, faults := plan.Read("plan.yaml", []byte(changes), plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	steps, err := h.DryRun(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range steps {
		if all := fmt.Sprint(s); strings.Contains(all, "open-sesame-7") {
			t.Errorf("a secret is shown: %s", all)
		}
		got[s.Task] = s.Diff + "|" + s.Error + "|" + strings.Join(s.Unforeseen, ";")
	}
	for task, want := range map[string][]string{
		"edit":  {"+new", "+more", "-two"},
		"write": {"deep/er.txt", "+x"},
		"call":  {"||"},
		"uses":  {"it reads what another step would have brought"},
		"fails": {"exit status 3"},
		"push":  {"it is not tried"},
		"leaks": {"exit status 5"},
	} {
		for _, w := range want {
			if !strings.Contains(got[task], w) {
				t.Errorf("%s does not show %q: %s", task, w, got[task])
			}
		}
	}
	if strings.Contains(got["write"], "+new") {
		t.Errorf("write shows what edit changed: %s", got["write"])
	}
	if after := fingerprint(t, dir); after != before {
		t.Errorf("the project was changed:\n%s\nbecame\n%s", before, after)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".cairn", "cache", "dry-*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// fingerprint names every file of a project, its home left out.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".cairn" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		raw, err := os.ReadFile(path)
		b.WriteString(strings.TrimPrefix(path, dir) + " " + digest.Sum(raw).Short() + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
