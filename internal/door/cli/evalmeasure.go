package cli

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/planner/experience"
	"github.com/cairn-plan/cairn/internal/planner/score"
)

// exam is the cases of an evaluation and what may be used to answer them.
type exam struct {
	evalOptions
	asked   []experience.Case
	past    []experience.Case
	tools   []experience.Tool
	offered map[string]bool
}

func (o evalOptions) load() (*exam, error) {
	e := &exam{evalOptions: o, offered: map[string]bool{}}
	var err error
	if e.tools, err = readInput(o.tools, o.in, experience.ReadTools); err != nil {
		return nil, err
	}
	for _, t := range e.tools {
		e.offered[t.ID] = true
	}
	if e.asked, err = readInput(o.cases, o.in, experience.ReadCases); err != nil {
		return nil, err
	}
	if o.folds > len(e.asked) {
		return nil, fault.New(fault.Invalid, "%d folds of %s leave folds empty", o.folds, count(len(e.asked), "case")).
			Remedy("use at most --folds %d", len(e.asked))
	}
	if o.experience != "" {
		e.past, err = readInput(o.experience, o.in, experience.ReadCases)
	}
	return e, err
}

// measure lets one contestant answer every case.
func (e *exam) measure(ctx context.Context, name string) (*contestant, error) {
	c := &contestant{Name: name, drafts: make([]prediction, len(e.asked))}
	if isPlanner(name) {
		if err := e.draft(ctx, c); err != nil {
			return nil, err
		}
	} else if err := e.lookUp(c); err != nil {
		return nil, err
	}
	for i, known := range e.asked {
		got := c.drafts[i].shape()
		c.scores = append(c.scores, score.Of(score.Shape{Steps: known.Steps, Links: known.Links}, got, func(id string) bool { return e.offered[id] }))
	}
	c.Summary = score.Mean(c.scores)
	return c, nil
}

// draft has a planner answer. With folds, a case is answered by a planner that knows the other folds only; the fold
// of a case is its line number modulo the number of folds.
func (e *exam) draft(ctx context.Context, c *contestant) error {
	var times []time.Duration
	for fold := range max(1, e.folds) {
		past := e.past
		if e.folds > 0 {
			past = slices.DeleteFunc(slices.Clone(e.asked), func(k experience.Case) bool { return k.Line%e.folds == fold })
		}
		plan := drafting(c.Name, past, e.tools)
		for i, known := range e.asked {
			if e.folds > 0 && known.Line%e.folds != fold {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			began := time.Now()
			d := plan(known.Goal)
			times = append(times, time.Since(began))
			c.drafts[i] = predict(known.ID, d)
		}
	}
	slices.Sort(times)
	c.P95 = float64(times[(len(times)*95-1)/100].Microseconds()) / 1000
	return nil
}

// lookUp takes the answers from a file. A case that the file leaves out has no plan; one that nobody asked about is
// a mistake.
func (e *exam) lookUp(c *contestant) error {
	given, err := readInput(c.Name, e.in, experience.ReadPredictions)
	if err != nil {
		return err
	}
	place := map[string]int{}
	for i, known := range e.asked {
		place[known.ID] = i
		c.drafts[i].ID = known.ID
	}
	for _, g := range given {
		i, ok := place[g.ID]
		if !ok {
			return fault.New(fault.Invalid, "%s:%d: no case of %s has the id %q", c.Name, g.Line, e.cases, g.ID).
				Remedy("take the line out, or measure on the cases it was made for")
		}
		c.drafts[i] = prediction{ID: g.ID, Links: g.Links}
		for _, id := range g.Steps {
			c.drafts[i].Steps = append(c.drafts[i].Steps, predicted{id})
		}
	}
	return nil
}
