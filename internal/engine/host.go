package engine

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// host is what an attempt may ask of us while it runs.
type host struct {
	run  *Run
	work Work
	rep  Reporter
	tab  tab

	mu    sync.Mutex
	timer *time.Timer
	every time.Duration

	waited time.Duration // for turns
}

var (
	_ capability.Host    = (*host)(nil)
	_ capability.Opener  = (*host)(nil)
	_ capability.Spender = (*host)(nil)
)

// Open implements capability.Opener.
func (h *host) Open(ctx context.Context, ref capability.Ref) (io.ReadCloser, error) {
	return h.run.engine.Artifacts.Open(ctx, ref.Hash)
}

func (h *host) fact(body any, k lifecycle.Fact) lifecycle.Fact {
	k.Task, k.Attempt, k.Body = h.work.Task, h.work.Attempt, body
	return k
}

// Spawned implements capability.Host.
func (h *host) Spawned(p capability.Process) error {
	if h.work.Pure {
		return nil // a pure attempt leaves no trace until it ends
	}
	return h.rep.Report(h.fact(&lifecycle.Spawned{Process: p}, lifecycle.Fact{Kind: lifecycle.TaskSpawned}))
}

// save keeps what an attempt is about to change, where its capability can, before it changes anything.
func (h *host) save(ctx context.Context, runner capability.Runner, call capability.Call) error {
	k, ok := runner.(capability.Keeper)
	if !ok || h.work.Pure {
		return nil
	}
	backup, err := k.Backup(ctx, call)
	if err != nil || len(backup) == 0 {
		return err
	}
	// A copy without its secrets would not be the thing itself, and one with them must not be written down.
	if len(h.run.vault.redactor().Find(backup)) > 0 {
		return nil
	}
	return h.rep.Report(h.fact(&lifecycle.Saved{Backup: backup}, lifecycle.Fact{Kind: lifecycle.TaskSaved}))
}

// Beat implements capability.Host.
func (h *host) Beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Reset(h.every)
	}
}

// Put implements capability.Host. What is stored while a task runs can be read before it ends, and after it failed.
func (h *host) Put(ctx context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	content, stop := h.run.cleaned(r)
	defer stop()
	blob, err := h.run.engine.Artifacts.Put(ctx, content)
	if err != nil {
		return capability.Ref{}, err
	}
	ref := capability.Ref{Name: name, Hash: blob.ID, Size: blob.Size, Type: typ}
	err = h.rep.Report(h.fact(&lifecycle.Stored{Ref: ref, Partial: true}, lifecycle.Fact{Kind: lifecycle.ArtifactPut}))
	return ref, err
}

// watch ends an attempt that outlasts its timeout or stops giving signs of life.
func (h *host) watch(ctx context.Context, t *plan.Task) (context.Context, func()) {
	stop := func() {}
	if t.Timeout > 0 {
		late := fault.New(fault.Failed, "timed out after %s", t.Timeout).Remedy("raise timeout, or find out what it waits for")
		ctx, stop = context.WithTimeoutCause(ctx, t.Timeout.D(), late)
	}
	if t.Heartbeat <= 0 {
		return ctx, stop
	}
	ctx, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.every = t.Heartbeat.D()
	h.timer = time.AfterFunc(h.every, func() {
		cancel(fault.New(fault.Failed, "gave no sign of life for %s", t.Heartbeat).
			Remedy("have it print progress, or raise heartbeat"))
	})
	outer := stop
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.timer.Stop()
		h.timer = nil
		cancel(nil)
		outer()
	}
}
