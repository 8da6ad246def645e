package experience

import (
	"math"
	"slices"
)

// habits is how past plans put capabilities in order and linked them.
type habits struct {
	users  [][]int            // for each capability the cases whose plans have it, in order
	linked map[[2]int]float64 // plans in which the first was linked to the second
	both   map[[2]int]float64 // plans with both, smaller number first
	chains float64            // share of past plans in which each step is linked to the next, and no others are
}

func learnHabits(p *Planner) *habits {
	h := &habits{users: make([][]int, len(p.caps)), linked: map[[2]int]float64{}, both: map[[2]int]float64{}, chains: 1}
	chains := 0
	for d, plan := range p.plans {
		for i, a := range plan {
			h.users[a] = append(h.users[a], d)
			for _, b := range plan[i+1:] {
				h.both[pair(a, b)]++
			}
		}
		links := p.linksOf(d)
		for _, l := range links {
			h.linked[l]++
		}
		if isChain(plan, links) {
			chains++
		}
	}
	if len(p.plans) > 0 {
		h.chains = float64(chains) / float64(len(p.plans))
	}
	return h
}

func pair(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// linksOf is the links of a case, each once.
func (p *Planner) linksOf(d int) [][2]int {
	var links [][2]int
	seen := map[[2]int]bool{}
	for _, l := range p.cases[d].Links {
		a, okA := p.number[l[0]]
		b, okB := p.number[l[1]]
		k := [2]int{a, b}
		if okA && okB && a != b && !seen[k] {
			seen[k] = true
			links = append(links, k)
		}
	}
	return links
}

func isChain(plan []int, links [][2]int) bool {
	if len(links) != len(plan)-1 {
		return false
	}
	for i, l := range links {
		if l != [2]int{plan[i], plan[i+1]} {
			return false
		}
	}
	return true
}

const (
	textPull  = 3.0  // what the order of the text counts against the orders of past plans
	textScale = 2.0  // words between two places that make their order plain
	nearPull  = 6.0  // how fast the say of a past plan falls with likeness
	farSay    = 0.01 // the say of a past plan that reads quite differently
	linkPull  = 0.5  // what it counts that one has followed straight on the other
)

// order puts the chosen capabilities in the order that past plans and the text speak for.
func (p *Planner) order(chosen []pick, likeness []float64) []pick {
	if len(chosen) < 2 || len(chosen) > longest {
		return chosen
	}
	ordered := make([]pick, 0, len(chosen))
	for _, i := range bestOrder(p.preferences(chosen, likeness)) {
		ordered = append(ordered, chosen[i])
	}
	return ordered
}

// wish is what it is worth that one pick stands before another, and that it stands straight before it.
type wish struct{ before, next float64 }

// bestOrder finds the order that fulfils most. It goes through the subsets, each with the pick that comes last in it:
// what is gained by putting one more behind does not hang on the order of those before.
func bestOrder(wishes [][]wish) []int {
	n := len(wishes)
	full := 1<<n - 1
	worth := make([][]float64, full+1)
	from := make([][]int, full+1)
	for mask := range worth {
		worth[mask], from[mask] = make([]float64, n), make([]int, n)
		for last := range n {
			if mask != 1<<last {
				worth[mask][last] = math.Inf(-1)
			}
		}
	}
	for mask := 1; mask < full; mask++ {
		for j := range n {
			if mask>>j&1 == 1 {
				continue
			}
			behind := 0.0
			for i := range n {
				if mask>>i&1 == 1 {
					behind += wishes[i][j].before
				}
			}
			to := mask | 1<<j
			for last := range n {
				if w := worth[mask][last] + behind + wishes[last][j].next; w > worth[to][j] {
					worth[to][j], from[to][j] = w, last
				}
			}
		}
	}
	order := make([]int, n)
	last := 0
	for i := range n {
		if worth[full][i] > worth[full][last] {
			last = i
		}
	}
	for mask, k := full, n-1; k >= 0; k-- {
		order[k] = last
		mask, last = mask&^(1<<last), from[mask][last]
	}
	return order
}

// preferences says for each two picks what their order is worth.
func (p *Planner) preferences(chosen []pick, likeness []float64) [][]wish {
	all := make([][]wish, len(chosen))
	for i := range all {
		all[i] = make([]wish, len(chosen))
	}
	for i, a := range chosen {
		for j := i + 1; j < len(chosen); j++ {
			b := chosen[j]
			f, r := p.precedents(a.cap, b.cap, likeness)
			seen := f.before + r.before
			inText := textPull * sigmoid((b.at-a.at)/textScale)
			forward := f.before + inText
			backward := r.before + textPull - inText
			all[i][j].before = math.Log(forward / (forward + backward))
			all[j][i].before = math.Log(backward / (forward + backward))
			all[i][j].next = linkPull * math.Log((f.next+0.1)/(seen+0.2))
			all[j][i].next = linkPull * math.Log((r.next+0.1)/(seen+0.2))
		}
	}
	return all
}

// precedents weighs the past plans that had both capabilities, by how much their goals read like this one: those with
// a before b, and those with b before a.
func (p *Planner) precedents(a, b int, likeness []float64) (forward, backward wish) {
	shared := intersect(p.habits.users[a], p.habits.users[b])
	top := 0.0
	for _, d := range shared {
		top = max(top, likeness[d])
	}
	for _, d := range shared {
		say := farSay
		if top > 0 {
			say += math.Pow(likeness[d]/top, nearPull)
		}
		i, j := slices.Index(p.plans[d], a), slices.Index(p.plans[d], b)
		w, apart := &forward, j-i
		if j < i {
			w, apart = &backward, i-j
		}
		w.before += say
		if apart == 1 {
			w.next += say
		}
	}
	return forward, backward
}

// intersect lists what is in both of two ascending lists.
func intersect(x, y []int) []int {
	var both []int
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			both = append(both, x[0])
			x, y = x[1:], y[1:]
		}
	}
	return both
}

// links joins an ordered draft: step to step where past plans are chains, and else the pairs that were linked in most
// of the plans that had both. A step that nothing leads to follows on the one before it.
func (p *Planner) links(steps []pick) []Link {
	all := []Link{}
	for j := 1; j < len(steps); j++ {
		led := false
		for i := 0; i < j && p.habits.chains < 0.5; i++ {
			a, b := steps[i].cap, steps[j].cap
			both := p.habits.both[pair(a, b)]
			if p.habits.linked[[2]int{a, b}] > both/2 {
				all = append(all, Link{p.caps[a], p.caps[b]})
				led = true
			}
		}
		if !led {
			all = append(all, Link{p.caps[steps[j-1].cap], p.caps[steps[j].cap]})
		}
	}
	return all
}
