package assembly_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/capability"
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

// What is listed as ours, and not as somebody's to install, can be called.
func TestCatalogueIsInstalled(t *testing.T) {
	r, err := assembly.Capabilities("")
	if err != nil {
		t.Fatal(err)
	}
	builtin := map[string]bool{"file": true, "git": true, "http": true, "memory": true, "noop": true, "pipeline": true, "shell": true, "sql": true}
	for _, id := range capability.Catalogue {
		if noun, _, _ := strings.Cut(id, "."); (builtin[noun] || id == "web.fetch") && !r.Installed(id) {
			t.Errorf("%s is in the catalogue, and nothing performs it", id)
		}
	}
	for _, c := range r.List() {
		if !slices.Contains(capability.Catalogue, c.ID) {
			t.Errorf("%s is performed, and not in the catalogue", c.ID)
		}
	}
}
