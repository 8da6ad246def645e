// Package assembly wires a home together: it alone knows every concrete type. Whatever it opens it closes, in
// reverse order; opening stops at the first part that fails and leaves nothing open.
package assembly

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/policy"
	"github.com/cairn-plan/cairn/internal/runner/machine"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/secret"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

// Options say which home, and let a test put something of its own in the place of a part.
type Options struct {
	Home    string // the folder with cairn.db
	Root    string // the project
	Version string
	Secrets secret.Config // where secrets come from, beside CAIRN_SECRET_*
	Models  Models        // optional
	People  engine.People // who has which role; optional
	// Policies are those of the project and the home; optional.
	Policies func() ([]policy.Source, error)
	Now      func() time.Time                  // default time.Now
	Journal  func(journal.Store) journal.Store // wraps the journal; optional
	Extend   func(*capability.Registry) error  // adds capabilities; optional
}

// House is an open home.
type House struct {
	Home         string
	Root         string
	Engine       *engine.Engine
	Store        *sqlite.Store
	Artifacts    *disk.Store
	Capabilities *capability.Registry
	Memory       *memory.Memory
	Models       *model.Set

	sealer  func() (*audit.Sealer, error)
	spaces  spaces
	secrets secrets
}

// Open opens a home, making it when it is not there.
func Open(ctx context.Context, o Options) (*House, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(o.Home, 0o755); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "make the home %s", o.Home).
			Remedy("choose a folder that can be written, with --home or CAIRN_HOME")
	}
	h := &House{Home: o.Home, Root: o.Root}
	models, err := newModels(o.Models)
	if err != nil {
		return nil, err
	}
	caps, err := capabilities(o.Home, models, func() *memory.Memory { return h.Memory })
	if err != nil {
		return nil, err
	}
	if o.Extend != nil {
		if err := o.Extend(caps); err != nil {
			return nil, err
		}
	}
	store, err := sqlite.Open(ctx, o.Home)
	if err != nil {
		return nil, err
	}
	h.Store, h.Capabilities = store, caps
	if err := h.furnish(o, models); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return h, nil
}

func (h *House) furnish(o Options, models *model.Set) error {
	var err error
	if h.Artifacts, err = disk.Open(h.Home); err != nil {
		return err
	}
	if err := h.furnishModels(models, o.Models); err != nil {
		return err
	}
	h.sealer = sync.OnceValues(func() (*audit.Sealer, error) {
		key, err := loadKey(h.Home)
		if err != nil {
			return nil, err
		}
		return audit.NewSealer(h.Store, key, audit.HeadPath(h.Home), o.Now), nil
	})
	if h.secrets.store, err = secret.Open(withKeys(o.Secrets, models), secret.Options{Dir: h.Root}); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var j journal.Store = h.Store
	if o.Journal != nil {
		j = o.Journal(j)
	}
	h.Engine = engine.New(engine.Config{Journal: j, Holder: h.Store, Mailbox: h.Store, Artifacts: h.Artifacts,
		Capabilities: h.Capabilities, Root: h.Root, Home: h.Home, Version: o.Version, Host: host, PID: os.Getpid(), Now: o.Now,
		Machine: func() map[string]any { return machine.Facts(h.Root) },
		End: func(p capability.Process) bool {
			ended, err := process.End(p)
			return ended && err == nil
		},
		Publish:   h.publish,
		Days:      h.Store,
		Turns:     h.Store,
		Workspace: h.workspace,
		Secrets:   &h.secrets,
		People:    o.People,
		Policies:  o.Policies,
	})
	h.Memory = h.remember(o)
	return nil
}

// publish writes the current revision of a plan where people and tools look for it.
func (h *House) publish(name string, spec []byte) error {
	dir := filepath.Join(h.Home, "plans")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(fault.Invalid, err, "write %s", dir)
	}
	path := filepath.Join(dir, name+".json")
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(spec, '\n'), 0o644); err != nil {
		return fault.Wrap(fault.Invalid, err, "write %s", path)
	}
	return os.Rename(tmp, path)
}

// Close closes the home. The supervisor of this process's children ends with it.
func (h *House) Close() error {
	process.Close()
	return errors.Join(h.spaces.close(), h.Store.Close())
}

// Audit is the home as verification reads it: below the engine, past every wrapper. It needs no key.
func (h *House) Audit() (audit.Home, error) {
	v, err := audit.LoadVerifier(audit.KeyPath(h.Home))
	return audit.Home{Journal: h.Store, Artifacts: h.Artifacts, Ledger: h.Store, Verifier: v, HeadCopy: audit.HeadPath(h.Home), Sealer: h.sealer}, err
}

// Seal covers all that is in the journal by a signed head. It fails where the key is missing, or where the database was
// cut back behind a head that was signed.
func (h *House) Seal(ctx context.Context) error {
	s, err := h.sealer()
	if err != nil {
		return err
	}
	return s.Seal(ctx)
}

// Sealing seals every second until ctx ends, and once more then.
func (h *House) Sealing(ctx context.Context) error {
	s, err := h.sealer()
	if err != nil {
		return err
	}
	return s.Background(ctx)
}
