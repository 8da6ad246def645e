package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
)

type runOptions struct {
	yes     bool
	until   string
	workers int
	dry     bool

	rehearsal rehearseOptions
}

func (o *runOptions) addFlags(c *cobra.Command, a *app) {
	c.Flags().BoolVar(&o.yes, "yes", false, "answer yes to what you may decide, and complete manual tasks without outputs")
	c.Flags().StringVar(&o.until, "until", "", "stop when this task is over")
	c.Flags().IntVar(&o.workers, "workers", 0, "how many tasks run at once (default: as the plan says, else 4)")
	c.Flags().BoolVar(&a.plain, "plain", false, "print lines instead of a live tree")
}

// check refuses what no run can be driven with.
func (o runOptions) check() error {
	if o.workers < 0 {
		return fault.New(fault.Invalid, "--workers is %d, which is no number above 0", o.workers).Remedy("name a number such as 4")
	}
	return nil
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:     "run FILE|PLAN|GOAL [--dry-run] [--rehearse] [--yes] [--until TASK] [--workers N] [--plain]",
		Short:   "carry out a plan file, go on with a plan, or plan for a goal and carry that out",
		Example: "  cairn run examples/first.yaml\n  cairn run release.yaml --dry-run\n  cairn run release.yaml --rehearse --faults 5%\n  cairn run release.yaml --until test\n  cairn run - --json < plan.yaml\n  cairn run \"Compare three note-taking apps\"",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(o.check(), o.rehearsal.check(c)); err != nil {
				return err
			}
			p, err := a.at()
			if err != nil {
				return err
			}
			if isGoal(args[0]) {
				return a.runGoal(c.Context(), p, args[0], o)
			}
			plan, isPlan, err := a.meant(c.Context(), p, args[0])
			switch {
			case err != nil:
				return err
			case isPlan && o.rehearsal.on:
				return a.rehearsePlan(c.Context(), p, plan, o)
			case isPlan:
				return a.within(c.Context(), func(p place, h *House) error {
					if o.dry {
						return a.dryRunPlan(c.Context(), h, plan)
					}
					return a.goOn(c.Context(), h, p, plan, o)
				})
			}
			return a.runFile(c.Context(), p, args[0], o)
		},
	}
	o.addFlags(c, a)
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what would be done, and do nothing")
	o.rehearsal.addFlags(c)
	return c
}

// isGoal reports whether the argument of run is a goal: it has spaces, and there is no such file.
func isGoal(arg string) bool {
	_, err := os.Stat(arg)
	return err != nil && strings.ContainsAny(arg, " \t\n") && !slices.Contains(planEndings, filepath.Ext(arg))
}

// runGoal plans for a goal and carries the plan out.
func (a *app) runGoal(ctx context.Context, p place, goal string, o runOptions) error {
	d, text, err := a.plan(ctx, goal, planOptions{})
	if err != nil {
		return err
	}
	if !a.json {
		writePlanned(a.io.Err, d)
	}
	caps, err := a.parts.Catalogue(p.home)
	if err != nil {
		return err
	}
	r, err := readPlan(fromStdin, bytes.NewReader(text), caps)
	if err != nil {
		return err
	}
	return a.runRead(ctx, p, r, o)
}

// meant decides what the argument of run is: a file, or the name of a plan.
func (a *app) meant(ctx context.Context, p place, arg string) (plan string, isPlan bool, err error) {
	info, err := os.Stat(arg)
	if arg == fromStdin || err == nil && !info.IsDir() {
		return "", false, nil
	}
	if filepath.Base(arg) != arg || slices.Contains(planEndings, filepath.Ext(arg)) || !p.hasHome() {
		return "", false, nil
	}
	err = a.within(ctx, func(_ place, h *House) error {
		head, err := h.Engine.Journal.Head(ctx, arg)
		isPlan = head.Seq > 0
		return err
	})
	if err == nil && !isPlan && info == nil {
		return "", false, fault.New(fault.NotFound, "%s is neither a file nor a plan", arg).Remedy("see the plans with: cairn list")
	}
	return arg, isPlan, err
}

// runFile checks a plan file and only then opens the home, so that a bad one leaves it as it was.
func (a *app) runFile(ctx context.Context, p place, name string, o runOptions) error {
	caps, err := a.parts.Catalogue(p.home)
	if err != nil {
		return err
	}
	r, err := readPlan(name, a.io.In, caps)
	if err != nil {
		return err
	}
	return a.runRead(ctx, p, r, o)
}

func (a *app) runRead(ctx context.Context, p place, r reading, o runOptions) error {
	if !a.json {
		if err := r.tell(a.io.Err, false); err != nil {
			return err
		}
	}
	if err := r.err(); err != nil {
		return err
	}
	rules, err := p.rules(r.plan)
	if err == nil {
		err = nobodyHas(r.plan, rules, p.roles)
	}
	if err != nil {
		return err
	}
	switch {
	case o.dry:
		return a.dryRunFile(ctx, p, r)
	case o.rehearsal.on:
		return a.rehearse(ctx, p, r.plan, o)
	}
	h, err := a.open(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(a.submit(ctx, h, p, r, o), h.Close())
}

func (a *app) submit(ctx context.Context, h *House, p place, r reading, o runOptions) error {
	plan, err := h.Engine.Submit(ctx, r.plan, filepath.ToSlash(r.name), p.actor)
	if err != nil {
		return err
	}
	if plan != r.plan.Name && !a.json {
		fmt.Fprintf(a.io.Err, "plan %s is over; this run is %s\n", r.plan.Name, plan)
	}
	return a.drive(ctx, h, p, plan, o)
}
