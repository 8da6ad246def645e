package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-plan/cairn/internal/budget"
)

// costs is what one model, or one task, was asked and what that cost.
type costs struct {
	By       string        `json:"by"` // model, task or all
	Name     string        `json:"name"`
	Calls    int           `json:"calls"`
	Failed   int           `json:"failed,omitempty"`
	Unpriced int           `json:"unpriced,omitempty"` // calls whose cost is not known
	Spent    budget.Amount `json:"spent"`
}

func (c *costs) add(p prompt) {
	c.Calls++
	if p.Error != "" {
		c.Failed++
	}
	if p.Unpriced {
		c.Unpriced++
	}
	c.Spent = c.Spent.Plus(p.spent())
}

// sumCosts sums up by model, by task and over all. Sums of several currencies stand apart.
func sumCosts(all []prompt) []costs {
	found := map[string]*costs{}
	for _, p := range all {
		for _, k := range []costs{{By: "model", Name: p.Provider + " " + p.Model}, {By: "task", Name: p.Task}, {By: "all", Name: "all"}} {
			key := k.By + "\x00" + k.Name + "\x00" + p.Currency
			if found[key] == nil {
				found[key] = &k
			}
			found[key].add(p)
		}
	}
	order := []string{"model", "task", "all"}
	sums := make([]costs, 0, len(found))
	for _, c := range found {
		sums = append(sums, *c)
	}
	slices.SortFunc(sums, func(a, b costs) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.By), slices.Index(order, b.By)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Spent.Currency, b.Spent.Currency))
	})
	return sums
}

func writeCosts(all []prompt, out Out) error {
	sums := sumCosts(all)
	if out.JSON {
		return out.print(sums)
	}
	if len(sums) == 0 {
		fmt.Fprintln(out, "no model was asked for this plan")
	}
	for _, c := range sums {
		name := c.By + " " + c.Name
		if c.By == "all" {
			name = "all"
		}
		fmt.Fprintf(out, "%-30s  calls %d  tokens %s  cost %s", name, c.Calls, c.Spent.Text(budget.Tokens), c.Spent.Text(budget.Cost))
		if c.Failed > 0 {
			fmt.Fprintf(out, "  failed %d", c.Failed)
		}
		if c.Unpriced > 0 {
			fmt.Fprintf(out, "  cost of %d not known: set price under models in cairn.yaml", c.Unpriced)
		}
		fmt.Fprintln(out)
	}
	return nil
}
