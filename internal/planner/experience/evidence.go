package experience

import (
	"math"
	"slices"
)

// evidence is what each word, and each pair of words, says for and against each capability: one logistic regression
// for each capability. A rare word is heard only about capabilities it has met; a common one also speaks against
// those it never meets.
type evidence struct {
	rows []row // for each feature
	bias []float64
}

// row is what one feature says.
type row struct {
	caps   []int32   // the capabilities it has met, ascending; nil when it speaks of all of them
	weight []float32 // for each of them
	pace   []float32 // sums of squared steps: what has moved much moves less. Nil once everything is learned
}

const (
	rounds = 5   // more would learn the past by heart
	rate   = 1.0 // length of a step
	rarest = 2   // cases that a feature must be in to be heard
	common = 20  // cases from which on a feature speaks of all capabilities
	// unlikely is the log-odds of one in a hundred; an error smaller than that teaches nothing.
	unlikely = -4.6
)

func learnEvidence(x *index, plans [][]int, caps int) *evidence {
	e := &evidence{rows: make([]row, len(x.posted)), bias: make([]float64, caps)}
	e.lay(x, plans)
	scores, wrong := make([]float64, caps), make([]float64, caps)
	pace := make([]float64, caps)
	var active []int32
	for range rounds {
		for d, v := range x.vectors {
			e.score(v, scores)
			active = active[:0]
			for c, s := range scores {
				wrong[c] = 0
				wanted := slices.Contains(plans[d], c)
				if !wanted && s < unlikely || wanted && s > -unlikely {
					continue
				}
				wrong[c] = sigmoid(s)
				if wanted {
					wrong[c]--
				}
				active = append(active, int32(c))
				pace[c] += wrong[c] * wrong[c]
				e.bias[c] -= 0.1 * wrong[c] / math.Sqrt(1+pace[c])
			}
			for _, w := range v {
				e.rows[w.feature].learn(w.says, wrong, active)
			}
		}
	}
	for f := range e.rows {
		e.rows[f].pace = nil
	}
	return e
}

// lay makes a place for every feature and each capability it can speak of.
func (e *evidence) lay(x *index, plans [][]int) {
	caps := len(e.bias)
	counts := make([]int, caps)
	for _, plan := range plans {
		for _, c := range plan {
			counts[c]++
		}
	}
	for c, n := range counts {
		e.bias[c] = math.Log((float64(n)+0.1)/(float64(len(plans)-n)+1)) - 1
	}
	for f, posted := range x.posted {
		r := &e.rows[f]
		switch {
		case len(posted) < rarest:
			continue
		case len(posted) >= max(common, caps/8):
			r.weight, r.pace = make([]float32, caps), make([]float32, caps)
			continue
		}
		for _, p := range posted {
			for _, c := range plans[p.doc] {
				r.caps = append(r.caps, int32(c))
			}
		}
		slices.Sort(r.caps)
		r.caps = slices.Clip(slices.Compact(r.caps))
		r.weight, r.pace = make([]float32, len(r.caps)), make([]float32, len(r.caps))
	}
}

// learn moves what the feature says of the active capabilities, by how wrong the whole was about each.
func (r *row) learn(weight float64, wrong []float64, active []int32) {
	if r.caps == nil && r.weight != nil {
		for _, c := range active {
			r.step(int(c), wrong[c]*weight)
		}
		return
	}
	for i, c := range r.caps {
		if wrong[c] != 0 {
			r.step(i, wrong[c]*weight)
		}
	}
}

func (r *row) step(i int, slope float64) {
	s := float32(slope)
	r.pace[i] += s * s
	r.weight[i] -= rate * s / float32(math.Sqrt(float64(0.01+r.pace[i])))
}

// score fills in the log-odds of every capability.
func (e *evidence) score(v vector, scores []float64) {
	copy(scores, e.bias)
	for _, w := range v {
		r := &e.rows[w.feature]
		if r.caps == nil {
			for c, says := range r.weight {
				scores[c] += w.says * float64(says)
			}
			continue
		}
		for i, c := range r.caps {
			scores[c] += w.says * float64(r.weight[i])
		}
	}
}

// says is the weight of a feature for a capability, 0 when it says nothing.
func (e *evidence) says(feature, capability int) float64 {
	r := &e.rows[feature]
	if r.caps == nil && r.weight != nil {
		return float64(r.weight[capability])
	}
	if i, ok := slices.BinarySearch(r.caps, int32(capability)); ok {
		return float64(r.weight[i])
	}
	return 0
}

// places says for each of caps where the goal speaks of it: the mean place of the words that speak for it.
func (e *evidence) places(v vector, caps []int) []float64 {
	at := make([]float64, len(caps))
	for i, c := range caps {
		sum, weight := 0.0, 0.0
		for _, w := range v {
			if s := w.says * e.says(w.feature, c); s > 0 {
				sum += s * s * float64(w.at)
				weight += s * s
			}
		}
		if weight > 0 {
			at[i] = sum / weight
		}
	}
	return at
}

// speaking lists the words that speak for a capability, loudest first.
func (e *evidence) speaking(g []token, v vector, capability int) []string {
	var all []voice
	for _, w := range v {
		if s := w.says * e.says(w.feature, capability); s > 0 {
			all = append(all, voice{w.at, s})
		}
	}
	return loudest(g, all)
}

func sigmoid(s float64) float64 { return 1 / (1 + math.Exp(-s)) }
