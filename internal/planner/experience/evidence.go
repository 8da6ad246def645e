package experience

import "math"

// evidence is what each word, and each pair of words, says for and against each capability: one logistic regression
// for each capability, held only where word and capability have met.
type evidence struct {
	rows [][]leaning // for each feature
	bias []float64
}

type leaning struct {
	cap    int32
	weight float32
	pace   float32 // sum of squared gradients: who has moved much moves less
}

const (
	rounds  = 4
	rate    = 1.0
	caution = 1e-4 // pull toward zero
	rarest  = 2    // cases that a feature must be in to be heard
	settled = 0.01 // an error so small teaches nothing
)

func learnEvidence(x *index, plans [][]int, caps int) *evidence {
	e := &evidence{rows: make([][]leaning, len(x.idf)), bias: make([]float64, caps)}
	e.lay(x, plans)
	scores := make([]float64, caps)
	wanted := make([]bool, caps)
	pace := make([]float64, caps)
	for range rounds {
		for d, v := range x.vectors {
			for _, c := range plans[d] {
				wanted[c] = true
			}
			e.score(v, scores)
			for c, s := range scores {
				g := sigmoid(s)
				if wanted[c] {
					g--
				}
				if math.Abs(g) < settled {
					g = 0
				}
				scores[c] = g
				if g != 0 {
					pace[c] += g * g
					e.bias[c] -= 0.1 * g / math.Sqrt(1+pace[c])
				}
			}
			e.learn(v, scores)
			for _, c := range plans[d] {
				wanted[c] = false
			}
		}
	}
	return e
}

// lay makes a place for every feature and capability that have met.
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
	last := make([]int, caps)
	for f, posted := range x.posted {
		if len(posted) < rarest {
			continue
		}
		for _, p := range posted {
			for _, c := range plans[p.doc] {
				if last[c] != f+1 {
					last[c] = f + 1
					e.rows[f] = append(e.rows[f], leaning{cap: int32(c)})
				}
			}
		}
	}
}

func (e *evidence) learn(v vector, gradient []float64) {
	for _, w := range v {
		row := e.rows[w.feature]
		for i := range row {
			l := &row[i]
			g := gradient[l.cap]
			if g == 0 {
				continue
			}
			step := float32(g*w.weight + caution*float64(l.weight))
			l.pace += step * step
			l.weight -= rate * step / float32(math.Sqrt(float64(0.01+l.pace)))
		}
	}
}

// score fills in the log-odds of every capability.
func (e *evidence) score(v vector, scores []float64) {
	copy(scores, e.bias)
	for _, w := range v {
		for _, l := range e.rows[w.feature] {
			scores[l.cap] += w.weight * float64(l.weight)
		}
	}
}

func sigmoid(s float64) float64 { return 1 / (1 + math.Exp(-s)) }
