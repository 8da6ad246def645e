package assembly

import (
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/runner/file"
	"github.com/cairn-plan/cairn/internal/runner/git"
	"github.com/cairn-plan/cairn/internal/runner/http"
	"github.com/cairn-plan/cairn/internal/runner/human"
	"github.com/cairn-plan/cairn/internal/runner/manifest"
	runnermemory "github.com/cairn-plan/cairn/internal/runner/memory"
	runnermodel "github.com/cairn-plan/cairn/internal/runner/model"
	"github.com/cairn-plan/cairn/internal/runner/noop"
	"github.com/cairn-plan/cairn/internal/runner/pipeline"
	"github.com/cairn-plan/cairn/internal/runner/shell"
	"github.com/cairn-plan/cairn/internal/runner/sql"
	"github.com/cairn-plan/cairn/internal/runner/web"
)

// Manifests is where a home keeps the manifests that add capabilities to it.
func Manifests(home string) string { return filepath.Join(home, "capabilities") }

// Capabilities makes the registry: what is built in, and what the manifests of a home add. A manifest that is broken is
// an error: a plan that uses it could not be judged.
func Capabilities(home string) (*capability.Registry, error) {
	return capabilities(home, &model.Set{}, func() *memory.Memory { return nil })
}

// capabilities is Capabilities with the models and the memory of a home that is open.
func capabilities(home string, models *model.Set, lend runnermemory.Lend) (*capability.Registry, error) {
	r := capability.NewRegistry()
	requests := http.New(nil)
	builtin := []capability.Entry{
		{Contract: noop.Contract(), Runner: capability.RunnerFunc(noop.Run)},
		{Contract: shell.Contract(), Runner: shell.New()},
		{Contract: pipeline.Contract(), Runner: pipeline.New(r)},
	}
	builtin = append(builtin, file.All()...)
	builtin = append(builtin, git.All(nil)...)
	builtin = append(builtin, http.All(requests)...)
	builtin = append(builtin, human.All()...)
	builtin = append(builtin, runnermemory.All(lend)...)
	builtin = append(builtin, runnermodel.All(models)...)
	builtin = append(builtin, sql.All()...)
	builtin = append(builtin, web.All(web.New(filepath.Join(home, "cache", "web"), nil, time.Now))...)
	for _, b := range builtin {
		if err := r.Add(b.Contract, b.Runner); err != nil {
			return nil, err
		}
	}
	if home == "" {
		return r, nil
	}
	added, err := manifest.LoadDir(Manifests(home), requests)
	if err != nil {
		return nil, err
	}
	if err := r.Reload(added); err != nil {
		return nil, err
	}
	return r, nil
}

// AddManifest checks a manifest and puts it into a home, in place of an older one of the same capability.
func AddManifest(home, file string, text []byte) (capability.Contract, error) {
	e, err := manifest.Load(file, text, http.New(nil))
	if err != nil {
		return capability.Contract{}, err
	}
	r, err := Capabilities("")
	if err != nil {
		return capability.Contract{}, err
	}
	if err := r.Reload([]capability.Entry{e}); err != nil {
		return capability.Contract{}, err
	}
	dir := Manifests(home)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return capability.Contract{}, fault.Wrap(fault.Invalid, err, "make %s", dir)
	}
	path := filepath.Join(dir, e.Contract.ID+".yaml")
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return capability.Contract{}, fault.Wrap(fault.Invalid, err, "write %s", path)
	}
	return e.Contract, os.Rename(path+".new", path)
}
