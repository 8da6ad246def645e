package score

// Summary is the mean over cases; each figure lies in 0..1.
type Summary struct {
	Cases   int     `json:"cases"`
	Node    float64 `json:"node_f1"`
	Link    float64 `json:"link_f1"`
	Exact   float64 `json:"exact"`
	Invalid float64 `json:"invalid"`
}

// Mean sums up scores; of none it is zero.
func Mean(all []Score) Summary {
	m := Summary{Cases: len(all)}
	if len(all) == 0 {
		return m
	}
	for _, s := range all {
		m.Node += s.Node
		m.Link += s.Link
		if s.Exact {
			m.Exact++
		}
		if s.Invalid {
			m.Invalid++
		}
	}
	n := float64(len(all))
	m.Node, m.Link, m.Exact, m.Invalid = m.Node/n, m.Link/n, m.Exact/n, m.Invalid/n
	return m
}

// Duel is how two planners fared on the same cases, by node F1 and then by link F1.
type Duel struct {
	Better int `json:"better"`
	Worse  int `json:"worse"`
	Same   int `json:"same"`
}

// Compare counts the cases in which the first was better than the second. Both lists are of the same cases.
func Compare(first, second []Score) Duel {
	var d Duel
	for i, a := range first {
		b := second[i]
		switch {
		case a.Node > b.Node || a.Node == b.Node && a.Link > b.Link:
			d.Better++
		case a.Node == b.Node && a.Link == b.Link:
			d.Same++
		default:
			d.Worse++
		}
	}
	return d
}
