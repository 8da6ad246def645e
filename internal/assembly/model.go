package assembly

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/model/anthropic"
	"github.com/cairn-plan/cairn/internal/model/openai"
	"github.com/cairn-plan/cairn/internal/secret"
	"github.com/cairn-plan/cairn/internal/store/disk"
)

// Models are the settings of models, and what the environment says of them.
type Models struct {
	Config model.Config
	Replay string              // a home whose recordings answer in the place of every model; empty: none
	Env    func(string) string // PLANNER_*; nil: nothing is set
}

// recordings is where a home keeps which exchange answered what.
func recordings(home string) string { return filepath.Join(home, "prompts") }

// newModels makes the models that the settings name. What they need of an open home is furnished later.
func newModels(m Models) (*model.Set, error) {
	set := &model.Set{Config: maps.Clone(m.Config), Wires: map[string]model.Wire{
		openai.Provider: openai.Wire{}, anthropic.Provider: anthropic.Wire{}}}
	if set.Config == nil {
		set.Config = model.Config{}
	}
	if err := set.Config.Validate(set.Providers()); err != nil {
		return nil, err
	}
	if m.Env == nil || len(set.Config) == 0 && m.Env("PLANNER_LLM_MODEL") == "" && m.Env("CAIRN_PLANNER_LLM_MODEL") == "" {
		return set, nil // what the environment says of planning concerns nobody
	}
	p, err := model.ReadPlannerSettings(m.Env)
	if err != nil {
		return nil, err
	}
	if s, ok := p.Stage(set.Config); ok {
		set.Config[model.Planner] = s
	}
	return set, nil
}

// furnishModels gives the models what an open home has for them.
func (h *House) furnishModels(set *model.Set, m Models) error {
	h.Models = set
	set.Recordings = &model.Recordings{Dir: recordings(h.Home), Artifacts: h.Artifacts}
	set.Clean = h.secrets.clean
	set.Secret = func(ctx context.Context, name string) (string, error) { return h.secrets.Value(ctx, name) }
	if m.Replay == "" {
		return nil
	}
	from, err := disk.Open(m.Replay)
	if err != nil {
		return err
	}
	set.Replay = &model.Recordings{Dir: recordings(m.Replay), Artifacts: from}
	return nil
}

// withKeys declares the variables that hold the keys of models, where the settings declare no other source. Nothing else of
// the environment becomes a secret.
func withKeys(c secret.Config, set *model.Set) secret.Config {
	all := maps.Clone(c)
	if all == nil {
		all = secret.Config{}
	}
	for _, name := range set.Keys() {
		if _, declared := all[name]; !declared {
			all[name] = secret.Source{Env: name}
		}
	}
	return all
}
