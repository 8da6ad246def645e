// Package capabilitytest is what every runner must do, whatever it runs, and a host to try one on.
package capabilitytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
)

// Host keeps in memory what an attempt tells it. The zero Host is ready.
type Host struct {
	mu        sync.Mutex
	beats     int
	processes []capability.Process
	content   map[string][]byte
}

var (
	_ capability.Host   = (*Host)(nil)
	_ capability.Opener = (*Host)(nil)
)

// Spawned implements capability.Host.
func (h *Host) Spawned(p capability.Process) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes = append(h.processes, p)
	return nil
}

// Beat implements capability.Host.
func (h *Host) Beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beats++
}

// Put implements capability.Host.
func (h *Host) Put(ctx context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	if err := ctx.Err(); err != nil {
		return capability.Ref{}, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return capability.Ref{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old, ok := h.content[name]; ok && !bytes.Equal(old, b) {
		return capability.Ref{}, fmt.Errorf("%s was put twice, and differs", name)
	}
	if h.content == nil {
		h.content = map[string][]byte{}
	}
	h.content[name] = b
	return capability.Ref{Name: name, Hash: digest.Sum(b), Size: int64(len(b)), Type: typ}, nil
}

// Content is what was put under a name.
func (h *Host) Content(name string) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.content[name]
	return b, ok
}

// Open implements capability.Opener.
func (h *Host) Open(_ context.Context, ref capability.Ref) (io.ReadCloser, error) {
	b, ok := h.Content(ref.Name)
	if !ok || digest.Sum(b) != ref.Hash {
		return nil, fmt.Errorf("%s was not put", ref.Name)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Processes lists what was spawned.
func (h *Host) Processes() []capability.Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]capability.Process(nil), h.processes...)
}

// Beats counts the signs of life.
func (h *Host) Beats() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beats
}
