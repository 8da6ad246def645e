package assembly_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/fault"
)

func TestManifestsOfAHome(t *testing.T) {
	home := t.TempDir()
	text := []byte("id: say.hello\nsummary: Say hello\nrun: echo hello\n")
	c, err := assembly.AddManifest(home, "hello.yaml", text)
	if err != nil || c.ID != "say.hello" {
		t.Fatal(c, err)
	}
	r, err := assembly.Capabilities(home)
	if err != nil || !r.Installed("say.hello") || !r.Installed("shell") {
		t.Fatal(err)
	}
	if _, err := assembly.AddManifest(home, "shell.yaml", []byte("id: shell\nsummary: Another shell\nrun: echo\n")); err == nil {
		t.Error("a manifest took the place of a built-in capability")
	}
	if _, err := assembly.AddManifest(home, "bad.yaml", []byte("id: [\n")); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	broken := filepath.Join(assembly.Manifests(home), "broken.yaml")
	if err := os.WriteFile(broken, []byte("id: x.y\nsumary: typo\nrun: echo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := assembly.Capabilities(home); err == nil {
		t.Error("a broken manifest was passed over")
	}
}
