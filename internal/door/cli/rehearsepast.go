package cli

import (
	"context"
	"iter"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
)

// past learns from the runs of a home, as far as they used capabilities that a plan uses too.
func past(ctx context.Context, h *House, subject *plan.Plan) (*rehearsal.History, error) {
	known := rehearsal.NewHistory()
	uses := map[string]bool{}
	used(subject.Tasks, uses)
	names, err := h.Engine.Journal.Plans(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := learn(ctx, h, name, uses, known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

func used(tasks []plan.Task, into map[string]bool) {
	for i := range tasks {
		into[tasks[i].Uses] = true
		if tasks[i].Subplan != nil {
			used(tasks[i].Subplan.Tasks, into)
		}
	}
}

// learn takes one run. What it was submitted with comes first, and tells whether the rest is worth reading.
func learn(ctx context.Context, h *House, name string, uses map[string]bool, known *rehearsal.History) error {
	next, stop := iter.Pull2(h.Engine.Records(ctx, name, 0))
	defer stop()
	first, err, ok := next()
	if !ok || err != nil {
		return err
	}
	f, err := lifecycle.FactOf(first)
	if err != nil {
		return err
	}
	b, ok := f.Body.(*lifecycle.Submitted)
	if !ok || !shared(b.Capabilities, uses) {
		return nil
	}
	spec, err := h.Engine.Spec(ctx, b)
	if err != nil {
		return nil // a run whose plan is gone teaches nothing; audit verify is there to complain of it
	}
	return known.Learn(spec, func(yield func(journal.Record, error) bool) {
		for {
			if r, err, ok := next(); !ok || !yield(r, err) || err != nil {
				return
			}
		}
	})
}

func shared(installed map[string]lifecycle.Installed, uses map[string]bool) bool {
	for id := range installed {
		if uses[id] {
			return true
		}
	}
	return false
}
