package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// Parts is what main hands to this door. Nothing in it is opened before a command asks for it.
type Parts struct {
	Version   Version
	Hard      <-chan struct{} // closed by the second signal: cut off even what must not run twice
	Open      func(ctx context.Context, s Site) (*House, error)
	Catalogue func(home string) (Capabilities, error) // makes no home
	Examine   func(ctx context.Context, s Site) []Finding
	Secrets   func(s Site) (engine.Secrets, error) // reads none
	// AddManifest checks a manifest and puts it into the home.
	AddManifest func(home, file string, text []byte) (capability.Contract, error)
}

// Site is where a house stands, and what the settings say of it.
type Site struct {
	Home    string
	Root    string
	Secrets map[string]Secret // by name

	Policies func() ([]policy.Source, error) // those of the project and the home
	Notify   Notify
	Review   *plan.Review // of the project
	Models   map[string]Model
	Replay   string // a home whose recordings answer in the place of models; empty: models answer

	roles map[string][]string
	trust bool
}

// Secret is where the value of a secret is found: one of a variable, a file and a command.
type Secret struct {
	Env     string
	File    string
	Command []string
	Timeout string // of the command
}

// Capabilities is the catalogue of what can be called.
type Capabilities interface {
	plan.Catalogue
	Lookup(id string) (capability.Contract, capability.Runner, bool)
	Check(id string, with json.RawMessage) error
}

// House is an open home.
type House struct {
	Engine  *engine.Engine
	Seal    func(ctx context.Context) error // once
	Sealing func(ctx context.Context) error // every second until ctx ends
	Driver  func(Drive) engine.Driver
	Audit   func() (audit.Home, error)
	Apply   func(ctx context.Context, plan string) (Applied, error)
	DryRun  func(ctx context.Context, p *plan.Plan) ([]Step, error)
	Close   func() error
	Notices *Notices // nil: nobody outside is told anything
	Memory  *memory.Memory
}

// Drive says how a run is to be driven.
type Drive struct {
	Workers int
	Yes     string // the actor who answers yes
	Until   string
	Hard    <-chan struct{}
	Watch   func([]journal.Entry)
	Begin   func(ctx context.Context, r *engine.Run) ([]engine.Work, error) // nil: the run goes on
}

// Finding is one thing that doctor looked at.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Lacks  bool   `json:"lacks,omitempty"` // it is not there, and plans run all the same
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"`
}

// artifacts is where the home keeps content.
func (h *House) artifacts() artifact.Store { return h.Engine.Artifacts }

// at finds where a command line stands, with its settings.
func (a *app) at() (place, error) {
	dir, err := os.Getwd()
	if err != nil {
		return place{}, fault.Wrap(fault.Invalid, err, "find the current folder").Remedy("change to a folder that exists")
	}
	return locate(dir, a.home, a.as, a.env)
}

// open opens the home, making it when it is not there.
func (a *app) open(ctx context.Context, p place) (*House, error) {
	return a.parts.Open(ctx, p.site())
}

// within runs f in a home that is there already: a command that only reads makes none.
func (a *app) within(ctx context.Context, f func(place, *House) error) error {
	p, err := a.at()
	if err != nil {
		return err
	}
	if !p.hasHome() {
		return fault.New(fault.NotFound, "there is no home at %s", p.home).
			Remedy("start a plan with: cairn run FILE, or name the home with --home")
	}
	h, err := a.open(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(f(p, h), h.Close())
}

// changing is within for commands that write: what they wrote is sealed at the end.
func (a *app) changing(ctx context.Context, f func(place, *House) error) error {
	return a.within(ctx, func(p place, h *House) error {
		if err := f(p, h); err != nil {
			return err
		}
		a.tellRest(ctx, h)
		return h.Seal(context.WithoutCancel(ctx))
	})
}

// hasHome reports whether the home holds a journal.
func (p place) hasHome() bool {
	_, err := os.Stat(filepath.Join(p.home, "cairn.db"))
	return err == nil
}
