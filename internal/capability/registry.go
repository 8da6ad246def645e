package capability

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Registry holds the capabilities that can be called here. Those that were added stay; those that
// were loaded, from manifests, are exchanged as a whole while others read. Whoever looked a runner
// up keeps it: an exchange never takes a tool out of a running hand.
type Registry struct {
	mu    sync.Mutex // held by writers only
	added map[string]*entry
	now   atomic.Pointer[Snapshot]
}

// Entry is a capability with what performs it.
type Entry struct {
	Contract Contract
	Runner   Runner
}

// Snapshot is a registry at one moment. It never changes.
type Snapshot struct {
	entries map[string]*entry
	ids     []string // sorted
}

type entry struct {
	Entry
	inputs  *Schema
	outputs *Schema
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	r := &Registry{added: map[string]*entry{}}
	r.now.Store(&Snapshot{})
	return r
}

// Add puts a capability in for good. A contract that is not sound, and an id that is taken, are
// refused.
func (r *Registry) Add(c Contract, run Runner) error {
	e, err := newEntry(Entry{c, run})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.now.Load()
	if old, ok := was.entries[c.ID]; ok {
		return taken(c, old.Contract)
	}
	r.added[c.ID] = e
	entries := maps.Clone(was.entries)
	if entries == nil {
		entries = map[string]*entry{}
	}
	entries[c.ID] = e
	r.now.Store(snapshot(entries))
	return nil
}

// Reload exchanges all that was loaded before for these, in one step. If any is refused, nothing
// changes.
func (r *Registry) Reload(loaded []Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := maps.Clone(r.added)
	for _, l := range loaded {
		if old, ok := entries[l.Contract.ID]; ok {
			return taken(l.Contract, old.Contract)
		}
		e, err := newEntry(l)
		if err != nil {
			return err
		}
		entries[l.Contract.ID] = e
	}
	r.now.Store(snapshot(entries))
	return nil
}

func taken(c, by Contract) error {
	return fault.New(fault.Conflict, "there are two capabilities %q: from %s and from %s", c.ID, by.provider(), c.provider()).
		Remedy("give one of them another id")
}

func (c Contract) provider() string {
	if c.Provider == "" {
		return "builtin"
	}
	return c.Provider
}

func newEntry(e Entry) (*entry, error) {
	if e.Runner == nil {
		return nil, fault.New(fault.Internal, "the capability %q has nothing that performs it", e.Contract.ID)
	}
	in, out, err := e.Contract.compile()
	if err != nil {
		return nil, err
	}
	return &entry{Entry: e, inputs: in, outputs: out}, nil
}

func snapshot(entries map[string]*entry) *Snapshot {
	return &Snapshot{entries: entries, ids: slices.Sorted(maps.Keys(entries))}
}

// Snapshot is what the registry holds now.
func (r *Registry) Snapshot() *Snapshot { return r.now.Load() }

// Lookup finds a capability.
func (r *Registry) Lookup(id string) (Contract, Runner, bool) { return r.Snapshot().Lookup(id) }

// List returns every contract, sorted by id.
func (r *Registry) List() []Contract { return r.Snapshot().List() }

// Installed reports whether a capability can be called here.
func (r *Registry) Installed(id string) bool { return r.Snapshot().Installed(id) }

// Known reports whether there is such a capability, installed or not.
func (r *Registry) Known(id string) bool { return r.Snapshot().Known(id) }

// IDs lists the capabilities that are known, sorted.
func (r *Registry) IDs() []string { return r.Snapshot().IDs() }

// Fits says what is wrong with inputs as a plan has them; what a reference will bring is not judged.
func (r *Registry) Fits(id string, with json.RawMessage) []string { return r.Snapshot().Fits(id, with) }

// Check refuses inputs that do not fit, references being resolved.
func (r *Registry) Check(id string, with json.RawMessage) error { return r.Snapshot().Check(id, with) }

// Lookup finds a capability.
func (s *Snapshot) Lookup(id string) (Contract, Runner, bool) {
	e, ok := s.entries[id]
	if !ok {
		return Contract{}, nil, false
	}
	return e.Contract, e.Runner, true
}

// List returns every contract, sorted by id.
func (s *Snapshot) List() []Contract {
	list := make([]Contract, len(s.ids))
	for i, id := range s.ids {
		list[i] = s.entries[id].Contract
	}
	return list
}

// Installed reports whether a capability can be called here.
func (s *Snapshot) Installed(id string) bool { return s.entries[id] != nil }

// Known reports whether there is such a capability, installed or not.
func (s *Snapshot) Known(id string) bool { return s.Installed(id) || inCatalogue(id) }

// IDs lists the capabilities that are known, sorted.
func (s *Snapshot) IDs() []string {
	ids := slices.Concat(s.ids, Catalogue)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Fits says what is wrong with inputs as a plan has them; what a reference will bring is not judged.
// Of a capability that is not installed nothing is known, so everything fits.
func (s *Snapshot) Fits(id string, with json.RawMessage) []string {
	if e, ok := s.entries[id]; ok {
		return e.inputs.findings(with, true)
	}
	return nil
}

// Check refuses inputs that do not fit, references being resolved.
func (s *Snapshot) Check(id string, with json.RawMessage) error {
	e, ok := s.entries[id]
	if !ok {
		return fault.New(fault.NotFound, "there is no capability %q", id).Remedy("see what there is with: cairn capability list")
	}
	return refuse(e.inputs.findings(with, false), "the inputs of %s do not fit", id)
}

// CheckOutputs refuses outputs that are not what the contract promises.
func (s *Snapshot) CheckOutputs(id string, outputs map[string]json.RawMessage) error {
	e, ok := s.entries[id]
	if !ok {
		return fault.New(fault.NotFound, "there is no capability %q", id).Remedy("see what there is with: cairn capability list")
	}
	raw, err := json.Marshal(outputs)
	if err != nil {
		return fault.Wrap(fault.Failed, err, "the outputs of %s are no JSON", id)
	}
	return refuse(e.outputs.findings(raw, false), "the outputs of %s are not what it promises", id)
}
