package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// paces are the policies of the project and the home that say how often something may be called; the plan's own is read from the
// revision that is carried out.
func (e *Engine) paces() ([]*plan.Policy, error) {
	if e.Policies == nil {
		return nil, nil
	}
	sources, err := e.Policies()
	var out []*plan.Policy
	for _, s := range sources {
		if s.Policy != nil && len(s.Policy.Limits) > 0 {
			out = append(out, s.Policy)
		}
	}
	return out, err
}

// claims are the limits that hold for a call: those of all policies, so that the strictest does.
func (r *Run) claims(w Work, id string, with json.RawMessage) ([]budget.Claim, error) {
	if r.engine.Turns == nil {
		return nil, nil
	}
	all, err := r.paces()
	if err != nil {
		return nil, err
	}
	if own := w.scope.carried.policy; own != nil && len(own.Limits) > 0 {
		all = append([]*plan.Policy{own}, all...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	names, hosts := r.reach(id, with)
	var out []budget.Claim
	for _, p := range all {
		for _, l := range p.LimitsFor(names, hosts) {
			out = append(out, budget.Claim{Key: strings.ToLower(l.To), Times: l.Times, Per: l.Per})
		}
	}
	return out, nil
}

// turn waits until a call may be made. A turn that would come only after the time that the task has is not waited for.
func (r *Run) turn(ctx context.Context, w Work, claims []budget.Claim) error {
	e, now := r.engine, r.engine.Now()
	var by time.Time
	if w.Spec.Timeout > 0 {
		by = now.Add(w.Spec.Timeout.D())
	}
	who := waiterName(r.State.Name, w.Task)
	turn, err := e.Turns.Book(ctx, who, now, by, claims)
	wait := turn.At.Sub(now)
	switch {
	case err != nil || wait <= 0:
		return err
	case !by.IsZero() && turn.At.After(by):
		return fault.New(fault.Failed, "its turn at %s comes in %s, and its timeout is %s", turn.Key, about(wait), w.Spec.Timeout).
			Remedy("raise timeout, or the limit of %s in policy.limits; or have it tried later: retry: {times: 3, backoff: 1m..1h}", turn.Key)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		// Others may have it. Should that fail too, it is lost for one stretch and no longer.
		_ = e.Turns.Cancel(context.WithoutCancel(ctx), who, turn.At)
		return context.Cause(ctx)
	}
}

// about rounds a wait up to what people count in.
func about(d time.Duration) time.Duration {
	if d > time.Second {
		return (d + time.Second - 1).Truncate(time.Second)
	}
	return d.Round(time.Millisecond)
}

// waiterName is how the book of turns knows a task.
func waiterName(name, task string) string { return name + " " + task }

// Waiting tells which tasks of a plan wait for their turn now, and at what, whichever process carries it out.
func (e *Engine) Waiting(ctx context.Context, name string) (map[string]budget.Waiter, error) {
	if e.Turns == nil {
		return nil, nil
	}
	all, err := e.Turns.Waiting(ctx, waiterName(name, ""), e.Now())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	out := map[string]budget.Waiter{}
	for _, w := range all {
		out[strings.TrimPrefix(w.Who, waiterName(name, ""))] = w
	}
	return out, nil
}

var _ capability.Queuer = (*host)(nil)

// Queue implements capability.Queuer. While it waits nobody expects a sign of life, and what it waits is no time of the attempt. The
// first call of an attempt comes before its timeout is watched; only what a chain waits for the rest is counted by that.
func (h *host) Queue(ctx context.Context, id string, with json.RawMessage) error {
	claims, err := h.run.claims(h.work, id, with)
	if err != nil || len(claims) == 0 {
		return err
	}
	h.hush()
	defer h.Beat()
	began := time.Now()
	err = h.run.turn(ctx, h.work, claims)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waited += time.Since(began)
	return err
}

// hush expects no sign of life until the next one.
func (h *host) hush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
	}
}
