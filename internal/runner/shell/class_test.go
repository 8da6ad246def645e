package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/shell"
)

func TestWhatCannotBeTakenBackRunsOnce(t *testing.T) {
	for run, want := range map[string]capability.Class{
		"go test ./...":                 capability.Repeatable,
		"echo 'git push'":               capability.Repeatable,
		"make && git push origin main":  capability.Once,
		"psql -c 'DROP TABLE accounts'": capability.Once,
		"terraform apply -auto-approve": capability.Once,
	} {
		with, err := json.Marshal(map[string]string{"run": run})
		if err != nil {
			t.Fatal(err)
		}
		if got := shell.New().Class(with); got != want {
			t.Errorf("%s is %s, want %s", run, got, want)
		}
	}
	if got := shell.New().Class([]byte("[]")); got != capability.Once {
		t.Errorf("what cannot be read is %s", got)
	}
}
