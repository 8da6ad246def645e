// Package score measures drafted plans against known ones: which capabilities, which links, how often the whole.
//
// It judges shapes only, a set of capabilities and a set of links, so that drafts of any planner and predictions of
// any program are measured alike. It is pure and never fails: what is missing scores zero, and what breaks the rules
// of a plan is counted as invalid.
package score

// Shape is what of a plan is measured.
type Shape struct {
	Steps []string
	Links [][2]string
}

// Score is how near one plan came to the known one.
type Score struct {
	Node    float64 // F1 of the two sets of capabilities
	Link    float64 // F1 of the two sets of links
	Exact   bool    // the capabilities are the known ones, no more and no fewer
	Invalid bool    // no plan at all, or one that could not be carried out
}

const exactly = 0.99 // a node F1 from which on two sets are the same

// Of measures a plan. Capabilities that offered does not know make it invalid; a nil offered knows all.
func Of(want, got Shape, offered func(string) bool) Score {
	s := Score{Node: f1(want.Steps, got.Steps), Link: f1(want.Links, got.Links)}
	s.Exact = s.Node >= exactly
	s.Invalid = !valid(got, offered)
	return s
}

// f1 is the harmonic mean of precision and recall of two sets, 0 when either is empty.
func f1[T comparable](want, got []T) float64 {
	wanted := set(want)
	found := set(got)
	hits := 0
	for x := range found {
		if wanted[x] {
			hits++
		}
	}
	if hits == 0 {
		return 0
	}
	return 2 * float64(hits) / float64(len(wanted)+len(found))
}

func set[T comparable](list []T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, x := range list {
		m[x] = true
	}
	return m
}

// valid reports whether a plan has steps, all of them on offer, and links that join its own steps in no circle.
func valid(p Shape, offered func(string) bool) bool {
	if len(p.Steps) == 0 {
		return false
	}
	steps := set(p.Steps)
	for id := range steps {
		if id == "" || offered != nil && !offered(id) {
			return false
		}
	}
	for _, l := range p.Links {
		if !steps[l[0]] || !steps[l[1]] {
			return false
		}
	}
	// A capability that is used twice may rightly be linked both ways.
	return len(steps) < len(p.Steps) || !circular(p)
}

// circular takes away what nothing leads to until nothing is left, or only circles are.
func circular(p Shape) bool {
	links := set(p.Links)
	left := set(p.Steps)
	for len(left) > 0 {
		led := map[string]bool{}
		for l := range links {
			if left[l[0]] {
				led[l[1]] = true
			}
		}
		before := len(left)
		for id := range left {
			if !led[id] {
				delete(left, id)
			}
		}
		if len(left) == before {
			return true
		}
	}
	return false
}
