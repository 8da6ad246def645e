package main

import (
	"context"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
)

// parts hands the command line what it works on. Nothing is opened before a command asks for it.
func parts(hard <-chan struct{}) cli.Parts {
	v := version()
	return cli.Parts{
		Version: v,
		Hard:    hard,
		Open: func(ctx context.Context, home, root string) (*cli.House, error) {
			return open(ctx, assembly.Options{Home: home, Root: root, Version: v.Number})
		},
		Catalogue: func(home string) (cli.Capabilities, error) { return assembly.Capabilities(home) },
		Examine:   examine,

		AddManifest: assembly.AddManifest,
	}
}

func open(ctx context.Context, o assembly.Options) (*cli.House, error) {
	h, err := assembly.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &cli.House{
		Engine:  h.Engine,
		Seal:    h.Seal,
		Sealing: h.Sealing,
		Driver:  driver,
		Audit:   h.Audit,
		Close:   h.Close,
	}, nil
}

func driver(d cli.Drive) engine.Driver {
	return &local.Driver{Workers: d.Workers, Yes: d.Yes, Until: d.Until, Hard: d.Hard, Watch: d.Watch}
}
