package planner

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
)

// Menu is what there is to carry out a plan with, the best for the goal first.
type Menu []Entry

// Entry is one capability on the menu.
type Entry struct {
	ID          string   `json:"id"`
	Provider    string   `json:"provider"`
	Description string   `json:"description"`
	Required    []string `json:"required_inputs,omitempty"`
	Optional    []string `json:"optional_inputs,omitempty"`
	Outputs     []string `json:"outputs,omitempty"`
	Provenance  string   `json:"provenance"`
	Score       float64  `json:"score"` // against the goal, 0 to 1
	Network     bool     `json:"network,omitempty"`
	Tier        int      `json:"cost_tier,omitempty"`
	Criticality string   `json:"criticality,omitempty"`
}

// NewMenu scores contracts against a goal by the words they share, rare ones counting more. What plans is not on it: a
// planner does not plan itself.
func NewMenu(contracts []capability.Contract, goal string) Menu {
	ask := map[string]bool{}
	for _, w := range Words(goal) {
		ask[w] = true
	}
	menu := make(Menu, 0, len(contracts))
	said := make([][]string, 0, len(contracts)) // each word once, in the order of the text: sums of floats depend on it
	spread := map[string]int{}
	for _, c := range contracts {
		if strings.HasPrefix(c.ID, "planner.") {
			continue
		}
		words := Words(c.ID + " " + c.Summary)
		once := words[:0]
		for _, w := range words {
			if !slices.Contains(once, w) {
				once = append(once, w)
				spread[w]++
			}
		}
		menu, said = append(menu, entryOf(c)), append(said, once)
	}
	rare := make(map[string]float64, len(spread))
	for w, n := range spread {
		rare[w] = math.Log(1 + float64(len(menu))/float64(n))
	}
	for i := range menu {
		var shared, all float64
		for _, w := range said[i] {
			all += rare[w]
			if ask[w] {
				shared += rare[w]
			}
		}
		if all > 0 {
			menu[i].Score = math.Round(1000*shared/all) / 1000
		}
	}
	slices.SortStableFunc(menu, func(a, b Entry) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return menu
}

func entryOf(c capability.Contract) Entry {
	e := Entry{ID: c.ID, Provider: c.Provider, Description: c.Summary, Provenance: "registry " + c.Version, Network: c.Needs.Network, Tier: c.CostTier, Criticality: c.Criticality}
	var in, out struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(c.Inputs, &in) // a contract in the registry was checked; one without a schema takes nothing
	_ = json.Unmarshal(c.Outputs, &out)
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		if slices.Contains(in.Required, name) {
			e.Required = append(e.Required, name)
		} else {
			e.Optional = append(e.Optional, name)
		}
	}
	e.Outputs = slices.Sorted(maps.Keys(out.Properties))
	return e
}

// Find looks a capability up.
func (m Menu) Find(id string) (Entry, bool) {
	i := slices.IndexFunc(m, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return m[i], true
}

// Without is the menu for a goal whose constraints forbid some of it.
func (m Menu) Without(all []Constraint) Menu {
	return slices.DeleteFunc(slices.Clone(m), func(e Entry) bool {
		return slices.ContainsFunc(all, func(c Constraint) bool { return c.bars(e) })
	})
}

func (c Constraint) bars(e Entry) bool {
	if c.Kind != Tools {
		return slices.Contains([]string{"offline", "offline only", "오프라인"}, strings.ToLower(c.Text)) && e.Network
	}
	noun, _, _ := strings.Cut(e.ID, ".")
	named := slices.ContainsFunc(c.Names, func(n string) bool {
		return n == e.ID || n == noun || c.Not && e.Network && slices.Contains([]string{"network", "internet", "network access", "internet access", "web"}, n)
	})
	if c.Not {
		return named
	}
	return c.Only && !named
}
