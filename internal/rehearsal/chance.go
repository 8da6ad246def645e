package rehearsal

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// chance is where everything that is drawn comes from.
type chance struct {
	pcg  rand.PCG
	rand *rand.Rand
}

func newChance() *chance {
	c := &chance{}
	c.rand = rand.New(&c.pcg)
	return c
}

// begin makes what follows depend on the seed and the number of the rehearsal, and on nothing before.
func (c *chance) begin(seed, number uint64) { c.pcg.Seed(mix(seed), mix(seed^mix(number+1))) }

// mix scatters numbers that are close to each other: neighbouring seeds must not give similar rehearsals.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// happens reports whether something of this likelihood does. What is certain, or impossible, draws nothing.
func (c *chance) happens(likelihood float64) bool {
	return likelihood >= 1 || likelihood > 0 && c.rand.Float64() < likelihood
}

// How widely durations are spread around their median: the standard deviation of their logarithm. One in ten takes longer
// than the median by a factor of 1.4 (few are known, or somebody estimated), 2.2 (guessed) and 2.8 (people answer).
const (
	spreadKnown   = 0.25
	spreadGuessed = 0.6
	spreadPeople  = 0.8
	maxDeviations = 3
)

// enough is how many past durations speak for themselves; fewer only tell where the middle is.
const enough = 5

// spread draws durations: among those that were, or around a median.
type spread struct {
	median time.Duration
	sigma  float64
	past   []time.Duration // sorted; nil: lognormal around the median
}

// around draws from a lognormal distribution.
func around(median time.Duration, sigma float64) spread { return spread{median: median, sigma: sigma} }

// among draws from past durations, which it sorts.
func among(past []time.Duration) spread {
	slices.Sort(past)
	s := spread{median: past[len(past)/2], sigma: spreadKnown}
	if len(past) >= enough {
		s.past = past
	}
	return s
}

func (s spread) draw(c *chance) time.Duration {
	switch {
	case s.past != nil:
		at := c.rand.Float64() * float64(len(s.past)-1)
		low := int(at)
		a, b := s.past[low], s.past[min(low+1, len(s.past)-1)]
		return a + time.Duration((at-float64(low))*float64(b-a))
	case s.median == 0 || s.sigma == 0:
		return s.median
	}
	n := max(-maxDeviations, min(maxDeviations, c.rand.NormFloat64()))
	// Machines differ in the last bit of Exp; a seed has to give the same everywhere.
	factor := math.Round(math.Exp(s.sigma*n)*1e6) / 1e6
	return time.Duration(min(float64(s.median)*factor, float64(horizon)))
}
