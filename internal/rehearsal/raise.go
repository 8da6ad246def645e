package rehearsal

import (
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// maxRaises is how often in one rehearsal a budget is raised before the answer is no: some wishes no raise can meet.
const maxRaises = 20

// refused is how the law tells that a budget withholds a task.
type refused struct {
	Of    string        `json:"of"`
	Short budget.Unit   `json:"short"`
	Limit budget.Amount `json:"limit"`
	Spent budget.Amount `json:"spent"`
	Held  budget.Amount `json:"held"`
	Want  budget.Amount `json:"want"`
}

// plead asks the owner of a task that a budget withholds, or anyone, to raise it: they add what is wanted, or say no.
func (st *stage) plead(cause int, d lifecycle.Derived) {
	var r refused
	t, ok := st.state.Task(d.Task)
	if json.Unmarshal(d.Body, &r) != nil || !ok {
		return
	}
	p := st.partOf(d.Task, t.Spec)
	of, _ := strings.CutPrefix(r.Of, "task:")
	if r.Of == "plan" {
		of = ""
	}
	a := act{part: p, begin: st.now, cause: cause, held: true, fact: lifecycle.Fact{Task: of}}
	a.who, a.end = st.first(p.owner)
	if st.raises[r.Of]++; st.raises[r.Of] > maxRaises || !st.chance.happens(p.owner.Approve) {
		a.fact.Kind, a.fact.Body = lifecycle.BudgetDenied, &lifecycle.Denied{Why: reason(false)}
	} else {
		more := r.Spent.Plus(r.Held).Plus(r.Want).Minus(r.Limit).Of(r.Short)
		by := budget.Amount{}.With(r.Short, max(more, r.Limit.Of(r.Short)/2, 1))
		if r.Short == budget.Cost {
			by.Currency = r.Limit.Currency
		}
		a.fact.Kind, a.fact.Body = lifecycle.BudgetRaised, &lifecycle.Raised{By: by, Why: reason(true)}
	}
	st.raised++
	st.answer(a)
}
