package main

import (
	"context"

	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/notify"
)

// notices tells people in the way that the settings say; nil: in none.
func notices(e *engine.Engine, s cli.Site) *cli.Notices {
	if s.Notify.IsZero() {
		return nil
	}
	desk := func() (*notify.Desk, error) {
		sender, err := notify.Open(notify.Config{Command: s.Notify.Command, Webhook: s.Notify.Webhook, Dir: s.Root})
		return &notify.Desk{Engine: e, Sender: sender, Home: s.Home, Review: s.Review}, err
	}
	return &cli.Notices{
		Watch: func(ctx context.Context, plan string, warn func(error)) (func([]journal.Entry), func(), error) {
			d, err := desk()
			if err != nil {
				return nil, nil, err
			}
			w, err := d.Watch(ctx, plan, warn)
			if err != nil {
				return nil, nil, err
			}
			return w.Take, w.Close, nil
		},
		Rest: func(ctx context.Context) error {
			d, err := desk()
			if err != nil {
				return err
			}
			return d.Catch(ctx)
		},
	}
}
