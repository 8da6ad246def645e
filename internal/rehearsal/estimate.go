package rehearsal

import (
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Basis says where the duration of a task comes from.
type Basis string

// The bases, from the firmest to none.
const (
	Learned   Basis = "learned"    // from past attempts of this task
	Estimated Basis = "estimate"   // the plan says so
	Promised  Basis = "contract"   // the capability's contract says so
	Alike     Basis = "capability" // from past attempts of other tasks by the same capability
	Timeout   Basis = "timeout"    // a third of it
	Budgeted  Basis = "budget"     // half of the task's budget of time
	ByKind    Basis = "kind"       // guessed
)

// guess is what tasks of a kind are thought to take when nobody says anything.
type guess struct{ tool, person time.Duration }

var guesses = map[plan.Kind]guess{
	plan.Intake:     {10 * time.Second, 15 * time.Minute},
	plan.Research:   {2 * time.Minute, 4 * time.Hour},
	plan.Analyze:    {time.Minute, 2 * time.Hour},
	plan.Synthesize: {time.Minute, 2 * time.Hour},
	plan.Design:     {2 * time.Minute, 4 * time.Hour},
	plan.Implement:  {2 * time.Minute, 8 * time.Hour},
	plan.Validate:   {2 * time.Minute, 2 * time.Hour},
	plan.Debug:      {2 * time.Minute, 4 * time.Hour},
	plan.Refactor:   {2 * time.Minute, 4 * time.Hour},
	plan.Deploy:     {3 * time.Minute, 30 * time.Minute},
	plan.Document:   {time.Minute, 2 * time.Hour},
}

// otherwise is the guess for every other kind, and for none.
var otherwise = guess{30 * time.Second, 30 * time.Minute}

// estimate finds out how long a task takes: from past attempts, from what was written about it, or by its kind. sure is
// false for a guess: outlasting the timeout then says nothing about the task.
func (sc *script) estimate(id string, t *plan.Task, c capability.Contract) (s spread, basis Basis, sure bool) {
	if p := sc.History.task(id, t.Uses); p != nil && len(p.took) > 0 {
		return among(p.took), Learned, true
	}
	switch {
	case t.Estimate > 0:
		return around(t.Estimate.D(), spreadKnown), Estimated, true
	case c.Estimate > 0:
		return around(c.Estimate, spreadKnown), Promised, true
	}
	if p := sc.History.capability(t.Uses); p != nil && len(p.took) > 0 {
		return among(p.took), Alike, false
	}
	switch {
	case t.Timeout > 0:
		return around(t.Timeout.D()/3, spreadGuessed), Timeout, false
	case t.Budget != nil && t.Budget.Time > 0:
		return around(t.Budget.Time.D()/2, spreadGuessed), Budgeted, false
	}
	g, known := guesses[t.Kind]
	if !known {
		g = otherwise
	}
	if t.Uses == "" {
		return around(g.person, spreadGuessed), ByKind, false
	}
	return around(g.tool, spreadGuessed), ByKind, false
}

// tiers is what one attempt is thought to cost by the cost tier of its capability, in micro-units.
var tiers = [...]int64{0, 0, 10_000, 100_000, 1_000_000, 10_000_000}

// currency is that of costs where the plan names none.
const currency = "USD"

// price is what one attempt costs. The budget of a task is spent when all of its attempts are used.
func (sc *script) price(t *plan.Task, c capability.Contract) plan.Money {
	if t.Budget != nil && t.Budget.Cost.Micro > 0 {
		attempts := int64(1)
		if t.Retry != nil {
			attempts += int64(t.Retry.Times)
		}
		return plan.Money{Micro: t.Budget.Cost.Micro / attempts, Currency: t.Budget.Cost.Currency}
	}
	m := plan.Money{Micro: tiers[max(0, min(c.CostTier, len(tiers)-1))], Currency: currency}
	if p := sc.plan.Policy; p != nil && p.Budget != nil && p.Budget.Cost.Currency != "" {
		m.Currency = p.Budget.Cost.Currency
	}
	return m
}
