package assembly

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/runner/preview"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// DryRun shows what a plan would do. It is carried out in a copy of the project, with a journal of its own, both of which are
// thrown away; people are taken to agree.
func (h *House) DryRun(ctx context.Context, p *plan.Plan) (steps []preview.Step, err error) {
	here, err := workspace.OpenHere(ctx, h.Root, h.Home, workspace.Options{Holds: h.secrets.holds})
	if err != nil {
		return nil, err
	}
	trial, err := here.Try(ctx)
	if err != nil {
		return nil, errors.Join(err, here.Close())
	}
	defer func() {
		trial.Close()
		err = errors.Join(err, here.Close())
	}()
	cache := filepath.Join(h.Home, "cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "make %s", cache)
	}
	home, err := os.MkdirTemp(cache, "dry-")
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "make a folder in %s", cache)
	}
	defer os.RemoveAll(home)
	return h.rehearse(ctx, p, home, trial)
}

func (h *House) rehearse(ctx context.Context, p *plan.Plan, home string, trial *workspace.Trial) (steps []preview.Step, err error) {
	store, err := sqlite.Open(ctx, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	blobs, err := disk.Open(home)
	if err != nil {
		return nil, err
	}
	shown := preview.New(h.Capabilities, trial, h.Root)
	c := h.Engine.Config
	c.Journal, c.Holder, c.Mailbox, c.Artifacts, c.Capabilities = store, store, store, blobs, shown
	c.Root, c.Workspace, c.Publish, c.Turns, c.Agreed = trial.Dir(), nil, nil, nil, true
	e := engine.New(c)
	name, err := e.Submit(ctx, p, "", "person:dry-run")
	if err != nil {
		return nil, err
	}
	r, err := e.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = (&local.Driver{Yes: "person:dry-run", Workers: 1}).Drive(ctx, r)
	steps = shown.Steps()
	for i := range steps {
		h.hide(&steps[i])
	}
	return steps, err
}

// hide takes secrets out of what is shown of a step.
func (h *House) hide(s *preview.Step) {
	s.Error, s.Diff = h.secrets.clean(s.Error), h.secrets.clean(s.Diff)
	for i := range s.Commands {
		s.Commands[i] = h.secrets.clean(s.Commands[i])
	}
	for i := range s.Unforeseen {
		s.Unforeseen[i] = h.secrets.clean(s.Unforeseen[i])
	}
}
