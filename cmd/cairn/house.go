package main

import (
	"context"
	"os"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/secret"
)

// parts hands the command line what it works on. Nothing is opened before a command asks for it.
func parts(hard <-chan struct{}) cli.Parts {
	v := version()
	return cli.Parts{
		Version: v,
		Hard:    hard,
		Open: func(ctx context.Context, s cli.Site) (*cli.House, error) {
			h, err := open(ctx, options(s, v))
			if err == nil {
				h.Notices = notices(h.Engine, s)
			}
			return h, err
		},
		Catalogue: func(home string) (cli.Capabilities, error) { return assembly.Capabilities(home) },
		Examine:   examine,
		Secrets: func(s cli.Site) (engine.Secrets, error) {
			return secret.Open(sources(s.Secrets), secret.Options{Dir: s.Root})
		},

		AddManifest: assembly.AddManifest,
	}
}

func options(s cli.Site, v cli.Version) assembly.Options {
	return assembly.Options{Home: s.Home, Root: s.Root, Version: v.Number, Secrets: sources(s.Secrets), People: s, Policies: s.Policies,
		Models: assembly.Models{Config: models(s.Models), Replay: s.Replay, Env: os.Getenv}}
}

// sources are where the settings say that secrets come from.
func sources(from map[string]cli.Secret) secret.Config {
	c := secret.Config{}
	for name, s := range from {
		c[name] = secret.Source(s)
	}
	return c
}

// models are what the settings say of them.
func models(from map[string]cli.Model) model.Config {
	c := model.Config{}
	for name, m := range from {
		c[name] = model.Settings{Provider: m.Provider, Model: m.Model, URL: m.URL, Key: m.Key, MaxTokens: m.MaxTokens,
			Temperature: m.Temperature, Timeout: m.Timeout, Tries: m.Tries, Price: model.Price(m.Price)}
	}
	return c
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
		Apply: func(ctx context.Context, plan string) (cli.Applied, error) {
			got, err := h.Apply(ctx, plan)
			return cli.Applied(got), err
		},
		DryRun: func(ctx context.Context, p *plan.Plan) ([]cli.Step, error) {
			shown, err := h.DryRun(ctx, p)
			steps := make([]cli.Step, len(shown))
			for i, s := range shown {
				steps[i] = cli.Step(s)
			}
			return steps, err
		},
		Memory: h.Memory,
		Close:  h.Close,
	}, nil
}

func driver(d cli.Drive) engine.Driver {
	return &local.Driver{Workers: d.Workers, Yes: d.Yes, Until: d.Until, Hard: d.Hard, Watch: d.Watch, Begin: d.Begin}
}
