package assembly

import (
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/file"
	"github.com/cairn-plan/cairn/internal/runner/noop"
	"github.com/cairn-plan/cairn/internal/runner/pipeline"
	"github.com/cairn-plan/cairn/internal/runner/shell"
)

// Capabilities makes the registry: what is built in, and what the manifests of a home add.
func Capabilities(home string) (*capability.Registry, error) {
	r := capability.NewRegistry()
	builtin := []capability.Entry{
		{Contract: noop.Contract(), Runner: capability.RunnerFunc(noop.Run)},
		{Contract: shell.Contract(), Runner: shell.New()},
		{Contract: pipeline.Contract(), Runner: pipeline.New(r)},
	}
	builtin = append(builtin, file.All()...)
	for _, b := range builtin {
		if err := r.Add(b.Contract, b.Runner); err != nil {
			return nil, err
		}
	}
	_ = home
	return r, nil
}
