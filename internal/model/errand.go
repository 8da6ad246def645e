package model

import (
	"context"
	"io"
	"net/url"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
)

// Errand is on whose behalf a model is asked. Every function is optional.
type Errand struct {
	Key     digest.ID // of the effect: whoever asks the same under the same key gets the same answer, and pays once
	Tool    string    // the capability that asks
	Plan    string
	Task    string
	Attempt int

	Secret  func(ctx context.Context, name string) (string, error)
	Allow   func(u *url.URL) error // refuses a server
	Reserve func(ctx context.Context, want budget.Amount) (settle func(spent budget.Amount), err error)
	Beat    func()
	// Put keeps a page of the prompt log under a name of the task.
	Put func(ctx context.Context, name, typ string, r io.Reader) (capability.Ref, error)
}

// ErrandOf is the errand of a call.
func ErrandOf(call capability.Call, tool string) Errand {
	e := Errand{Key: call.Key, Tool: tool, Plan: call.Plan, Task: call.Task, Attempt: call.Attempt, Secret: call.Secret, Reserve: call.Reserve,
		Allow: func(u *url.URL) error {
			if err := call.Limits.ReachURL(u); err != nil {
				return err
			}
			if call.May != nil {
				return call.May(u.Hostname())
			}
			return nil
		}}
	if call.Host != nil {
		e.Beat, e.Put = call.Host.Beat, call.Host.Put
	}
	return e
}
