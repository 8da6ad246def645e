package cli

import (
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Notify is how people outside are told what waits for them: by one of a command and a webhook.
type Notify struct {
	Command []string
	Webhook string
}

// IsZero reports whether nobody is told.
func (n Notify) IsZero() bool { return len(n.Command) == 0 && n.Webhook == "" }

// Notices tells people outside of what happens to plans.
type Notices struct {
	// Watch begins to tell of a plan that is carried out: take is shown what is durable and does not wait, done waits for
	// what is still to be told, for a while. What cannot be told is a warning.
	Watch func(ctx context.Context, plan string, warn func(error)) (take func([]journal.Entry), done func(), err error)
	// Rest tells what commands brought about in plans that nobody carries out.
	Rest func(ctx context.Context) error
}

// setNotify reads the key notify: {command: [PROGRAM, ARGUMENT...]} or {webhook: URL}.
func (c *config) setNotify(path string, value *yaml.Node) error {
	wrong := func(at *yaml.Node, format string, args ...any) error {
		return fault.New(fault.Invalid, "%s:%d: %s", path, at.Line, fmt.Sprintf(format, args...)).
			Remedy("write notify: {command: [PROGRAM, ARGUMENT]}, or notify: {webhook: https://HOST/PATH}")
	}
	if value.Kind != yaml.MappingNode {
		return wrong(value, "notify is no map")
	}
	for i := 0; i < len(value.Content); i += 2 {
		key, v := value.Content[i], value.Content[i+1]
		var err error
		switch key.Value {
		case "command":
			err = v.Decode(&c.notify.Command)
		case "webhook":
			err = v.Decode(&c.notify.Webhook)
		default:
			return wrong(key, "notify has no key %q", key.Value)
		}
		if err != nil {
			return wrong(v, "notify.%s cannot be read", key.Value)
		}
	}
	if (len(c.notify.Command) == 0) == (c.notify.Webhook == "") {
		return wrong(value, "notify wants one of a command and a webhook")
	}
	return nil
}

// review is when people of this project look at what waits for their consent.
func (p place) review() *plan.Review {
	if p.policy == nil {
		return nil
	}
	return p.policy.Review
}

// telling has people told of a plan beside whoever watches it here.
func (h *House) telling(ctx context.Context, name string, show follower, watch func([]journal.Entry)) (func([]journal.Entry), func(), error) {
	if h.Notices == nil {
		return watch, func() {}, nil
	}
	take, done, err := h.Notices.Watch(ctx, name, func(err error) { show.notice(untold(err)) })
	if err != nil {
		return nil, nil, err
	}
	return func(entries []journal.Entry) {
		watch(entries)
		take(entries)
	}, done, nil
}

// tellRest tells what a command has brought about. That nobody could be told does not undo it.
func (a *app) tellRest(ctx context.Context, h *House) {
	if h.Notices == nil {
		return
	}
	if err := h.Notices.Rest(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintln(a.io.Err, untold(err))
	}
}

func untold(err error) string {
	return "warning: people were not told: " + err.Error() + "; it is tried again later"
}
