// Package rehearsal carries a plan out on a virtual clock, many times over, and tells what to expect of it: when it
// will be over, what it will cost, how likely it is to be completed, and what or who holds it up.
//
// Nothing is performed. The law of package lifecycle decides what happens, as it does in a run; this package stands in
// the engine's place and answers every effect: an attempt ends after a duration that is drawn, well or badly; an
// expression comes out as its inputs say or, where only a run could tell, as is assumed; a gate is decided by a simulated
// person. So retries, routes, recoveries, locks, workers and fan-out are those of a run, because they are the same code.
//
// Durations are learned from past attempts where there are any (History), then taken from what the plan and the contracts
// say, and only then guessed; the report tells which is which. Chance comes from the seed alone: equal arguments give
// equal reports. A plan that cannot go on is an outcome, counted as unfinished, and no error.
package rehearsal

import (
	"context"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// MaxTimes bounds how often a plan is rehearsed at once.
const MaxTimes = 1_000_000

// Options say how a plan is rehearsed.
type Options struct {
	Seed    uint64
	Times   int                                         // at least 1
	Author  string                                      // who hands the plan in, such as person:ann; empty: nobody of the team
	Start   time.Time                                   // zero: Monday, at nine
	Workers int                                         // 0: as many as the plan says
	Faults  Faults                                      // beside what History knows
	Team    Team                                        // who answers; see DefaultTeam
	Rules   *policy.Set                                 // who must agree to what; nil: what the plan itself says
	History *History                                    // nil: nothing is known
	Lookup  func(id string) (capability.Contract, bool) // nil: no capability is known
}

// monday is when a rehearsal without a date begins: any Monday would do.
var monday = time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)

// Validate names the first option that is out of its range.
func (o Options) Validate() error {
	switch {
	case o.Times < 1 || o.Times > MaxTimes:
		return fault.New(fault.Invalid, "a plan cannot be rehearsed %d times", o.Times).Remedy("name a number from 1 to %d", MaxTimes)
	case o.Workers < 0:
		return fault.New(fault.Invalid, "a plan cannot be rehearsed with %d workers", o.Workers).Remedy("name a number such as 4")
	}
	return nil
}

// Run rehearses a plan that was checked.
func Run(ctx context.Context, p *plan.Plan, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dated := !o.Start.IsZero()
	if !dated {
		o.Start = monday
	}
	sc, err := newScript(ctx, p, o)
	if err != nil {
		return nil, err
	}
	st := newStage(sc)
	t := newTally(sc, o.Times)
	for i := range o.Times {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := st.play(uint64(i)); err != nil {
			return nil, err
		}
		t.add(st)
	}
	return t.report(dated), nil
}
