package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type inboxOptions struct {
	whose  string // --for
	mine   bool
	digest bool
	since  time.Duration
}

func (a *app) inboxCommand() *cobra.Command {
	var o inboxOptions
	c := &cobra.Command{
		Use:     "inbox [--mine | --for NAME] [--digest [--since 24h]]",
		Short:   "list what waits for a person, over all plans, and how to answer",
		Example: "  cairn inbox\n  cairn inbox --mine\n  cairn inbox --digest --since 24h",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags().Changed("since")); err != nil {
				return err
			}
			p, err := a.at()
			if err != nil {
				return err
			}
			if !p.hasHome() {
				return writeInbox(nil, time.Time{}, a.out())
			}
			return a.within(c.Context(), func(p place, h *House) error {
				if o.digest {
					return runDigest(c.Context(), h, p, o, a.out())
				}
				return runInbox(c.Context(), h, p, o, a.out())
			})
		},
	}
	c.Flags().StringVar(&o.whose, "for", "", "only what this person may act on")
	c.Flags().BoolVar(&o.mine, "mine", false, "only what you may act on")
	c.Flags().BoolVar(&o.digest, "digest", false, "in short, for a mail: what waits, what is due, what was decided since the last digest")
	c.Flags().DurationVar(&o.since, "since", 0, "with --digest: what was decided in this time")
	return c
}

func (o inboxOptions) check(since bool) error {
	switch {
	case o.mine && o.whose != "":
		return fault.New(fault.Invalid, "--mine and --for %s are two people", o.whose).Remedy("keep one of them")
	case since && !o.digest:
		return fault.New(fault.Invalid, "--since is about what was decided").Remedy("add --digest")
	case since && o.since <= 0:
		return fault.New(fault.Invalid, "--since %v is no time that has passed", o.since).Remedy("write a duration such as 24h")
	}
	return nil
}

func runInbox(ctx context.Context, h *House, p place, o inboxOptions, out Out) error {
	t := tray{Engine: h.Engine, review: p.review(), now: h.Engine.Now().Local()}
	asks, damage, err := t.asks(ctx)
	if err != nil {
		return err
	}
	if err := writeInbox(o.only(asks, h.Engine, p.actor), t.now, out); err != nil {
		return err
	}
	return reported(damage, out)
}

func writeInbox(asks []view.Ask, now time.Time, out Out) error {
	if out.JSON {
		return out.print(append([]view.Ask{}, asks...))
	}
	return view.AskText(out, asks, now)
}

// only keeps what somebody may act on.
func (o inboxOptions) only(asks []view.Ask, e *engine.Engine, actor string) []view.Ask {
	if o.whose == "" && !o.mine {
		return asks
	}
	name, claimer := gate.Claimed(actor)
	if o.whose != "" {
		name, claimer = person(o.whose), ""
	}
	w := gate.Who{Actor: name}
	if e.People != nil {
		w.Roles = e.People.Roles(name)
		if !e.People.Trusts() {
			w.Claimer = claimer
		}
	}
	var out []view.Ask
	for _, q := range asks {
		if q.For(w) {
			out = append(out, q)
		}
	}
	return out
}

// tray gathers what waits in all plans, and shows each record to whoever wants it.
type tray struct {
	*engine.Engine
	review *plan.Review // of the project
	now    time.Time
	look   func(journal.Record) // nil: nobody
}

// asks lists what waits. A plan that cannot be read does not hide the others.
func (t tray) asks(ctx context.Context) (asks []view.Ask, damage, err error) {
	names, err := t.Journal.Plans(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		st, _, err := t.Load(ctx, name)
		if broken(err) {
			damage = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if st.Phase.Over() && t.look == nil && st.Proposal() == nil {
			continue
		}
		one, err := t.asksOf(ctx, st)
		if err != nil {
			return nil, nil, err
		}
		asks = append(asks, one...)
	}
	view.Overview(asks)
	return asks, damage, nil
}

func (t tray) asksOf(ctx context.Context, st *lifecycle.State) ([]view.Ask, error) {
	since := view.Waits{}
	for r, err := range t.Records(ctx, st.Name, 0) {
		if err != nil {
			return nil, err
		}
		since.Note(r)
		if t.look != nil {
			t.look(r)
		}
	}
	return view.Asks(view.Asking{State: st, Since: since, Now: t.now, Review: t.review,
		Question: func(task string) (lifecycle.Question, error) { return t.Question(ctx, st, task) }}), nil
}
