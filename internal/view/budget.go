package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Budget is how one budget stands, in figures for people: by unit, where there is a limit or something was spent.
type Budget struct {
	Of      string   `json:"of"` // plan, day, or a task
	Figures []Figure `json:"figures"`
	Waiting int      `json:"waiting,omitempty"` // tasks that wait for more
	Short   string   `json:"short,omitempty"`   // of what
}

// Figure is one unit of a budget.
type Figure struct {
	Unit  budget.Unit `json:"unit"`
	Limit string      `json:"limit,omitempty"` // empty: none
	Spent string      `json:"spent"`
	Held  string      `json:"held,omitempty"` // set aside for what is under way
	Left  string      `json:"left,omitempty"`
}

// Budgets tells how the budgets of a run stand: the plan's, and those of its tasks that have one.
func Budgets(st *lifecycle.State) []Budget {
	all, _ := st.Account("")
	out := []Budget{budgetOf("plan", all)}
	for t := range st.Tasks() {
		if a, ok := st.Account(t.ID); ok && !a.Limit.IsZero() {
			out = append(out, budgetOf(t.ID, a))
		}
	}
	return out
}

// DayBudget tells how the budget of a day stands, and how many tasks of a run wait for it.
func DayBudget(st *lifecycle.State, r budget.Reading, limit budget.Amount) Budget {
	p := budget.Purse{Spent: r.Spent, Held: r.Held}
	b := budgetOf("day", lifecycle.Account{Limit: limit, Spent: r.Spent, Held: r.Held, Left: p.Left(limit)})
	for w := range st.Withheld() {
		if w.Day {
			b.Waiting, b.Short = b.Waiting+1, string(w.Short)
		}
	}
	return b
}

func budgetOf(of string, a lifecycle.Account) Budget {
	b := Budget{Of: of, Waiting: a.Waiting, Short: string(a.Short)}
	for _, u := range budget.Units {
		if a.Limit.Of(u) == 0 && a.Spent.Of(u) == 0 && (a.Held.Of(u) == 0 || u == budget.Time) {
			continue
		}
		f := Figure{Unit: u, Spent: a.Spent.Text(u)}
		if a.Limit.Of(u) > 0 {
			money := a.Left
			money.Currency = a.Limit.Currency
			f.Limit, f.Left = a.Limit.Text(u), money.Text(u)
		}
		if a.Held.Of(u) > 1 || a.Held.Of(u) > 0 && u != budget.Time {
			f.Held = a.Held.Text(u)
		}
		b.Figures = append(b.Figures, f)
	}
	return b
}

// BudgetText writes budgets as a table.
func BudgetText(w io.Writer, bs []Budget) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%-20s %-8s %12s %12s %12s %12s\n", "", "", "limit", "spent", "reserved", "left")
	for _, b := range bs {
		name := plain(b.Of)
		for _, f := range b.Figures {
			fmt.Fprintf(&out, "%-20s %-8s %12s %12s %12s %12s\n", name, f.Unit, dash(f.Limit), f.Spent, dash(f.Held), dash(f.Left))
			name = ""
		}
		if len(b.Figures) == 0 {
			fmt.Fprintf(&out, "%-20s nothing spent\n", name)
		}
		if b.Waiting > 0 {
			verb := " wait for more "
			if b.Waiting == 1 {
				verb = " waits for more "
			}
			fmt.Fprintf(&out, "%-20s %s\n", "", plural(b.Waiting, "task")+verb+b.Short)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// spendLine tells what a plan with a budget has spent of it, on one line; empty where there is none.
func spendLine(st *lifecycle.State) string {
	a, _ := st.Account("")
	var parts []string
	for _, u := range budget.Units {
		if a.Limit.Of(u) > 0 {
			word := ""
			if u == budget.Calls || u == budget.Tokens {
				word = " " + string(u)
			}
			parts = append(parts, a.Spent.Text(u)+" of "+a.Limit.Text(u)+word)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "spent " + list(parts)
}

// Raise is a budget that somebody is asked to raise.
type Raise struct {
	Of    string // the task whose budget it is; empty: the plan's, or the day's
	Day   bool
	Short budget.Unit
	Tasks int // that wait for it
}

// Raises lists the budgets that somebody is asked to raise, each once.
func Raises(st *lifecycle.State) (out []Raise) {
	at := map[string]int{}
	for w := range st.Withheld() {
		key := fmt.Sprint(w.Of, w.Day)
		if _, seen := at[key]; !seen {
			at[key] = len(out)
			out = append(out, Raise{Of: w.Of, Day: w.Day, Short: w.Short})
		}
		out[at[key]].Tasks++
	}
	return out
}

// Commands are how to answer a raise: yes and no.
func (r Raise) Commands(name string) []string {
	c := "cairn budget " + quote(name)
	if r.Of != "" {
		c += " " + quote(r.Of)
	}
	if r.Day {
		c += " --day"
	}
	by := "+N"
	switch r.Short {
	case budget.Cost:
		by = "'+N USD'"
	case budget.Time:
		by = "+Nm"
	}
	return []string{c + " --raise " + string(r.Short) + "=" + by + " --why TEXT", c + " --refuse --why TEXT"}
}

// Says tells what a raise is about.
func (r Raise) Says() string {
	whose := "the plan"
	switch {
	case r.Day:
		whose = "the day"
	case r.Of != "":
		whose = "task " + plain(r.Of)
	}
	verb := "wait"
	if r.Tasks == 1 {
		verb = "waits"
	}
	return "the budget of " + whose + " is short of " + string(r.Short) + "; " + plural(r.Tasks, "task") + " " + verb + " for more"
}

// spendingFact tells the facts about budgets.
func spendingFact(body any) string {
	switch b := body.(type) {
	case *lifecycle.Drawn:
		return "reserved " + figures(b.Amount) + " more for a nested call"
	case *lifecycle.Read:
		if b.Short == "" {
			return "the day has room again"
		}
		return "the day has no room: " + b.Spent.Text(b.Short) + " of " + b.Limit.Text(b.Short) + unitWord(b.Short) + " are spent or reserved"
	case *lifecycle.Raised:
		whose := "the budget"
		if b.Day != "" {
			whose = "the budget of " + b.Day
		}
		return because("raised "+whose+" by "+figures(b.By), b.Why)
	case *lifecycle.Denied:
		return because("refused to raise the budget", b.Why)
	}
	return ""
}

// spendingPhrase tells the derived records about budgets.
func spendingPhrase(r journal.Record) string {
	var b struct {
		budget.Amount
		Of    string        `json:"of"`
		Short budget.Unit   `json:"short"`
		Limit budget.Amount `json:"limit"`
		Spent budget.Amount `json:"spent"`
	}
	if json.Unmarshal(r.Body, &b) != nil {
		return "cannot be read"
	}
	switch r.Kind {
	case lifecycle.BudgetReserved:
		return attempt(r) + " may spend " + figures(b.Amount)
	case lifecycle.BudgetSettled:
		return attempt(r) + " spent " + figures(b.Amount)
	}
	whose := "the budget of the " + b.Of
	if id, ok := strings.CutPrefix(b.Of, "task:"); ok {
		whose = "the budget of " + plain(id)
	}
	return whose + " has no room for it: " + b.Spent.Text(b.Short) + " of " + b.Limit.Text(b.Short) + unitWord(b.Short) + " are spent"
}

func unitWord(u budget.Unit) string {
	if u == budget.Calls || u == budget.Tokens {
		return " " + string(u)
	}
	return ""
}

// figures tells an amount in words; a moment of time is what is set aside where nobody knows, and goes without saying.
func figures(a budget.Amount) string {
	var parts []string
	for _, u := range budget.Units {
		switch n := a.Of(u); {
		case n == 0 || u == budget.Time && n == 1:
		case u == budget.Calls:
			parts = append(parts, plural(int(n), "call"))
		case u == budget.Tokens:
			parts = append(parts, plural(int(n), "token"))
		default:
			parts = append(parts, a.Text(u))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return list(parts)
}
