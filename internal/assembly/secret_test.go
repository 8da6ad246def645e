//go:build unix

package assembly_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/plan"
)

const leaky = `
plan: leaky
env: {FROM_ENV: "${secret:TOKEN}"}
tasks:
  - {id: says, uses: shell, run: 'echo ${secret:TOKEN}; printf %s "$FROM_ENV" | base64; echo "x=${secret:TOKEN}" >> "$CAIRN_OUTPUT"', outputs: {x: {type: text}}}
  - {id: reads, uses: shell, needs: [says], run: 'test ${says.x} != "$FROM_ENV"'}
  - {id: long, uses: shell, run: 'i=0; while [ $i -lt 400 ]; do echo "line $i ${secret:TOKEN}"; i=$((i+1)); done'}
  - {id: fails, uses: shell, run: 'echo "refused: $FROM_ENV" >&2; exit 4', next: {failure: [goes-on]}}
  - {id: goes-on, uses: noop, with: {outputs: {y: "with ${secret:TOKEN} inside"}}}
  - {id: file, uses: shell, run: 'echo "$FROM_ENV" > secret.txt; echo fine > plain.txt'}
  - {id: ps, uses: shell, run: 'tr "\0" " " < /proc/$$/cmdline; tr "\0" " " < /proc/$PPID/cmdline; : ${secret:TOKEN}'}
`

// What a plan is told in confidence is nowhere in its home: not in the journal, not in an artifact, not in a kept tree.
func TestSecretsAreNowhereInTheHome(t *testing.T) {
	const value = "s3cr3t/V4lue+with=odd chars"
	t.Setenv("CAIRN_SECRET_TOKEN", value)
	dir := folder(t, leaky)
	o := options(dir, "")
	h, err := assembly.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	p, faults := plan.Read("plan.yaml", []byte(leaky), plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	name, err := h.Engine.Submit(context.Background(), p, "plan.yaml", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Engine.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&local.Driver{}).Drive(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	for task := range r.State.Tasks() {
		if task.ID != "fails" && task.Status != "completed" {
			t.Errorf("%s is %s: %s", task.ID, task.Status, task.Error)
		}
	}
	r.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	forms := []string{value, base64.StdEncoding.EncodeToString([]byte(value)), url.QueryEscape(value), hex.EncodeToString([]byte(value))}
	seen := 0
	err = filepath.WalkDir(filepath.Join(dir, ".cairn"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		seen++
		for _, f := range forms {
			if strings.Contains(string(raw), f) {
				t.Errorf("%s is in %s", f, path)
			}
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Fatalf("%d files were looked at: %v", seen, err)
	}
}
