package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

// rehearseOptions are what run takes with --rehearse.
type rehearseOptions struct {
	on     bool
	seed   uint64
	times  int
	faults []string
	team   string
	start  string
}

// rehearseFlags mean nothing without --rehearse.
var rehearseFlags = []string{"seed", "times", "faults", "team", "start"}

func (o *rehearseOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.on, "rehearse", false, "play it on a virtual clock instead, and tell what to expect of it")
	f.Uint64Var(&o.seed, "seed", 1, "of a rehearsal: where its chances come from")
	f.IntVar(&o.times, "times", 1000, "of a rehearsal: how often it is played")
	f.StringSliceVar(&o.faults, "faults", nil, "of a rehearsal: how many attempts fail, such as 5% or TASK=50%")
	f.StringVar(&o.team, "team", "", "of a rehearsal: a file that says who answers, and how soon")
	f.StringVar(&o.start, "start", "", "of a rehearsal: when it begins, such as 2026-05-04 or 2026-05-04T09:30 (default: a Monday at 9:00)")
}

// check refuses flags that contradict each other.
func (o *rehearseOptions) check(c *cobra.Command) error {
	if !o.on {
		for _, name := range rehearseFlags {
			if c.Flags().Changed(name) {
				return fault.New(fault.Invalid, "--%s is about rehearsals, and nothing is rehearsed here", name).Remedy("add --rehearse")
			}
		}
		return nil
	}
	for _, name := range []string{"dry-run", "yes", "until"} {
		if c.Flags().Changed(name) {
			return fault.New(fault.Invalid, "--rehearse and --%s do not go together", name).Remedy("leave one of them out")
		}
	}
	return nil
}

// read makes of flags and files what a rehearsal goes by.
func (o *rehearseOptions) read(a *app, p place) (r rehearsal.Options, err error) {
	r = rehearsal.Options{Seed: o.seed, Times: o.times, Author: p.actor, Team: rehearsal.DefaultTeam()}
	if r.Faults, err = rehearsal.ParseFaults(o.faults); err != nil {
		return r, err
	}
	if r.Start, err = parseStart(o.start); err != nil {
		return r, err
	}
	if o.team != "" {
		text, err := readFile(o.team, a.io.In)
		if err != nil {
			return r, err
		}
		if r.Team, err = rehearsal.ParseTeam(filepath.ToSlash(o.team), text); err != nil {
			return r, err
		}
	}
	join(r.Team, p.roles)
	return r, r.Validate()
}

// join adds the people of the project's settings, who have the last word only where the team file names none.
func join(team rehearsal.Team, roles map[string][]string) {
	for name, actors := range roles {
		r, ok := team[name]
		if !ok {
			r = team[rehearsal.Anyone]
			r.People = nil
		}
		if len(r.People) == 0 {
			for _, actor := range actors {
				r.People = append(r.People, gate.Name(actor))
			}
			team[name] = r
		}
	}
}

// parseStart reads a date, which begins at nine, or a time; without a zone it is taken as it stands.
func parseStart(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.Add(9 * time.Hour), nil
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid, "--start is %q, which is no date and no time", s).
		Remedy("write 2026-05-04, 2026-05-04T09:30 or 2026-05-04T09:30:00+02:00")
}

// rehearse plays a plan and prints what to expect. Like a dry run it ends well whatever it finds. Where there is no home it
// makes none, and nothing is known of the past.
func (a *app) rehearse(ctx context.Context, p place, subject *plan.Plan, o runOptions) error {
	r, err := o.rehearsal.read(a, p)
	if err != nil {
		return err
	}
	if r.Rules, err = p.rules(subject); err != nil {
		return err
	}
	caps, err := a.parts.Catalogue(p.home)
	if err != nil {
		return err
	}
	r.Lookup = func(id string) (capability.Contract, bool) {
		c, _, ok := caps.Lookup(id)
		return c, ok
	}
	if r.Workers = o.workers; r.Workers == 0 {
		r.Workers = p.workers
	}
	if p.hasHome() {
		err := a.within(ctx, func(_ place, h *House) error {
			r.History, err = past(ctx, h, subject)
			return err
		})
		if err != nil {
			return err
		}
	}
	report, err := rehearsal.Run(ctx, subject, r)
	if err != nil {
		return err
	}
	if a.json {
		return a.out().print(report)
	}
	return writeRehearsal(a.out(), report)
}

// rehearsePlan plays a plan that is in the home, as if it were run anew.
func (a *app) rehearsePlan(ctx context.Context, p place, name string, o runOptions) error {
	var subject *plan.Plan
	err := a.within(ctx, func(_ place, h *House) error {
		st, _, err := h.Engine.Load(ctx, name)
		if err == nil {
			subject = st.Plan
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.rehearse(ctx, p, subject, o)
}
